// Probabilities and products in f16, as in vLLM v0.6.0: within the bounds that are derived for
// them, and with an error that grows with the context as docs/error_bounds.md shows it.
#include "tests/harness/check_run.h"
#include "tests/harness/invariants/cases.h"
#include "tests/stages/execution_place.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <tuple>

namespace paged {
namespace {

class HalfProbabilities : public ::testing::TestWithParam<std::tuple<ExecutionPlace, int>> {
 protected:
  void SetUp() override {
    const auto& [place, number] = GetParam();
    if (const std::string reason = why_no_device(place); !reason.empty())
      GTEST_SKIP() << "no GPU: " << reason;
    device_ = make_device(place.backend);
    kernel_ = std::make_unique<KernelUnderTest>(
        find_stage(std::to_string(number), place.backend, place.checking), *device_);
  }
  std::unique_ptr<Device> device_;
  std::unique_ptr<KernelUnderTest> kernel_;
};

TEST_P(HalfProbabilities, KeepTheInvariantsThatPvCanBreak) {
  CheckRequest request{{"reference", "tail-isolation", "determinism"}, {}, 1};
  if (std::get<1>(GetParam()) >= 5) request.invariants.push_back("partition-invariance");
  request.probabilities = ScalarType::f16;
  const auto results = run_checks(*kernel_, request);
  EXPECT_GE(results.size(), 15U);
  for (const CheckResult& result : results)
    EXPECT_TRUE(result.as_expected()) << result.case_name << ": " << result.verdict.message;
}

TEST_P(HalfProbabilities, AreOutsideTheBoundsOfF32) {
  // So these bounds would catch a kernel that rounds without being asked to.
  CaseSpec spec = make_case(ScalarType::f16, {2, 1, 64, 16}, {2000}, "small", 2);
  spec.probabilities = ScalarType::f16;
  spec.variant = KernelVariant::v1;
  DecodeProblem problem = build_case(spec).problem;
  const DecodeOutputs outputs = kernel_->run(problem);
  const StageArithmetic& arithmetic = kernel_->stage().arithmetic;
  const Comparison right = compare(problem, outputs, reference_answer(problem, arithmetic));
  EXPECT_TRUE(right.passed) << right.message;
  EXPECT_GT(right.bound_used, 0.01);  // 2000 errors of either sign, bounded as if of one
  problem.probabilities = ScalarType::f32;
  EXPECT_FALSE(compare(problem, outputs, reference_answer(problem, arithmetic)).passed);
}

INSTANTIATE_TEST_SUITE_P(Stages, HalfProbabilities,
                         ::testing::Combine(::testing::Values(kEveryPlace[0], kEveryPlace[2]),
                                            ::testing::Values(4, 5)),
                         [](const auto& test) {
                           return name_of(std::get<0>(test.param)) + "_stage_" +
                                  std::to_string(std::get<1>(test.param));
                         });

// ---- how the error grows ----------------------------------------------------------------------
/// ||output - reference|| / ||reference|| of flat attention (q = 0) over values of standard
/// deviation 0.01, on the CPU machine.
double relative_error(int seq_len, KernelVariant variant, ScalarType probabilities) {
  CaseSpec spec = make_case(ScalarType::f16, {1, 1, 128, 16}, {seq_len}, "normal", 1);
  spec.query_values.kind = "constant";
  spec.query_values.value = 0;
  spec.value_values.standard_deviation = 0.01;
  spec.variant = variant;
  spec.probabilities = probabilities;
  const DecodeProblem problem = build_case(spec).problem;
  const auto device = make_device(Backend::cpu);
  KernelUnderTest kernel(find_stage("5", Backend::cpu, Checking::unchecked), *device);
  const Comparison result =
      compare(problem, kernel.run(problem), reference_answer(problem, kernel.stage().arithmetic));
  EXPECT_TRUE(result.passed) << result.message;
  return result.relative_l2;
}

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2g %%", 100 * share);
  return text;
}

TEST(HalfProbabilitiesGrowth, IsThatOfTheTableInTheDocument) {
  std::ifstream file(STAGE_TESTS_ERROR_BOUNDS);
  const std::string document{std::istreambuf_iterator<char>(file), {}};
  for (const int seq_len : {512, 1024, 2048, 4096, 8192}) {
    const auto error = [&](KernelVariant variant, ScalarType type) {
      return relative_error(seq_len, variant, type);
    };
    const double v1 = error(KernelVariant::v1, ScalarType::f16);
    const double v2 = error(KernelVariant::v2, ScalarType::f16);
    const std::string row =
        "| " + std::to_string(seq_len) + " | " +
        percent(error(KernelVariant::v1, ScalarType::f32)) + " | " + percent(v1) + " | " +
        percent(error(KernelVariant::v2, ScalarType::f32)) + " | " + percent(v2) + " |\n";
    std::printf("%s", row.c_str());
    EXPECT_NE(document.find(row), std::string::npos) << "docs/error_bounds.md lacks: " << row;
    if (seq_len < 8192) continue;
    // Each product is below f16's normal numbers: V1 loses about a hundredth, V2 a thousandth.
    EXPECT_GT(v1, 0.005);
    EXPECT_LT(v1, 0.02);
    EXPECT_GT(v2, 0.0003);
    EXPECT_LT(v2, 0.003);
  }
}

}  // namespace
}  // namespace paged
