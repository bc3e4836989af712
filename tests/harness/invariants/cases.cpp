#include "tests/harness/invariants/cases.h"

#include <numeric>

namespace paged {
namespace {

/// "17,35" or, for long lists, "1..34".
std::string lengths_text(const std::vector<int>& lengths) {
  if (lengths.size() > 4)
    return std::to_string(lengths.front()) + ".." + std::to_string(lengths.back());
  std::string text;
  for (int length : lengths) text += (text.empty() ? "" : ",") + std::to_string(length);
  return text;
}

}  // namespace

CaseSpec make_case(ScalarType scalar, CaseSizes sizes, std::vector<int> seq_lens,
                   const std::string& family, std::uint64_t seed) {
  CaseSpec spec;
  spec.name = std::string(name_of(scalar)) + " " + std::to_string(sizes.num_heads) + "/" +
              std::to_string(sizes.num_kv_heads) + " heads d" + std::to_string(sizes.head_size) +
              " B" + std::to_string(sizes.block_size) + " L" + lengths_text(seq_lens) + " " +
              family;
  spec.scalar = scalar;
  spec.num_heads = sizes.num_heads;
  spec.num_kv_heads = sizes.num_kv_heads;
  spec.head_size = sizes.head_size;
  spec.block_size = sizes.block_size;
  spec.seq_lens = std::move(seq_lens);
  spec.query_values.kind = spec.key_values.kind = family;
  spec.query_values.seed = spec.key_values.seed = spec.value_values.seed = seed;
  if (family == "coded") spec.value_values.kind = family;
  // The logits of this family are meant as they are: no rounding of keys in f16 may move them
  // beyond the type's range.
  if (family == "large-logits") spec.scale = 1.0;
  return spec;
}

std::vector<int> every_length(int first, int last) {
  std::vector<int> lengths(last - first + 1);
  std::iota(lengths.begin(), lengths.end(), first);
  return lengths;
}

}  // namespace paged
