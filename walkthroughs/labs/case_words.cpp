#include "walkthroughs/labs/case_words.h"

#include "tests/harness/counted_noun.h"

#include <algorithm>
#include <vector>

namespace paged::labs {
namespace {

bool follow_each_other(const std::vector<std::int32_t>& lengths) {
  for (std::size_t i = 1; i < lengths.size(); ++i)
    if (lengths[i] != lengths[i - 1] + 1) return false;
  return true;
}

/// "1 each", "1 to 18", "17 and 35"; of many that follow no rule the least and the greatest.
std::string lengths_in_words(const std::vector<std::int32_t>& lengths) {
  constexpr std::size_t kMostNamed = 8;
  const auto [least, greatest] = std::minmax_element(lengths.begin(), lengths.end());
  if (lengths.size() == 1) return std::to_string(*least);
  if (*least == *greatest) return std::to_string(*least) + " each";
  if (lengths.size() > 3 && follow_each_other(lengths))
    return std::to_string(*least) + " to " + std::to_string(*greatest);
  if (lengths.size() > kMostNamed)
    return "between " + std::to_string(*least) + " and " + std::to_string(*greatest);
  std::string text;
  for (std::size_t i = 0; i < lengths.size(); ++i)
    text += (i == 0 ? "" : i + 1 == lengths.size() ? " and " : ", ") + std::to_string(lengths[i]);
  return text;
}

}  // namespace

std::string in_words(const DecodeProblem& problem) {
  std::string text = counted(problem.num_seqs(), "sequence");
  if (problem.num_seqs() > 0) text += " with context length " + lengths_in_words(problem.seq_lens);
  text += "; block size " + std::to_string(problem.block_size) + " (tokens in a page), head size " +
          std::to_string(problem.head_size) + ", " + counted(problem.num_heads, "query head") +
          ", " + counted(problem.num_kv_heads, "KV head") + ", type " +
          std::string(name_of(problem.scalar));
  if (is_fp8(problem.cache()))
    text += ", an fp8 cache (" + std::string(name_of(problem.cache())) + ")";
  if (!problem.alibi_slopes.empty()) text += ", with ALiBi";
  if (problem.sparsity.active()) text += ", block-sparse";
  return text;
}

}  // namespace paged::labs
