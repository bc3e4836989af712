// Every stage on every backend keeps what it promises and breaks what it states to break.
#include "stages/registry.h"
#include "tests/harness/check_run.h"
#include "tests/harness/named_cases.h"
#include "tests/harness/stage_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <ostream>
#include <tuple>

namespace paged {
namespace {

/// A stage's place: its backend and number.
struct StageOnBackend {
  Backend backend;
  Checking checking;
  int number;
};

std::string name_of(const StageOnBackend& place) {
  return std::string(name_of(place.backend)) +
         (place.checking == Checking::unchecked ? "_unchecked" : "") + "_stage_" +
         std::to_string(place.number);
}

void PrintTo(const StageOnBackend& place, std::ostream* stream) { *stream << name_of(place); }

std::vector<StageOnBackend> places(bool with_unchecked) {
  std::vector<StageOnBackend> all;
  for (const Stage& stage : stages(Backend::cpu)) {
    all.push_back({Backend::cpu, Checking::checked, stage.number});
    if (with_unchecked) all.push_back({Backend::cpu, Checking::unchecked, stage.number});
    all.push_back({Backend::cuda, Checking::checked, stage.number});
  }
  return all;
}

/// Owns the device; skips where there is none.
class StageTest : public ::testing::Test {
 protected:
  void open(const StageOnBackend& place) {
    if (place.backend == Backend::cuda) {
      const std::string reason = why_no_cuda_device();
      if (!reason.empty()) GTEST_SKIP() << "no GPU: " << reason;
    }
    device_ = make_device(place.backend);
    const Stage& stage = find_stage(std::to_string(place.number), place.backend, place.checking);
    kernel_ = std::make_unique<KernelUnderTest>(stage, *device_);
  }
  std::unique_ptr<Device> device_;
  std::unique_ptr<KernelUnderTest> kernel_;
};

class StageInvariantTest
    : public StageTest,
      public ::testing::WithParamInterface<std::tuple<StageOnBackend, std::string>> {};

TEST_P(StageInvariantTest, ComesOutAsStated) {
  const auto& [place, invariant] = GetParam();
  ASSERT_NO_FATAL_FAILURE(open(place));
  if (IsSkipped()) return;
  if (const std::string reason = why_not_on(find_invariant(invariant), *kernel_); !reason.empty())
    GTEST_SKIP() << reason;
  const auto results = run_checks(*kernel_, {{invariant}, {}, 1});
  EXPECT_FALSE(results.empty());
  for (const CheckResult& result : results)
    EXPECT_TRUE(result.as_expected())
        << result.case_name << ": "
        << (result.expected ? result.verdict.message : "held, but is stated to be broken");
  // In f32, f16 and bf16, wherever a stage supports them; a small build has fp8 beside f16 alone.
  const bool takes_fp8 = invariant == "fp8-scale";
  for (ScalarType scalar : kernel_->stage().supports.scalars)
    EXPECT_TRUE((takes_fp8 && scalar != ScalarType::f16) ||
                std::any_of(results.begin(), results.end(),
                            [&](const CheckResult& result) {
                              return result.case_name.starts_with(paged::name_of(scalar));
                            }))
        << "no case in " << paged::name_of(scalar);
}

std::vector<std::tuple<StageOnBackend, std::string>> statements() {
  std::vector<std::tuple<StageOnBackend, std::string>> all;
  for (const StageOnBackend& place : places(false)) {
    const Stage& stage = find_stage(std::to_string(place.number), Backend::cpu);
    for (const std::string& id : stage.promises) all.emplace_back(place, id);
    for (const BrokenPromise& broken : stage.breaks) all.emplace_back(place, broken.invariant);
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Stages, StageInvariantTest, ::testing::ValuesIn(statements()),
                         [](const auto& test) {
                           std::string name =
                               name_of(std::get<0>(test.param)) + "_" + std::get<1>(test.param);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

class NamedCaseTest
    : public StageTest,
      public ::testing::WithParamInterface<std::tuple<StageOnBackend, std::string>> {};

TEST_P(NamedCaseTest, AgreesWithTheReference) {
  const auto& [place, name] = GetParam();
  ASSERT_NO_FATAL_FAILURE(open(place));
  if (IsSkipped()) return;
  for (ScalarType scalar : {ScalarType::f16, ScalarType::bf16, ScalarType::f32}) {
    CaseSpec spec = find_case(name);
    spec.scalar = scalar;
    const StageRun run = run_on_case(*kernel_, build_case(spec));
    EXPECT_TRUE(run.comparison.passed) << paged::name_of(scalar) << ": " << run.comparison.message
                                       << (run.faults.empty() ? "" : run.faults.front());
  }
}

std::vector<std::tuple<StageOnBackend, std::string>> stages_and_cases() {
  std::vector<std::tuple<StageOnBackend, std::string>> all;
  const std::vector<NamedCase> cases = named_cases();
  for (const StageOnBackend& place : places(true))
    for (const NamedCase& c : cases) all.emplace_back(place, c.name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Stages, NamedCaseTest, ::testing::ValuesIn(stages_and_cases()),
                         [](const auto& test) {
                           std::string name =
                               name_of(std::get<0>(test.param)) + "_" + std::get<1>(test.param);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace paged
