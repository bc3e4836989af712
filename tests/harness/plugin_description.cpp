#include "tests/harness/plugin_description.h"

#include "reference/input_error.h"
#include "tests/harness/invariant.h"
#include "tests/harness/one_line.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>

namespace paged {
namespace {

void check_between(const char* field, std::int64_t value, std::int64_t least,
                   std::int64_t greatest) {
  if (value < least || value > greatest)
    throw InputError("its " + std::string(field) + " is " + std::to_string(value) +
                     "; it must be from " + std::to_string(least) + " to " +
                     std::to_string(greatest));
}

void check_bits(const char* field, std::uint32_t value, std::uint32_t known) {
  if ((value & ~known) != 0)
    throw InputError("its " + std::string(field) + " are " + std::to_string(value) +
                     ", with bits that mean nothing; they can be " + std::to_string(known) +
                     " at most");
}

void check_name(const std::string& name) {
  constexpr std::size_t kLongest = 60;
  if (name.size() > kLongest || one_line(name) != name)
    throw InputError("its name is '" + one_line(name.substr(0, kLongest)) +
                     "'; it must be 1 to 60 bytes of printable UTF-8, without control characters");
}

/// Sizes up to the first 0; all of `any` if there is none.
template <std::size_t n>
std::vector<int> sizes(const char* field, const std::int32_t (&given)[n], std::vector<int> any) {
  std::vector<int> list;
  for (const std::int32_t size : given) {
    if (size == 0) break;
    check_between(field, size, 1, 65536);
    list.push_back(size);
  }
  return list.empty() ? any : list;
}

StageSupport support_of(const paged_kernel_description& d) {
  constexpr std::uint32_t kScalars = 1U << PAGED_F32 | 1U << PAGED_F16 | 1U << PAGED_BF16;
  constexpr std::uint32_t kFp8 = 1U << PAGED_E4M3 | 1U << PAGED_E5M2;
  check_bits("scalars", d.scalars, kScalars);
  check_bits("fp8_caches", d.fp8_caches, kFp8);
  if (d.scalars == 0)
    throw InputError(
        "its scalars are 0, so that it takes no element type; set bits such as 1 << PAGED_F32");
  StageSupport supports = every_type_and_size();
  supports.scalars.clear();
  supports.caches.clear();
  for (const ScalarType type : {ScalarType::f32, ScalarType::f16, ScalarType::bf16})
    if ((d.scalars >> static_cast<int>(type) & 1) != 0) {
      supports.scalars.push_back(type);
      supports.caches.push_back(same_as(type));
    }
  for (const CacheType type : {CacheType::e4m3, CacheType::e5m2})
    if ((d.fp8_caches >> static_cast<int>(type) & 1) != 0) supports.caches.push_back(type);
  supports.head_sizes = sizes("head_sizes", d.head_sizes, supports.head_sizes);
  supports.block_sizes = sizes("block_sizes", d.block_sizes, supports.block_sizes);
  return supports;
}

StageFeatures features_of(std::uint32_t features) {
  constexpr std::uint32_t kAll = PAGED_TAKES_ALIBI | PAGED_TAKES_BLOCK_SPARSE |
                                 PAGED_TAKES_PARTITIONS | PAGED_GIVES_LSE | PAGED_GIVES_STATISTICS |
                                 PAGED_GIVES_LOGITS;
  check_bits("features", features, kAll);
  const auto has = [&](paged_kernel_feature feature) { return (features & feature) != 0; };
  return {.alibi = has(PAGED_TAKES_ALIBI),
          .block_sparse = has(PAGED_TAKES_BLOCK_SPARSE),
          .partitions = has(PAGED_TAKES_PARTITIONS),
          .lse = has(PAGED_GIVES_LSE),
          .statistics = has(PAGED_GIVES_STATISTICS),
          .logits = has(PAGED_GIVES_LOGITS),
          .cache_operations = false};
}

StageArithmetic arithmetic_of(const paged_kernel_description& d) {
  const paged_kernel_arithmetic& given = d.arithmetic;
  check_between("arithmetic.lanes_per_dot", given.lanes_per_dot, 0, 65536);
  check_between("arithmetic.lanes_per_sum", given.lanes_per_sum, 0, 65536);
  check_between("arithmetic.warps_per_output", given.warps_per_output, 0, 1024);
  for (const double ulps : {given.exp_ulps_constant, given.exp_ulps_slope})
    if (!(ulps >= 0 && ulps <= 1e6))
      throw InputError("its arithmetic.exp_ulps_constant and exp_ulps_slope are " +
                       std::to_string(given.exp_ulps_constant) + " and " +
                       std::to_string(given.exp_ulps_slope) + "; they must be from 0 to 1e6");
  StageArithmetic arithmetic;
  arithmetic.lanes_per_dot = std::max(given.lanes_per_dot, 1);
  arithmetic.lanes_per_sum = std::max(given.lanes_per_sum, 1);
  arithmetic.warps_per_output = given.warps_per_output;
  if (given.exp_ulps_constant != 0 || given.exp_ulps_slope != 0) {
    arithmetic.exp_ulps_constant = given.exp_ulps_constant;
    arithmetic.exp_ulps_slope = given.exp_ulps_slope;
  }
  arithmetic.subtracts_maximum = given.no_maximum == 0;
  arithmetic.guards_denominator = given.guards_denominator != 0;
  arithmetic.partitions =
      given.merges_partitions != 0 || (d.features & PAGED_TAKES_PARTITIONS) != 0;
  arithmetic.rounds_probabilities_to_scalar = given.rounds_probabilities != 0;
  return arithmetic;
}

/// The ids in a list with commas. Throws InputError for one that isn't there.
std::vector<std::string> ids_in(const char* field, const std::string& list) {
  std::vector<std::string> ids;
  if (list.empty()) return ids;
  for (std::size_t begin = 0, end = 0; end != list.npos; begin = end + 1) {
    end = list.find(',', begin);
    ids.push_back(list.substr(begin, end - begin));
    try {
      find_invariant(ids.back());
    } catch (const InputError& error) {
      throw InputError("its " + std::string(field) + " are '" + one_line(list) +
                       "': " + one_line(error.what()));
    }
  }
  return ids;
}

}  // namespace

Stage stage_described_by(const paged_kernel_description& d, const DescriptionTexts& texts) {
  check_name(texts.name);
  check_between("memory", d.memory, PAGED_HOST_MEMORY, PAGED_CUDA_MEMORY);
  check_between("cache_layout", d.cache_layout, PAGED_CLASSIC, PAGED_HEADS_THEN_TOKENS);
  Stage stage;
  stage.name = texts.name;
  stage.idea = "a kernel from a shared library";
  stage.supports = support_of(d);
  stage.features = features_of(d.features);
  stage.cache_layout = static_cast<paged_cache_layout>(d.cache_layout);
  stage.arithmetic = arithmetic_of(d);
  stage.plan = [](const DecodeShape&) {
    return LaunchPlan{};
  };  // what it launches is its own matter
  for (const std::string& id : ids_in("breaks", texts.breaks))
    stage.breaks.push_back({id, "as the library says"});
  if (texts.has_promises) {
    stage.promises = ids_in("promises", texts.promises);
    return stage;
  }
  for (const Invariant& invariant : invariants())
    if (std::none_of(stage.breaks.begin(), stage.breaks.end(),
                     [&](const BrokenPromise& broken) { return broken.invariant == invariant.id; }))
      stage.promises.push_back(invariant.id);
  return stage;
}

}  // namespace paged
