// What every stage hands out beside its output, on every backend and in every type: maximum, sum,
// LSE, and the partitions of V2.
#include "tests/harness/comparison.h"
#include "tests/harness/invariants/cases.h"
#include "tests/stages/execution_place.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <tuple>

namespace paged {
namespace {

class Intermediates : public ::testing::TestWithParam<std::tuple<ExecutionPlace, int, ScalarType>> {
 protected:
  void SetUp() override {
    const auto& [place, number, scalar] = GetParam();
    if (const std::string reason = why_no_device(place); !reason.empty())
      GTEST_SKIP() << "no GPU: " << reason;
    device_ = make_device(place.backend);
    stage_ = &find_stage(std::to_string(number), place.backend, place.checking);
  }

  /// Sequences that end within a page, within the first partition, and at once.
  DecodeProblem problem() const {
    CaseSpec spec = make_case(std::get<2>(GetParam()), {4, 2, 64, 16}, {100, 23, 0}, "peaked", 3);
    spec.partition_size = 32;
    spec.variant = KernelVariant::v2;
    return build_case(spec).problem;
  }

  DecodeOutputs run(const DecodeProblem& problem, const RunOptions& options) {
    KernelUnderTest kernel(*stage_, *device_);
    const DecodeOutputs outputs = kernel.run(problem, options);
    for (const std::string& fault : kernel.take_faults()) ADD_FAILURE() << fault;
    return outputs;
  }

  void expect_right(const DecodeProblem& problem, const DecodeOutputs& outputs) const {
    const Comparison result =
        compare(problem, outputs, reference_answer(problem, stage_->arithmetic));
    EXPECT_TRUE(result.passed) << result.message;
  }

  std::unique_ptr<Device> device_;
  const Stage* stage_ = nullptr;
};

TEST_P(Intermediates, AreWithinTheirBounds) {
  DecodeProblem dense = problem();
  const DecodeOutputs outputs = run(dense, RunOptions::with_intermediates());
  expect_right(dense, outputs);
  ASSERT_EQ(outputs.maxima.size(), 12U);
  ASSERT_EQ(outputs.sums.size(), 12U);
  EXPECT_EQ(outputs.partitions.partitions, stage_->number >= 5 ? 4 : 0);
  // The empty sequence: nothing was subtracted that could be told from nothing.
  EXPECT_EQ(outputs.maxima[8], stage_->arithmetic.subtracts_maximum ? -INFINITY : 0);
  EXPECT_EQ(outputs.sums[8], 0);
  EXPECT_EQ(outputs.lse[8], -INFINITY);

  DecodeProblem sparse = problem();
  sparse.sparsity = {.local_blocks = 1, .vert_stride = 4, .block_size = 32};
  expect_right(sparse, run(sparse, RunOptions::with_intermediates()));
}

TEST_P(Intermediates, ChangeNoBitOfTheOutput) {
  const DecodeProblem p = problem();
  EXPECT_EQ(bit_difference(run(p, {}), run(p, RunOptions::with_intermediates())), "");
}

INSTANTIATE_TEST_SUITE_P(
    Stages, Intermediates,
    ::testing::Combine(::testing::ValuesIn(kEveryPlace), ::testing::Values(1, 2, 3, 4, 5),
                       ::testing::Values(ScalarType::f32, ScalarType::f16, ScalarType::bf16)),
    [](const auto& test) {
      return name_of(std::get<0>(test.param)) + "_stage_" +
             std::to_string(std::get<1>(test.param)) + "_" +
             std::string(name_of(std::get<2>(test.param)));
    });

}  // namespace
}  // namespace paged
