// An ALiBi bias that is one position off moves all logits of a head by its slope: the softmax, and
// so the output, stays what it was. Only logits and LSE show it.
#include "tests/harness/case_builder.h"
#include "tests/harness/comparison.h"
#include "tests/harness/invariants/cases.h"
#include "tests/harness_tests/plain_device.h"
#include "tests/harness_tests/plain_stage.h"

#include <gtest/gtest.h>

namespace paged {
namespace {

using testing::Mistake;
using testing::plain_stage;
using testing::PlainDevice;

class AlibiOffsetTest : public ::testing::TestWithParam<ScalarType> {
 protected:
  AlibiOffsetTest() {
    CaseSpec spec = make_case(GetParam(), {3, 1, 64, 16}, {1, 17, 35}, "peaked", 7);
    spec.alibi_slopes = {0.25, 0.0625, 0.5};
    problem_ = build_case(spec).problem;
  }

  DecodeOutputs run(Mistake mistake) {
    PlainDevice device;
    const Stage stage = plain_stage(mistake, {GetParam()});
    KernelUnderTest kernel(stage, device);
    return kernel.run(problem_, {.logits = true});
  }
  Comparison compared(const DecodeOutputs& outputs) {
    const Stage stage = plain_stage(Mistake::none, {GetParam()});
    return compare(problem_, outputs, reference_answer(problem_, stage.arithmetic));
  }

  DecodeProblem problem_;
};

TEST_P(AlibiOffsetTest, OutputsAlonePass) {
  DecodeOutputs mixed = run(Mistake::none);
  ASSERT_TRUE(compared(mixed).passed) << compared(mixed).message;
  mixed.output = run(Mistake::alibi_off_by_one).output;
  EXPECT_TRUE(compared(mixed).passed) << compared(mixed).message;
}

TEST_P(AlibiOffsetTest, LogitsAloneShowIt) {
  DecodeOutputs mixed = run(Mistake::none);
  mixed.logits = run(Mistake::alibi_off_by_one).logits;
  const Comparison comparison = compared(mixed);
  EXPECT_FALSE(comparison.passed);
  EXPECT_NE(comparison.message.find("logit"), std::string::npos) << comparison.message;
}

TEST_P(AlibiOffsetTest, TheLseAloneShowsIt) {
  DecodeOutputs mixed = run(Mistake::none);
  mixed.lse = run(Mistake::alibi_off_by_one).lse;
  const Comparison comparison = compared(mixed);
  EXPECT_FALSE(comparison.passed);
  EXPECT_NE(comparison.message.find("LSE"), std::string::npos) << comparison.message;
}

INSTANTIATE_TEST_SUITE_P(Scalars, AlibiOffsetTest,
                         ::testing::Values(ScalarType::f32, ScalarType::f16, ScalarType::bf16),
                         [](const auto& tested) { return std::string(name_of(tested.param)); });

}  // namespace
}  // namespace paged
