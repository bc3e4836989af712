#include "tests/harness/smaller_cases.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace paged {
namespace {

/// Collects the steps from one case.
class Steps {
 public:
  Steps(const CaseSpec& spec, const StageSupport& supports) : spec_(spec), supports_(supports) {
    sequences();
    heads();
    partitions();
    options();
    lengths();
    sizes();
    values();
  }
  std::vector<CaseSpec> take() { return std::move(all_); }

 private:
  template <typename Edit>
  void add(Edit edit) {
    all_.push_back(spec_);
    edit(all_.back());
  }
  /// Puts a value in place of another one, if they differ.
  template <typename Get, typename T>
  void put(Get get, const T& value) {
    if (get(spec_) != value) add([&](CaseSpec& spec) { get(spec) = value; });
  }

  bool has_given_tables() const { return !std::holds_alternative<TableKind>(spec_.block_tables); }

  void sequences() {
    if (has_given_tables()) return;
    for (std::size_t seq = 0; seq < spec_.seq_lens.size() && spec_.seq_lens.size() > 1; ++seq)
      add([&](CaseSpec& spec) {
        spec.seq_lens.erase(spec.seq_lens.begin() + static_cast<std::ptrdiff_t>(seq));
      });
  }

  void put_heads(int heads, int kv_heads) {
    if (heads > spec_.num_heads || kv_heads > spec_.num_kv_heads ||
        (heads == spec_.num_heads && kv_heads == spec_.num_kv_heads))
      return;
    add([&](CaseSpec& spec) {
      spec.num_heads = heads;
      spec.num_kv_heads = kv_heads;
      if (!spec.alibi_slopes.empty()) spec.alibi_slopes.resize(static_cast<std::size_t>(heads));
    });
  }
  void heads() {
    const int group = spec_.num_heads / spec_.num_kv_heads;
    put_heads(1, 1);
    put_heads(2, 1);
    put_heads(2, 2);
    for (int kv_heads = 1; kv_heads < spec_.num_kv_heads; ++kv_heads)
      put_heads(kv_heads * group, kv_heads);
    for (int smaller = 1; smaller < group; ++smaller)
      put_heads(spec_.num_kv_heads * smaller, spec_.num_kv_heads);
  }

  void options() {
    const CaseSpec plain;
    if (!spec_.alibi_slopes.empty()) add([](CaseSpec& spec) { spec.alibi_slopes.clear(); });
    if (spec_.block_sparse.active()) add([](CaseSpec& spec) { spec.block_sparse = {}; });
    if (spec_.poison.tail) add([](CaseSpec& spec) { spec.poison.tail.reset(); });
    if (spec_.poison.free_blocks) add([](CaseSpec& spec) { spec.poison.free_blocks.reset(); });
    put(
        [](auto& spec) -> auto& { return spec.probabilities; }, ScalarType::f32);
    put(
        [](auto& spec) -> auto& { return spec.variant; }, KernelVariant::automatic);
    put(
        [](auto& spec) -> auto& { return spec.partition_size; }, plain.partition_size);
    put(
        [](auto& spec) -> auto& { return spec.k_scale; }, 1.0);
    put(
        [](auto& spec) -> auto& { return spec.v_scale; }, 1.0);
    put(
        [](auto& spec) -> auto& { return spec.scale; }, std::optional<double>());
    put(
        [](auto& spec) -> auto& { return spec.num_blocks; }, std::optional<std::int64_t>());
    put(
        [](auto& spec) -> auto& { return spec.table_width; }, std::optional<int>());
    put(
        [](auto& spec) -> auto& { return spec.table_padding; }, std::int32_t{-1});
    if (!has_given_tables() && std::get<TableKind>(spec_.block_tables) != TableKind::identity)
      add([](CaseSpec& spec) { spec.block_tables = TableKind::identity; });
  }

  /// Partitions of one block, each as full as before: what needs several partitions needs few
  /// tokens.
  void partitions() {
    const int block = spec_.block_size, partition = spec_.partition_size;
    const auto longest = std::max_element(spec_.seq_lens.begin(), spec_.seq_lens.end());
    if (partition <= block || longest == spec_.seq_lens.end() || *longest <= partition) return;
    add([&](CaseSpec& spec) {
      spec.partition_size = block;
      for (int& length : spec.seq_lens)
        length = length / partition * block + std::min(length % partition, block);
    });
  }

  void lengths() {
    for (std::size_t seq = 0; seq < spec_.seq_lens.size(); ++seq) {
      const int length = spec_.seq_lens[seq];
      std::vector<int> shorter = {0, 1, 2, 3, length / 2, length - spec_.block_size, length - 1};
      std::erase_if(shorter, [&](int value) { return value < 0 || value >= length; });
      std::sort(shorter.begin(), shorter.end());
      shorter.erase(std::unique(shorter.begin(), shorter.end()), shorter.end());
      for (int value : shorter) add([&](CaseSpec& spec) { spec.seq_lens[seq] = value; });
    }
  }

  void sizes() {
    const CacheType own = same_as(spec_.scalar);
    if (spec_.cache && *spec_.cache != own) add([](CaseSpec& spec) { spec.cache.reset(); });
    // f32 first: there the least is rounded.
    for (ScalarType scalar : {ScalarType::f32, ScalarType::f16})
      if (spec_.scalar != scalar && spec_.scalar != ScalarType::f32)
        add([&](CaseSpec& spec) {
          spec.scalar = scalar;
          if (spec.cache && !is_fp8(*spec.cache)) spec.cache.reset();
        });
    for (int head_size : supports_.head_sizes)
      if (head_size < spec_.head_size) add([&](CaseSpec& spec) { spec.head_size = head_size; });
    for (int block_size : supports_.block_sizes)
      if (block_size < spec_.block_size) add([&](CaseSpec& spec) { spec.block_size = block_size; });
  }

  /// How plain a family is, the plainest first.
  static int rank(const std::string& kind) {
    return kind == "constant" ? 0 : kind == "coded" ? 1 : kind == "normal" ? 2 : 3;
  }
  void values() {
    for (ValueFamily CaseSpec::*family :
         {&CaseSpec::value_values, &CaseSpec::key_values, &CaseSpec::query_values}) {
      const ValueFamily& given = spec_.*family;
      for (const char* kind : {"constant", "coded", "normal"})
        if (rank(kind) < rank(given.kind))
          add([&](CaseSpec& spec) {
            spec.*family = {};
            (spec.*family).kind = kind;
            (spec.*family).seed = 1;
          });
      if (given.standard_deviation != 1)
        add([&](CaseSpec& spec) { (spec.*family).standard_deviation = 1; });
      if (given.seed != 1) add([&](CaseSpec& spec) { (spec.*family).seed = 1; });
    }
  }

  const CaseSpec& spec_;
  const StageSupport& supports_;
  std::vector<CaseSpec> all_;
};

}  // namespace

std::vector<CaseSpec> smaller_cases(const CaseSpec& spec, const StageSupport& supports) {
  return Steps(spec, supports).take();
}

CaseSpec shrink(CaseSpec spec, const StageSupport& supports,
                const std::function<bool(const CaseSpec&)>& still_fails,
                const std::function<bool()>& may_go_on) {
  for (bool is_smaller = true; is_smaller;) {
    is_smaller = false;
    for (CaseSpec& candidate : smaller_cases(spec, supports)) {
      if (!may_go_on()) return spec;
      if (!still_fails(candidate)) continue;
      spec = std::move(candidate);
      is_smaller = true;
      break;
    }
  }
  return spec;
}

}  // namespace paged
