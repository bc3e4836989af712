// Statistics, logits and partitions against the reference: what is rejected beside an output and an
// LSE that are right, and where the message says it is.
#include "tests/harness/intermediate_comparison.h"

#include "tests/harness/case_builder.h"
#include "tests/harness/invariants/cases.h"
#include "tests/harness_tests/plain_device.h"
#include "tests/harness_tests/plain_stage.h"
#include "tests/reference/not_finite.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace paged {
namespace {

using testing::kFloatInfinity;
using testing::kFloatNaN;
using testing::Mistake;
using testing::plain_stage;
using testing::PlainDevice;

constexpr int kQueryHeads = 4;
constexpr int kDims = 64;
constexpr int kPartitionSize = 32;
constexpr int kPartitions = 4;  // of 100 tokens

/// Two sequences of 100 and 40 tokens in partitions of 32: 4 partitions, and 2 of which the second
/// holds 8 tokens and half a page of tail.
DecodeProblem partitioned_problem() {
  CaseSpec spec = make_case(ScalarType::f32, {kQueryHeads, 2, kDims, 16}, {100, 40}, "normal", 5);
  spec.partition_size = kPartitionSize;
  spec.variant = KernelVariant::v2;
  return build_case(spec).problem;
}

DecodeOutputs run_plain(Mistake mistake, const DecodeProblem& problem) {
  PlainDevice device;
  const Stage stage = plain_stage(mistake, {ScalarType::f32});
  return KernelUnderTest(stage, device).run(problem, RunOptions::with_intermediates());
}

class IntermediateComparisonTest : public ::testing::Test {
 protected:
  static StageArithmetic arithmetic() {
    return plain_stage(Mistake::none, {ScalarType::f32}).arithmetic;
  }
  static std::size_t slot(int seq, int head, int partition) {
    return static_cast<std::size_t>(seq * kQueryHeads + head) * kPartitions + partition;
  }
  std::string difference() const {
    return intermediate_difference(problem_, outputs_, reference_answer(problem_, arithmetic()))
        .message;
  }
  /// With `value` moved by a thousandth the comparison fails at `place`; afterwards it is as
  /// before.
  void expect_seen(float& value, const std::string& place) {
    const float before = value;
    for (const float wrong : {before * 1.001F + 1e-3F, kFloatNaN, kFloatInfinity}) {
      value = wrong;
      EXPECT_TRUE(difference().starts_with(place)) << wrong << " gives: " << difference();
    }
    value = before;
    EXPECT_EQ(difference(), "");
  }

