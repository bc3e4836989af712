#include "tests/harness/random_case.h"

#include "reference/input_error.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace paged {
namespace {

struct Types {
  ScalarType scalar;
  CacheType cache;
  int head_size;
  int block_size;
};

/// Every combination that the stage has a kernel for.
std::vector<Types> types_of(const StageSupport& supports) {
  std::vector<Types> all;
  for (ScalarType scalar : supports.scalars)
    for (CacheType cache : supports.caches)
      for (int head_size : supports.head_sizes)
        for (int block_size : supports.block_sizes)
          if (can_exist(scalar, cache, head_size) &&
              is_in(supports.instances, scalar, cache, head_size, block_size))
            all.push_back({scalar, cache, head_size, block_size});
  return all;
}

/// Draws for one case.
class Draw {
 public:
  Draw(Random& random, const Stage& stage) : random_(random), stage_(stage) {}

  CaseSpec spec() {
    const std::vector<Types> all = types_of(stage_.supports);
    if (all.empty()) throw InputError(title_of(stage_) + " is built for no types and sizes");
    const Types types = one_of(all);
    spec_.scalar = types.scalar;
    spec_.cache = types.cache;
    spec_.head_size = types.head_size;
    spec_.block_size = types.block_size;
    is_small_ = !one_in(16);
    spec_.num_kv_heads = is_small_ ? one_of<int>({1, 1, 2}) : one_of<int>({1, 1, 2, 3});
    spec_.num_heads =
        spec_.num_kv_heads * (is_small_ ? one_of<int>({1, 1, 2}) : one_of<int>({1, 1, 2, 4, 5, 7}));
    partitions();
    lengths();
    tables();
    values();
    options();
    return spec_;
  }

 private:
  template <typename T>
  T one_of(const std::vector<T>& values) {
    return values[static_cast<std::size_t>(
        random_.below(static_cast<std::int64_t>(values.size())))];
  }
  bool one_in(int n) { return random_.below(n) == 0; }
  int between(int least, int greatest) {
    return least + static_cast<int>(random_.below(greatest - least + 1));
  }
  std::uint64_t seed() { return random_.bits() >> 40; }  // short enough to read

  void partitions() {
    if (!stage_.features.partitions) return;
    spec_.variant = one_of<KernelVariant>(
        {KernelVariant::automatic, KernelVariant::automatic, KernelVariant::v1, KernelVariant::v2});
    const int block_size = spec_.block_size;
    spec_.partition_size = one_of<int>({512, block_size, 2 * block_size, is_small_ ? 512 : 128});
  }

  /// Around what loops end at: pages and partitions. Long ones come alone.
  void lengths() {
    const int block_size = spec_.block_size;
    if (block_size > 256) {  // of a library: a page is long by itself
      spec_.seq_lens = {
          one_of<int>({1, between(2, 512), block_size - 1, block_size, block_size + 1})};
      spec_.num_heads = spec_.num_kv_heads = 1;
      return;
    }
    if (one_in(32)) {
      spec_.seq_lens = {between(509, 516)};
      spec_.num_heads = spec_.num_kv_heads = 1;
      return;
    }
    const bool is_partitioned = spec_.partition_size <= 128;
    const int near = is_partitioned ? spec_.partition_size : 2 * block_size;
    std::vector<int> ends = {block_size - 1, block_size, block_size + 1, block_size + 1};
    if (!is_small_ || is_partitioned) ends.insert(ends.end(), {near - 1, near, near + 1});
    const int sequences = is_small_ ? one_of<int>({1, 1, 2}) : between(1, 4);
    for (int seq = 0; seq < sequences; ++seq) {
      const int least = std::min(2, block_size);
      std::vector<int> lengths = {0, 1, between(least, std::max(block_size - 1, least)),
                                  between(1, (is_small_ ? 2 : 4) * block_size), 2 * block_size};
      lengths.insert(lengths.end(), ends.begin(), ends.end());
      spec_.seq_lens.push_back(one_of(lengths));
    }
  }

  void tables() {
    spec_.block_tables = one_of<TableKind>(
        {TableKind::random, TableKind::random, TableKind::identity, TableKind::reversed});
    if (one_in(3)) {
      const int longest = *std::max_element(spec_.seq_lens.begin(), spec_.seq_lens.end());
      spec_.table_width = (longest + spec_.block_size - 1) / spec_.block_size + between(0, 3);
    }
    spec_.table_padding =
        one_of<std::int32_t>({-1, -1, 0, std::numeric_limits<std::int32_t>::max()});
  }

  void values() {
    std::vector<std::string> kinds = {"normal",          "normal", "peaked", "needle",
                                      "negative-logits", "small",  "coded"};
    const auto& promises = stage_.promises;
    const bool any_logits =
        std::find(promises.begin(), promises.end(), "large-logits") != promises.end();
    if (any_logits) kinds.emplace_back("large-logits");
    const std::string kind = one_of(kinds);
    spec_.query_values.kind = spec_.key_values.kind = kind;
    spec_.value_values.kind = one_of<std::string>({"normal", "coded", "small", "constant"});
    spec_.query_values.seed = seed();
    spec_.key_values.seed = seed();
    spec_.value_values.seed = seed();
    spec_.value_values.standard_deviation = one_of<double>({1, 1, 0.25, 4});
    // As make_case() has it: the logits of this family are meant as they are.
    if (kind == "large-logits") spec_.scale = 1.0;
    if (!one_in(3)) return;
    spec_.poison.tail = one_of<double>({std::nan(""), INFINITY, -INFINITY, 240});
    if (one_in(2)) spec_.poison.free_blocks = std::nan("");
  }

  void options() {
    const CacheType cache = spec_.cache.value();
    if (is_fp8(cache)) {
      spec_.k_scale = one_of<double>({1, 0.25, 0.3, 2});
      spec_.v_scale = one_of<double>({1, 0.5, 0.7, 4});
    }
    if (stage_.features.alibi && one_in(5))
      for (int head = 0; head < spec_.num_heads; ++head)
        spec_.alibi_slopes.push_back(std::ldexp(1.0, -between(1, 8)));
    if (stage_.features.block_sparse && one_in(5))
      spec_.block_sparse = {between(0, 2), between(2, 4), spec_.block_size * between(1, 2),
                            between(-1, 2), between(0, 1)};
    const auto& probabilities = stage_.supports.probabilities;
    const bool half = std::find(probabilities.begin(), probabilities.end(), ScalarType::f16) !=
                      probabilities.end();
    if (half && spec_.scalar == ScalarType::f16 && cache == CacheType::f16 && one_in(8))
      spec_.probabilities = ScalarType::f16;
  }

  Random& random_;
  const Stage& stage_;
  CaseSpec spec_;
  /// Most mistakes show with few heads and pages, and many small cases show more than few large
  /// ones.
  bool is_small_ = true;
};

}  // namespace

CaseSpec random_case(Random& random, const Stage& stage) { return Draw(random, stage).spec(); }

}  // namespace paged
