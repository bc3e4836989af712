// What the invariants are worth: plain attention passes them all, and with any one mistake it
// fails, among others at the invariant that is there for that mistake.
#include "tests/harness/check_run.h"
#include "tests/harness/stage_run.h"
#include "tests/harness_tests/careless_stage.h"
#include "tests/harness_tests/plain_cache_kernels.h"
#include "tests/harness_tests/plain_device.h"
#include "tests/harness_tests/plain_stage.h"
#include "tests/reference/error_message.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <set>
#include <string>

namespace paged {
namespace {

using testing::cache_mistakes;
using testing::CacheMistake;
using testing::CacheMistakeInfo;
using testing::Carelessness;
using testing::CarelessnessInfo;
using testing::input_error_of;
using testing::Mistake;
using testing::MistakeInfo;
using testing::mistakes;
using testing::plain_cache_kernels;
using testing::plain_stage;
using testing::PlainDevice;

std::vector<CheckResult> check(Mistake mistake, const std::vector<ScalarType>& scalars,
                               const std::vector<std::string>& ids = {}) {
  PlainDevice device;
  const Stage stage = plain_stage(mistake, scalars);
  KernelUnderTest kernel(stage, device, plain_cache_kernels(CacheMistake::none));
  return run_checks(kernel, {ids, {}, 1});
}

/// Whether some result failed; each that did must say why, in one line.
bool any_failed(const std::vector<CheckResult>& results) {
  bool broken = false;
  for (const CheckResult& result : results) {
    if (result.verdict.held) continue;
    broken = true;
    EXPECT_FALSE(result.verdict.message.empty()) << result.invariant << " fails without a reason";
    EXPECT_EQ(result.verdict.message.find('\n'), std::string::npos) << result.verdict.message;
  }
  return broken;
}

TEST(PlainAttentionTest, KeepsAllInvariantsInEveryType) {
  const auto results = check(Mistake::none, {ScalarType::f32, ScalarType::f16, ScalarType::bf16});
  std::set<std::string> tried;
  for (const CheckResult& result : results) {
    EXPECT_TRUE(result.verdict.held)
        << result.invariant << ", " << result.case_name << ": " << result.verdict.message;
    tried.insert(result.invariant);
  }
  for (const Invariant& invariant : invariants())
    EXPECT_NE(tried.contains(invariant.id), invariant.needs_watching) << invariant.id;
}

class InvariantsTest : public ::testing::TestWithParam<MistakeInfo> {};

bool says(const Verdict& verdict, const char* text) {
  return verdict.message.find(text) != std::string::npos;
}

/// What a verdict carries for explanations is what its message says in words.
void expect_as_said(const CheckResult& result) {
  const Verdict& verdict = result.verdict;
  if (verdict.held || verdict.faulty) return;
  const WrongNumber wrong = verdict.wrong_number.value_or(WrongNumber{});
  EXPECT_EQ(wrong.times_bound > 1, says(verdict, " times its bound")) << verdict.message;
  if (result.invariant == "single-token" || result.invariant == "empty-sequence") {
    EXPECT_TRUE(verdict.wrong_number) << verdict.message;
  }
  if (says(verdict, " is NaN;") || says(verdict, " is nan;")) {
    EXPECT_TRUE(std::isnan(wrong.got)) << verdict.message;
  }
  EXPECT_EQ(verdict.poisoned.has_value(), result.invariant == "tail-isolation");
  if (verdict.poisoned) {
    EXPECT_EQ(*verdict.poisoned == PoisonedCache::keys, says(verdict, "unused key slots"));
  }
}

/// In f32, where rounding hides least.
TEST_P(InvariantsTest, Catch) {
  for (const std::string& id : GetParam().caught_by) {
    const std::vector<CheckResult> results = check(GetParam().mistake, {ScalarType::f32}, {id});
    EXPECT_TRUE(any_failed(results)) << id << " holds in spite of " << GetParam().name;
    for (const CheckResult& result : results) expect_as_said(result);
  }
}

INSTANTIATE_TEST_SUITE_P(Mistakes, InvariantsTest, ::testing::ValuesIn(mistakes()),
                         [](const auto& tested) { return tested.param.name; });

class CacheInvariantsTest : public ::testing::TestWithParam<CacheMistakeInfo> {};

TEST_P(CacheInvariantsTest, Catch) {
  PlainDevice device;
  const Stage stage = plain_stage(Mistake::none, {ScalarType::f16});
  KernelUnderTest kernel(stage, device, plain_cache_kernels(GetParam().mistake));
  EXPECT_TRUE(any_failed(run_checks(kernel, {{GetParam().caught_by}, {}, 1})));
}

INSTANTIATE_TEST_SUITE_P(Mistakes, CacheInvariantsTest, ::testing::ValuesIn(cache_mistakes()),
                         [](const auto& tested) { return tested.param.name; });

// ---- the execution, on the CPU machine ---------------------------------------------------------
/// The ids of invariants about execution that fail.
std::set<std::string> broken_by(Carelessness carelessness) {
  const std::unique_ptr<Device> device = make_device(Backend::cpu);
  const Stage stage = cpu_checked::careless_stage(carelessness);
  KernelUnderTest kernel(stage, *device);
  std::set<std::string> broken;
  for (const CheckResult& result : run_checks(kernel, {{}, {}, 1})) {
    if (result.verdict.held) continue;
    broken.insert(result.invariant);
    EXPECT_EQ(result.verdict.broken_execution, result.invariant) << result.verdict.message;
    const std::optional<FindingKind> kind = result.verdict.finding;
    EXPECT_TRUE(!kind || result.verdict.message.starts_with(name_of(*kind)));
    if (result.invariant != "writes-only-output") {
      EXPECT_TRUE(kind) << result.verdict.message;
    }
    EXPECT_FALSE(result.as_expected());
  }
  return broken;
}

class ExecutionInvariantsTest : public ::testing::TestWithParam<CarelessnessInfo> {};

/// And no others.
TEST_P(ExecutionInvariantsTest, Catch) {
  EXPECT_EQ(broken_by(GetParam().carelessness), GetParam().caught_by);
}

INSTANTIATE_TEST_SUITE_P(Mistakes, ExecutionInvariantsTest,
                         ::testing::ValuesIn(testing::carelessnesses()),
                         [](const auto& tested) { return tested.param.name; });

TEST(CleanExecutionTest, BreaksNothing) {
  EXPECT_EQ(broken_by(Carelessness::none), std::set<std::string>{});
}

TEST(WatchedExecutionTest, IsRefusedWhereNothingIsWatched) {
  PlainDevice device;
  const Stage stage = plain_stage(Mistake::none, {ScalarType::f32});
  KernelUnderTest kernel(stage, device);
  const auto message = input_error_of([&] { run_checks(kernel, {{"no-race"}, {}, 1}); });
  ASSERT_TRUE(message);
  EXPECT_NE(message->find("--backend cpu"), std::string::npos) << *message;
  const std::unique_ptr<Device> cpu = make_device(Backend::cpu);
  for (const Checking checking : {Checking::checked, Checking::unchecked})
    EXPECT_EQ(KernelUnderTest(find_stage("1", Backend::cpu, checking), *cpu).is_watched(),
              checking == Checking::checked);
}

// ---- what run_checks promises -----------------------------------------------------------------
class RunChecksTest : public ::testing::Test {
 protected:
  CaseSpec small_case() const {
    CaseSpec spec;
    spec.name = "small";
    spec.num_heads = 2;
    spec.num_kv_heads = 1;
    spec.head_size = 64;
    spec.block_size = 16;
    spec.seq_lens = {17};
    return spec;
  }
  PlainDevice device_;
  Stage stage_ = plain_stage(Mistake::none, {ScalarType::f16});
  KernelUnderTest kernel_{stage_, device_};
};

TEST_F(RunChecksTest, TriesOnlyWhatIsAskedForAndSaysWhatItTries) {
  std::size_t reported = 0;
  const auto results = run_checks(kernel_, {{"tail-isolation", "reference"}, {small_case()}, 1},
                                  [&](const PlannedTry&) { ++reported; });
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(reported, 2U);
  EXPECT_EQ(results[0].invariant, "tail-isolation");
  EXPECT_EQ(results[1].invariant, "reference");
  EXPECT_EQ(results[0].case_name, "small");
  EXPECT_EQ(results[0].stage, "plain");
}

TEST_F(RunChecksTest, RefusesUnknownInvariantsAndListsTheKnown) {
  const auto message = input_error_of([&] { run_checks(kernel_, {{"refrence"}, {}, 1}); });
  ASSERT_TRUE(message);
  EXPECT_NE(message->find("refrence"), std::string::npos) << *message;
  EXPECT_NE(message->find("tail-isolation"), std::string::npos) << *message;
}

TEST_F(RunChecksTest, RefusesInvariantsThatTheStageSaysNothingAbout) {
  stage_.promises = {"reference"};
  const auto message = input_error_of([&] { run_checks(kernel_, {{"determinism"}, {}, 1}); });
  ASSERT_TRUE(message);
  EXPECT_NE(message->find("determinism"), std::string::npos) << *message;
}

TEST_F(RunChecksTest, RefusesCasesThatTheStageDoesNotSupport) {
  CaseSpec spec = small_case();
  spec.head_size = 48;
  const auto message = input_error_of([&] { run_checks(kernel_, {{}, {spec}, 1}); });
  ASSERT_TRUE(message);
  EXPECT_TRUE(testing::mentions(*message, "48")) << *message;
}

TEST_F(RunChecksTest, AStatedBreachMustBreak) {
  stage_.promises = {};
  stage_.breaks = {{"reference", "as a test"}};
  const auto results = run_checks(kernel_, {{}, {small_case()}, 1});
  ASSERT_EQ(results.size(), 1U);
  EXPECT_FALSE(results[0].expected);
  EXPECT_TRUE(results[0].verdict.held);
  EXPECT_FALSE(results[0].as_expected()) << "it held, so the statement is not true";
}

/// What values are drawn depends on the seed: with seed 1 each type, with others one of them.
TEST_F(RunChecksTest, NoInvariantRefusesItsOwnCases) {
  for (const Invariant& invariant : invariants()) {
    if (!invariant.refuses) continue;
    for (const auto& [scalar, seed] : {std::pair(ScalarType::f32, 1),
                                       {ScalarType::f16, 1},
                                       {ScalarType::bf16, 1},
                                       {ScalarType::f32, 2},
                                       {ScalarType::bf16, 3},
                                       {ScalarType::f16, 1'000'003}})
      for (CaseSpec spec : invariant.cases(scalar, static_cast<std::uint64_t>(seed))) {
        if (scalar == ScalarType::f16 && spec.cache.value_or(CacheType::f16) == CacheType::f16)
          spec.probabilities = seed == 1 ? ScalarType::f32 : ScalarType::f16;
        EXPECT_EQ(invariant.refuses(build_case(spec).problem), "")
            << invariant.id << " on " << spec.name << ", seed " << seed;
      }
  }
}

TEST_F(RunChecksTest, OwnCasesAreBuiltWhenTheyAreTriedAndNotKept) {
  const CheckPlan plan = plan_checks(kernel_, {{"reference"}, {}, 1});
  ASSERT_FALSE(plan.tries.empty());
  EXPECT_EQ(plan.tries.front().c.get().use_count(), 1);
  const CheckPlan given = plan_checks(kernel_, {{"reference"}, {small_case()}, 1});
  EXPECT_GT(given.tries.front().c.get().use_count(), 1) << "one that was asked for is built once";
}

TEST_F(RunChecksTest, EveryInvariantExplainsItself) {
  std::set<std::string> ids;
  for (const Invariant& invariant : invariants()) {
    EXPECT_TRUE(ids.insert(invariant.id).second) << invariant.id << " twice";
    EXPECT_FALSE(invariant.statement.empty() || invariant.formula.empty() ||
                 invariant.method.empty() || invariant.catches.empty() || invariant.reading.empty())
        << invariant.id;
    EXPECT_EQ(find_invariant(invariant.id).id, invariant.id);
  }
}

}  // namespace
}  // namespace paged