  DecodeProblem problem_ = partitioned_problem();
  DecodeOutputs outputs_ = run_plain(Mistake::none, problem_);
};

TEST_F(IntermediateComparisonTest, SeesEachKindOfValueAndNamesItsPlace) {
  ASSERT_EQ(outputs_.partitions.partitions, kPartitions);
  PartitionOutputs& partitions = outputs_.partitions;
  expect_seen(outputs_.maxima[1 * kQueryHeads + 2], "sequence 1, head 2 maximum is");
  expect_seen(outputs_.sums[0 * kQueryHeads + 3], "sequence 0, head 3 sum is");
  expect_seen(partitions.maxima[slot(0, 1, 3)], "sequence 0, head 1, partition 3 maximum is");
  expect_seen(partitions.sums[slot(1, 0, 1)], "sequence 1, head 0, partition 1 sum is");
  expect_seen(partitions.outputs[slot(0, 2, 2) * kDims + 7],
              "sequence 0, head 2, partition 2, dimension 7 output is");
}

TEST_F(IntermediateComparisonTest, LeavesPartitionsPastASequencesEndAlone) {
  for (const float anything : {kFloatNaN, 0.0F, 17.0F})
    for (int partition : {2, 3}) {
      outputs_.partitions.maxima[slot(1, 3, partition)] = anything;
      outputs_.partitions.sums[slot(1, 3, partition)] = anything;
      outputs_.partitions.outputs[slot(1, 3, partition) * kDims] = anything;
      EXPECT_EQ(difference(), "");
    }
}

TEST_F(IntermediateComparisonTest, ExpectsNothingOfALeftOutPartition) {
  problem_.sparsity = {.local_blocks = 1, .vert_stride = 4, .block_size = 32};
  outputs_ = run_plain(Mistake::none, problem_);
  EXPECT_EQ(difference(), "");
  PartitionOutputs& partitions = outputs_.partitions;
  ASSERT_EQ(partitions.maxima[slot(0, 0, 0)], -kFloatInfinity) << "head 0 keeps partition 3 only";
  EXPECT_EQ(partitions.sums[slot(0, 0, 0)], 0);
  partitions.maxima[slot(0, 0, 0)] = -1e30F;
  EXPECT_TRUE(difference().starts_with("sequence 0, head 0, partition 0 maximum")) << difference();
  partitions.maxima[slot(0, 0, 0)] = -kFloatInfinity;
  partitions.outputs[slot(0, 0, 0) * kDims + 1] = 1e-30F;
  EXPECT_TRUE(difference().starts_with("sequence 0, head 0, partition 0, dimension 1"))
      << difference();
}

TEST_F(IntermediateComparisonTest, AnEmptySequenceHasMaximumMinusInfinityAndSumZero) {
  problem_.seq_lens[1] = 0;
  outputs_ = run_plain(Mistake::none, problem_);
  ASSERT_EQ(outputs_.maxima[kQueryHeads], -kFloatInfinity);
  ASSERT_EQ(outputs_.sums[kQueryHeads], 0);
  EXPECT_EQ(difference(), "");
  outputs_.maxima[kQueryHeads] = 0;
  EXPECT_TRUE(difference().starts_with("sequence 1, head 0 maximum is 0")) << difference();
}

TEST_F(IntermediateComparisonTest, AStageThatSubtractsNothingHasMaximumZeroAndTheBareSum) {
  StageArithmetic bare = arithmetic();
  bare.subtracts_maximum = false;
  const ReferenceAnswer answer = reference_answer(problem_, bare);
  outputs_.partitions = {};
  EXPECT_NE(intermediate_difference(problem_, outputs_, answer).message, "");
  for (std::size_t i = 0; i < outputs_.sums.size(); ++i) {
    outputs_.sums[i] *= std::exp(outputs_.maxima[i]);
    outputs_.maxima[i] = 0;
  }
  EXPECT_EQ(intermediate_difference(problem_, outputs_, answer).message, "");
}

TEST_F(IntermediateComparisonTest, ANanAmongLogitsLeavesTheMaximumOpenAndNotTheSum) {
  problem_.query.write(0, static_cast<double>(kFloatNaN));  // sequence 0, head 0
  outputs_ = run_plain(Mistake::none, problem_);
  EXPECT_EQ(difference(), "");
  outputs_.sums[0] = 1;
  EXPECT_TRUE(difference().starts_with("sequence 0, head 0 sum is 1")) << difference();
}

struct HiddenMistake {
  Mistake mistake;
  std::string named;  // how the message begins after the head
};

TEST_F(IntermediateComparisonTest, CatchesMistakesThatOutputAndLseDoNotShow) {
  problem_.sparsity = {.local_blocks = 2, .vert_stride = 4, .block_size = 32};
  const ReferenceAnswer answer = reference_answer(problem_, arithmetic());
  for (const auto& [mistake, named] :
       {HiddenMistake{Mistake::statistics_shifted, " maximum is"},
        HiddenMistake{Mistake::maximum_unwritten, " maximum is nan"},
        HiddenMistake{Mistake::sum_inverted, " sum is"},
        HiddenMistake{Mistake::partition_maximum_running, ", partition 3 maximum is"},
        HiddenMistake{Mistake::partition_sum_counts_tail, ", partition 3 sum is"},
        HiddenMistake{Mistake::partition_output_not_divided, ", partition 2, dimension 0 output"},
        HiddenMistake{Mistake::left_out_partition_unwritten, ", partition 0 maximum is nan"}}) {
    DecodeOutputs outputs = run_plain(mistake, problem_);
    const Comparison all = compare(problem_, outputs, answer);
    EXPECT_FALSE(all.passed);
    EXPECT_TRUE(all.message.starts_with("sequence 0, head ")) << all.message;
    EXPECT_NE(all.message.find(named), std::string::npos) << all.message;
    outputs.maxima.clear();
    outputs.sums.clear();
    outputs.partitions = {};
    EXPECT_TRUE(compare(problem_, outputs, answer).passed) << "the others show it, too: " << named;
  }
}

}  // namespace
}  // namespace paged
