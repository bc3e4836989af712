// Every type, head size and block size with every kind of input, on every stage.
//
// On the CPU machine, stage 1 (whose sizes are run-time values) in all combinations, and the others
// in the combinations of covering_stages.h, where each pair of stage, types, head size and block
// size occurs. On a GPU, all combinations that the build has: with PAGED_INSTANCES=pairwise (as
// tests/gpu.sh builds) each pair of types and sizes for each stage.
#include "reference/input_error.h"
#include "tests/harness/case_builder.h"
#include "tests/harness/invariants/cases.h"
#include "tests/reference/error_message.h"
#include "tests/stages/covering_stages.h"
#include "tests/stages/execution_place.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace paged {
namespace {

using testing::input_error_of;
using testing::mentions;

/// Types and sizes of one kernel.
struct Combination {
  ScalarType scalar;
  CacheType cache;
  int head_size;
  int block_size;
};

std::string text_of(const Combination& c) {
  return std::string(name_of(c.scalar)) + ", cache " + std::string(name_of(c.cache)) +
         ", head size " + std::to_string(c.head_size) + ", block size " +
         std::to_string(c.block_size);
}

constexpr ScalarType kScalars[] = {ScalarType::f32, ScalarType::f16, ScalarType::bf16};
constexpr CacheType kCaches[] = {CacheType::f32, CacheType::f16, CacheType::bf16, CacheType::e4m3,
                                 CacheType::e5m2};

std::vector<Combination> combinations_of(InstanceList list) {
  std::vector<Combination> all;
  for (const ScalarType scalar : kScalars)
    for (const CacheType cache : kCaches)
      for (const int head_size : kHeadSizes)
        for (const int block_size : kBlockSizes)
          if (is_in(list, scalar, cache, head_size, block_size))
            all.push_back({scalar, cache, head_size, block_size});
  return all;
}

// ---- that the lists cover what they promise ----------------------------------------------------
/// Values of two factors, as numbers.
using Pair = std::tuple<int, int, int, int>;  // factor, value, factor, value

/// The pairs of values of stage, types, head size and block size in one kernel.
std::set<Pair> pairs_of(int stage, const Combination& c) {
  const int types = static_cast<int>(c.scalar) * 8 + static_cast<int>(c.cache);
  const int values[] = {stage, types, c.head_size, c.block_size};
  std::set<Pair> pairs;
  for (int a = 0; a < 4; ++a)
    for (int b = a + 1; b < 4; ++b) pairs.insert({a, values[a], b, values[b]});
  return pairs;
}

std::set<Pair> all_pairs(const std::vector<std::pair<int, InstanceList>>& stages_and_lists) {
  std::set<Pair> pairs;
  for (const auto& [stage, list] : stages_and_lists)
    for (const Combination& c : combinations_of(list)) pairs.merge(pairs_of(stage, c));
  return pairs;
}

/// The pairs that `all` has and `pairs` lacks, as text.
std::string missing(const std::set<Pair>& pairs, const std::set<Pair>& all) {
  constexpr const char* factors[] = {"stage", "types", "head size", "block size"};
  std::string text;
  for (const auto& [a, value_a, b, value_b] : all)
    if (!pairs.contains({a, value_a, b, value_b}))
      text += std::string(factors[a]) + " " + std::to_string(value_a) + " with " + factors[b] +
              " " + std::to_string(value_b) + "; ";
  return text;
}

constexpr InstanceList kShares[] = {InstanceList::share_0, InstanceList::share_1,
                                    InstanceList::share_2, InstanceList::share_3};
static_assert(std::size(kShares) == kNumShares);

TEST(InstanceListsTest, SharesCoverEveryPairAlsoWithTheStage) {
  std::vector<std::pair<int, InstanceList>> shared_out, everything;
  for (int stage = 0; stage < kNumShares; ++stage) {
    shared_out.emplace_back(stage, kShares[stage]);
    everything.emplace_back(stage, InstanceList::all);
  }
  EXPECT_EQ(missing(all_pairs(shared_out), all_pairs(everything)), "");
  std::size_t kernels = 0;
  for (const InstanceList share : kShares) kernels += combinations_of(share).size();
  // One kernel for each of 9 types and 9 head sizes, less the 6 of head size 120 in fp8; and one
  // that two shares have.
  EXPECT_EQ(kernels, 76U);
}

TEST(InstanceListsTest, PairwiseCoversEveryPairOfTypesAndSizes) {
  EXPECT_EQ(missing(all_pairs({{0, InstanceList::pairwise}}), all_pairs({{0, InstanceList::all}})),
            "");
}

TEST(InstanceListsTest, EachListContainsTheSmallerOne) {
  const auto expect_contains = [](InstanceList larger, InstanceList smaller) {
    for (const Combination& c : combinations_of(smaller))
      EXPECT_TRUE(is_in(larger, c.scalar, c.cache, c.head_size, c.block_size))
          << name_of(larger) << " lacks " << text_of(c) << " of " << name_of(smaller);
  };
  expect_contains(InstanceList::pairwise, InstanceList::small);
  expect_contains(InstanceList::all, InstanceList::pairwise);
  for (const InstanceList share : kShares) expect_contains(InstanceList::pairwise, share);
}

TEST(InstanceListsTest, NamesAreTheOnesOfTheBuildOption) {
  EXPECT_STREQ(name_of(InstanceList::small), "small");
  EXPECT_STREQ(name_of(InstanceList::pairwise), "pairwise");
  EXPECT_STREQ(name_of(InstanceList::all), "all");
  EXPECT_STREQ(name_of(InstanceList::share_3), "share_3");
}

// ---- what is tried ----------------------------------------------------------------------------
/// How query and keys, and values, are distributed (tests/harness/value_family.h).
struct InputFamily {
  const char* name;
  const char* keys;
  const char* values;
};
void PrintTo(const InputFamily& family, std::ostream* stream) { *stream << family.name; }
constexpr InputFamily kFamilies[] = {{"normal", "normal", "normal"},
                                     {"peaked", "peaked", "normal"},
                                     {"needle", "needle", "normal"},
                                     {"large_logits", "large-logits", "normal"},
                                     {"negative_logits", "negative-logits", "normal"},
                                     {"coded", "coded", "coded"},
                                     {"ones", "peaked", "constant"},
                                     {"small_values", "small", "small"}};

/// What turns by turn is added to a case: a combination meets each with some family.
enum class Extra { none, wider_rows, alibi, block_sparse };
constexpr Extra kExtras[] = {Extra::none, Extra::wider_rows, Extra::alibi, Extra::block_sparse};

/// Query heads and KV heads: groups of 1, 2, 3, 4, 5, 7 and 8, and one KV head for all.
constexpr std::pair<int, int> kHeads[] = {{2, 2}, {4, 2}, {3, 1}, {4, 1}, {5, 1}, {7, 1}, {8, 1}};

void add_extra(CaseSpec& spec, Extra extra) {
  const int block_size = spec.block_size;
  if (extra == Extra::wider_rows) {
    spec.table_width = 9;
    spec.table_padding = std::numeric_limits<std::int32_t>::max();
  }
  if (extra == Extra::alibi)
    for (int head = 0; head < spec.num_heads; ++head)
      spec.alibi_slopes.push_back(1.0 / (2 << (head % 7)));
  if (extra == Extra::block_sparse)  // stripes that move from head to head, of the second rank
    spec.block_sparse = {.local_blocks = 1,
                         .vert_stride = 3,
                         .block_size = block_size,
                         .head_sliding_step = spec.num_heads % 2 == 0 ? 1 : -2,
                         .tensor_parallel_rank = 1};
}

CaseSpec case_for(const Combination& c, const InputFamily& family, int turn) {
  const auto [num_heads, num_kv_heads] = kHeads[turn % std::size(kHeads)];
  CaseSpec spec =
      make_case(c.scalar, {num_heads, num_kv_heads, c.head_size, c.block_size},
                {3 * c.block_size + 3, 1, c.block_size, c.block_size + 1}, family.keys, turn);
  spec.cache = c.cache;
  spec.value_values.kind = family.values;
  spec.partition_size = 2 * c.block_size;
  if (is_fp8(c.cache)) {
    spec.k_scale = 0.25;
    spec.v_scale = 0.5;
  }
  spec.poison.tail = spec.poison.free_blocks = std::numeric_limits<double>::quiet_NaN();
  add_extra(spec, kExtras[turn / std::size(kHeads) % std::size(kExtras)]);
  return spec;
}

// ---- on which stages --------------------------------------------------------------------------
struct CoveredStage {
  std::string name;
  Backend backend;
  int number;
  KernelVariant variant;
  std::function<Stage()> make;
};
void PrintTo(const CoveredStage& stage, std::ostream* stream) { *stream << stage.name; }

std::vector<CoveredStage> covered_stages() {
  constexpr KernelVariant kAny = KernelVariant::automatic;
  std::vector<CoveredStage> all = {
      {"cpu_stage_1", Backend::cpu, 1, kAny, [] { return find_stage("1", Backend::cpu); }},
      {"cpu_stage_2", Backend::cpu, 2, kAny, covering_stages::stage_02_thread_group_qk},
      {"cpu_stage_3", Backend::cpu, 3, kAny, covering_stages::stage_03_two_pass_softmax},
      {"cpu_stage_4", Backend::cpu, 4, kAny, covering_stages::stage_04_vectorised_pv},
      // Its V1 is stage 4's kernel, which has another share.
      {"cpu_stage_5_v2", Backend::cpu, 5, KernelVariant::v2,
       covering_stages::stage_05_partition_and_reduce}};
  for (const Stage& stage : stages(Backend::cpu)) {
    const int number = stage.number;
    const auto add = [&](const std::string& suffix, KernelVariant variant) {
      all.push_back({"cuda_stage_" + std::to_string(number) + suffix, Backend::cuda, number,
                     variant,
                     [number] { return find_stage(std::to_string(number), Backend::cuda); }});
    };
    if (number == 5) add("_v1", KernelVariant::v1);
    add(number == 5 ? "_v2" : "", number == 5 ? KernelVariant::v2 : kAny);
  }
  return all;
}

class StageCoveringTest : public ::testing::TestWithParam<std::tuple<CoveredStage, InputFamily>> {};

TEST_P(StageCoveringTest, AgreesWithTheReferenceInEveryTypeAndSize) {
  const auto& [covered, family] = GetParam();
  const std::string reason = why_no_device({covered.backend, Checking::checked});
  if (!reason.empty()) GTEST_SKIP() << "no GPU: " << reason;
  const std::unique_ptr<Device> device = make_device(covered.backend);
  const Stage stage = covered.make();
  KernelUnderTest kernel(stage, *device);
  const auto promises = [&](const std::string& id) {
    return std::find(stage.promises.begin(), stage.promises.end(), id) != stage.promises.end();
  };
  // Stages without a stable softmax state that they fail here, and must.
  const bool must_fail = std::string(family.name) == "large_logits" && !promises("large-logits");

  const std::vector<Combination> combinations = combinations_of(stage.supports.instances);
  ASSERT_FALSE(combinations.empty());
  const int family_index = static_cast<int>(
      std::find_if(std::begin(kFamilies), std::end(kFamilies),
                   [&](const InputFamily& f) { return std::string(f.name) == family.name; }) -
      std::begin(kFamilies));
  // Without compile-time sizes every combination is the same code: each meets one family.
  const bool takes_turns = covered.number == 1;
  for (int i = 0; i < static_cast<int>(combinations.size()); ++i) {
    if (takes_turns && i % static_cast<int>(std::size(kFamilies)) != family_index) continue;
    const int turn = i + 5 * family_index;
    CaseSpec spec = case_for(combinations[i], family, turn);
    spec.variant = covered.variant;
    const StageRun run = run_on_case(kernel, build_case(spec));
    // A fault is no failure that a stage states.
    EXPECT_TRUE(run.faults.empty())
        << text_of(combinations[i]) << ", turn " << turn << ": " << run.faults.front();
    EXPECT_EQ(run.comparison.passed, !must_fail)
        << text_of(combinations[i]) << ", turn " << turn << ": " << run.comparison.message;
  }
}

INSTANTIATE_TEST_SUITE_P(Stages, StageCoveringTest,
                         ::testing::Combine(::testing::ValuesIn(covered_stages()),
                                            ::testing::ValuesIn(kFamilies)),
                         [](const auto& tested) {
                           return std::get<0>(tested.param).name + "_" +
                                  std::get<1>(tested.param).name;
                         });

/// Every group size with every extra, on every stage that is linked: nothing is left to turns.
class StageOptionsTest : public ::testing::TestWithParam<CoveredStage> {};

TEST_P(StageOptionsTest, EveryGroupOfHeadsWithEveryOption) {
  const CoveredStage& covered = GetParam();
  const std::string reason = why_no_device({covered.backend, Checking::checked});
  if (!reason.empty()) GTEST_SKIP() << "no GPU: " << reason;
  const std::unique_ptr<Device> device = make_device(covered.backend);
  const Stage stage = find_stage(std::to_string(covered.number), covered.backend);
  KernelUnderTest kernel(stage, *device);
  const int turns = static_cast<int>(std::size(kHeads) * std::size(kExtras));
  for (int turn = 0; turn < turns; ++turn) {
    CaseSpec spec = case_for({ScalarType::f16, CacheType::f16, 64, 16}, kFamilies[1], turn);
    spec.variant = covered.variant;
    const StageRun run = run_on_case(kernel, build_case(spec));
    EXPECT_TRUE(run.comparison.passed)
        << run.case_name << ", turn " << turn << ": " << run.comparison.message
        << (run.faults.empty() ? "" : run.faults.front());
  }
}

INSTANTIATE_TEST_SUITE_P(Stages, StageOptionsTest, ::testing::ValuesIn(covered_stages()),
                         [](const auto& tested) { return tested.param.name; });

// ---- what is refused, and why -----------------------------------------------------------------
DecodeShape shape_for(const Combination& c) {
  DecodeShape shape;
  shape.num_seqs = shape.num_heads = shape.num_kv_heads = 1;
  shape.head_size = c.head_size;
  shape.block_size = c.block_size;
  shape.num_blocks = shape.max_num_blocks_per_seq = shape.max_seq_len = 1;
  shape.scalar = c.scalar;
  shape.cache = c.cache;
  return shape;
}

TEST(RefusedCombinationsTest, WhatCannotExistIsRefusedWithTheReason) {
  const std::unique_ptr<Device> device = make_cpu_device();
  for (const Stage& stage : stages(Backend::cpu))
    for (const ScalarType scalar : kScalars)
      for (const CacheType cache : kCaches)
        for (const int head_size : kHeadSizes) {
          if (can_exist(scalar, cache, head_size)) continue;
          const auto message = input_error_of([&] {
            check_supported(stage, shape_for({scalar, cache, head_size, 16}), device->limits());
          });
          ASSERT_TRUE(message) << "accepted " << text_of({scalar, cache, head_size, 16});
          EXPECT_EQ(message->find("PAGED_INSTANCES"), std::string::npos)
              << "no build has it: " << *message;
          const bool own = is_fp8(cache) || cache == same_as(scalar);
          EXPECT_TRUE(mentions(*message, std::string(name_of(cache)))) << *message;
          if (own) {
            EXPECT_TRUE(mentions(*message, std::to_string(head_size)) && mentions(*message, "16"))
                << *message;
          } else {
            EXPECT_TRUE(mentions(*message, std::string(name_of(scalar)))) << *message;
          }
        }
}

TEST(RefusedCombinationsTest, WhatWasNotBuiltIsRefusedWithTheOptionThatHasIt) {
  const std::unique_ptr<Device> device = make_cpu_device();
  const Stage stage = covering_stages::stage_02_thread_group_qk();
  for (const Combination& c : combinations_of(InstanceList::all)) {
    const auto message =
        input_error_of([&] { check_supported(stage, shape_for(c), device->limits()); });
    ASSERT_EQ(!message, is_in(InstanceList::share_0, c.scalar, c.cache, c.head_size, c.block_size))
        << text_of(c);
    if (!message) continue;
    EXPECT_NE(message->find("PAGED_INSTANCES=all"), std::string::npos) << *message;
    EXPECT_TRUE(mentions(*message, std::to_string(c.head_size))) << *message;
  }
}

}  // namespace
}  // namespace paged
