// What stages predict that they ask of memory is what the CPU machine counts, to the digit.
#include "tests/harness/count_run.h"
#include "tests/harness/invariants/cases.h"
#include "tests/harness/named_cases.h"
#include "tests/stages/covering_stages.h"
#include "tests/stages/execution_place.h"

#include <functional>
#include <iterator>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace paged {
namespace {

/// A stage in the types and sizes that it is tried in.
struct PredictingStage {
  std::string name;
  KernelVariant variant;
  std::function<Stage()> make;
};
void PrintTo(const PredictingStage& stage, std::ostream* stream) { *stream << stage.name; }

/// Every kernel of a stage's instance list; of stage 1, which has them all, every fifth.
std::vector<CaseSpec> cases_for(const Stage& stage, KernelVariant variant) {
  std::vector<CaseSpec> cases;
  const StageSupport& supports = stage.supports;
  const int step = supports.instances == InstanceList::all ? 5 : 1;
  int turn = 0;
  for (const ScalarType scalar : supports.scalars)
    for (const CacheType cache : supports.caches)
      for (const int head_size : supports.head_sizes)
        for (const int block_size : supports.block_sizes) {
          if (!is_in(supports.instances, scalar, cache, head_size, block_size)) continue;
          if (turn++ % step != 0) continue;
          constexpr std::pair<int, int> kHeads[] = {{2, 1}, {3, 3}, {4, 2}};
          const auto [heads, kv_heads] = kHeads[turn % std::size(kHeads)];
          // Several rounds of 128 threads, a page that is partly filled, one token, none, whole
          // pages.
          CaseSpec spec = make_case(scalar, {heads, kv_heads, head_size, block_size},
                                    {2 * 128 + 2 * block_size + 3, 1, 0, 4 * block_size}, "normal",
                                    static_cast<std::uint64_t>(turn));
          spec.cache = cache;
          spec.table_width = 64 + turn % 3;  // rows that begin anywhere in a sector
          spec.partition_size = 4 * block_size;
          spec.variant = variant;
          cases.push_back(spec);
        }
  return cases;
}

/// Every difference between what a run predicted and what was counted, one line each.
std::string differences(const CountRun& run) {
  std::string text;
  for (const CountedPhase& phase : kCountedPhases)
    for (const CountName& count : kCountNames) {
      const auto predicted = (*run.predicted)[phase].*count.member;
      const auto counted = run.counted.phases[phase].*count.member;
      if (predicted != counted)
        text += std::string(name_of(phase)) + " " + count.name + ": predicted " +
                std::to_string(predicted) + ", counted " + std::to_string(counted) + "\n";
    }
  for (const std::string& fault : run.faults) text += fault + "\n";
  return text;
}

class PredictedCostTest : public ::testing::TestWithParam<PredictingStage> {
 protected:
  PredictedCostTest() : device_(make_device(Backend::cpu)), stage_(GetParam().make()) {}

  CountRun count(const CaseSpec& spec, const RunOptions& options = {}) {
    KernelUnderTest kernel(stage_, *device_);
    return count_on_case(kernel, build_case(spec), options);
  }
  void expect_equal(const CaseSpec& spec, const RunOptions& options = {}) {
    const CountRun run = count(spec, options);
    ASSERT_TRUE(run.predicted);
    EXPECT_EQ(differences(run), "")
        << spec.name << ", cache " << name_of(build_case(spec).problem.cache());
    EXPECT_TRUE(run.held());
    EXPECT_GT(run.counted.phases.total().global_load_requests, 0U);
  }

  std::unique_ptr<Device> device_;
  Stage stage_;
};

TEST_P(PredictedCostTest, IsCountedInEveryTypeAndSize) {
  const std::vector<CaseSpec> cases = cases_for(stage_, GetParam().variant);
  ASSERT_GT(cases.size(), 10U);
  for (const CaseSpec& spec : cases) expect_equal(spec);
}

TEST_P(PredictedCostTest, IsCountedWithIntermediates) {
  expect_equal(cases_for(stage_, GetParam().variant)[3], RunOptions::with_intermediates());
}

TEST_P(PredictedCostTest, IsCountedWithPositionBias) {
  CaseSpec spec = cases_for(stage_, GetParam().variant)[4];
  for (int head = 0; head < spec.num_heads; ++head) spec.alibi_slopes.push_back(0.25);
  expect_equal(spec);
}

TEST_P(PredictedCostTest, IsCountedInBlockSparseAttention) {
  for (const std::size_t which : {std::size_t{0}, std::size_t{5}, std::size_t{8}})
    for (const int vert_stride : {2, 3}) {
      CaseSpec spec = cases_for(stage_, GetParam().variant)[which];
      spec.block_sparse = {.local_blocks = 1,
                           .vert_stride = vert_stride,
                           .block_size = spec.block_size,
                           .head_sliding_step = 1,
                           .tensor_parallel_rank = 0};
      expect_equal(spec);
    }
}

INSTANTIATE_TEST_SUITE_P(
    Stages, PredictedCostTest,
    ::testing::Values(PredictingStage{"stage_1", KernelVariant::automatic,
                                      [] { return find_stage("1", Backend::cpu); }},
                      PredictingStage{"stage_2", KernelVariant::automatic,
                                      covering_stages::stage_02_thread_group_qk},
                      PredictingStage{"stage_3", KernelVariant::automatic,
                                      covering_stages::stage_03_two_pass_softmax},
                      PredictingStage{"stage_4", KernelVariant::automatic,
                                      covering_stages::stage_04_vectorised_pv},
                      PredictingStage{"stage_5_v1", KernelVariant::v1,
                                      [] { return find_stage("5", Backend::cpu); }},
                      PredictingStage{"stage_5_v2", KernelVariant::v2,
                                      covering_stages::stage_05_partition_and_reduce}),
    [](const auto& tried) { return tried.param.name; });

// More partitions than one warp has lanes: loops of the reduction with a second warp.
TEST(PredictionTest, OfManyPartitionsIsCounted) {
  const std::unique_ptr<Device> device = make_device(Backend::cpu);
  CaseSpec spec = make_case(ScalarType::f16, {1, 1, 64, 8}, {45 * 8 - 3, 33 * 8, 8}, "normal", 1);
  spec.partition_size = 8;
  spec.variant = KernelVariant::v2;
  KernelUnderTest kernel(find_stage("5", Backend::cpu), *device);
  EXPECT_EQ(differences(count_on_case(kernel, build_case(spec))), "");
}

// d = 8 would be no kernel, but it is a shape. 2 heads; 5 tokens and 3: 16 tokens of a head.
TEST(FlopsTest, FollowFromTheShapeAsByHand) {
  CallShape call;
  call.shape.num_seqs = 2;
  call.shape.num_heads = call.shape.num_kv_heads = 2;
  call.shape.head_size = 8;
  call.shape.block_size = 8;
  call.shape.max_seq_len = 5;
  call.shape.partition_size = 8;
  call.shape.variant = KernelVariant::v1;
  call.seq_lens = {5, 3};
  const Flops stable = {16 * 2 * 8, 16 * 4, 16 * 2 * 8, 0};
  EXPECT_EQ(flops_of(find_stage("4", Backend::cpu), call), stable);
  EXPECT_EQ(stable.total(), 576U);
  const Flops naive = {16 * 2 * 8, 16 * 3, 16 * 2 * 8, 0};
  EXPECT_EQ(flops_of(find_stage("1", Backend::cpu), call), naive);
}

// Partitions of 8 tokens: of 20 tokens 3, of 3 tokens 1, of none 0.
TEST(FlopsTest, OfPartitionsHaveTheirReduction) {
  CallShape call;
  call.shape.num_seqs = 3;
  call.shape.num_heads = call.shape.num_kv_heads = 1;
  call.shape.head_size = 16;
  call.shape.block_size = 8;
  call.shape.max_seq_len = 20;
  call.shape.partition_size = 8;
  call.shape.variant = KernelVariant::v2;
  call.seq_lens = {20, 3, 0};
  const Flops flops = {23 * 32, 23 * 4, 23 * 32, 4 * (4 + 32) + 3 * 16};
  EXPECT_EQ(flops_of(find_stage("5", Backend::cpu), call), flops);
}

// Two of four pages take part: every other one.
TEST(FlopsTest, LeaveOutWhatTakesNoPart) {
  CallShape call;
  call.shape.num_seqs = call.shape.num_heads = call.shape.num_kv_heads = 1;
  call.shape.head_size = 8;
  call.shape.block_size = 8;
  call.shape.max_seq_len = 32;
  call.shape.partition_size = 512;
  call.seq_lens = {32};
  const Flops whole = flops_of(find_stage("3", Backend::cpu), call);
  call.sparsity.local_blocks = 0;
  call.sparsity.vert_stride = 2;
  call.sparsity.block_size = 8;
  const Flops half = flops_of(find_stage("3", Backend::cpu), call);
  EXPECT_EQ(whole.qk, 32U * 16);
  EXPECT_EQ(half.qk, 16U * 16);
  EXPECT_EQ(half.softmax, 16U * 4);
}

TEST(PredictionTest, DoesNotHoldIfOneCountIsOff) {
  const std::unique_ptr<Device> device = make_device(Backend::cpu);
  KernelUnderTest kernel(find_stage("4", Backend::cpu), *device);
  CountRun run = count_on_case(kernel, build_case(find_case("worked-example-1-gqa")));
  EXPECT_TRUE(run.held());
  ++(*run.predicted)[Phase::pv].global_load_sectors;
  EXPECT_FALSE(run.held());
}

TEST(LoadHintTest, NamesTheLineWhereMostBytesAreLost) {
  const std::unique_ptr<Device> device = make_device(Backend::cpu);
  const Case c = build_case(find_case("worked-example-1-gqa"));
  const auto hint = [&](const char* stage) {
    KernelUnderTest kernel(find_stage(stage, Backend::cpu), *device);
    return run_on_case(kernel, c, LoadHints::yes).hint;
  };
  EXPECT_NE(hint("1").find("scalar_pv.cuh:"), std::string::npos) << hint("1");
  EXPECT_EQ(hint("4"), "");
}

}  // namespace
}  // namespace paged
