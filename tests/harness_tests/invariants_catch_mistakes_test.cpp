// What the invariants are worth: plain attention passes them all, and with any one mistake it
// fails, among others at the invariant that is there for that mistake.
#include "tests/harness/check_run.h"
#include "tests/harness_tests/plain_device.h"
#include "tests/harness_tests/plain_stage.h"
#include "tests/reference/error_message.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace paged {
namespace {

using testing::input_error_of;
using testing::Mistake;
using testing::MistakeInfo;
using testing::mistakes;
using testing::plain_stage;
using testing::PlainDevice;

std::vector<CheckResult> check(Mistake mistake, const std::vector<ScalarType>& scalars,
                               const std::vector<std::string>& ids = {}) {
  PlainDevice device;
  const Stage stage = plain_stage(mistake, scalars);
  KernelUnderTest kernel(stage, device);
  return run_checks(kernel, {ids, {}, 1});
}

bool exists(const std::string& id) {
  for (const Invariant& invariant : invariants())
    if (invariant.id == id) return true;
  return false;
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
    EXPECT_TRUE(tried.contains(invariant.id)) << invariant.id << " has no case";
}

class InvariantsTest : public ::testing::TestWithParam<MistakeInfo> {};

/// In f32, where rounding hides least. Invariants of INVARIANTS.md that are not built yet are left
/// out; a mistake that only they are there for is skipped.
TEST_P(InvariantsTest, Catch) {
  int tried = 0;
  for (const std::string& id : GetParam().caught_by) {
    if (!exists(id)) continue;
    ++tried;
    bool broken = false;
    for (const CheckResult& result : check(GetParam().mistake, {ScalarType::f32}, {id})) {
      if (result.verdict.held) continue;
      broken = true;
      EXPECT_FALSE(result.verdict.message.empty()) << id << " fails without a reason";
      EXPECT_EQ(result.verdict.message.find('\n'), std::string::npos) << result.verdict.message;
    }
    EXPECT_TRUE(broken) << id << " holds in spite of " << GetParam().name;
  }
  if (tried == 0) GTEST_SKIP() << "there is no invariant " << GetParam().caught_by.front();
}

INSTANTIATE_TEST_SUITE_P(Mistakes, InvariantsTest, ::testing::ValuesIn(mistakes()),
                         [](const auto& tested) { return tested.param.name; });

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

TEST_F(RunChecksTest, TriesOnlyWhatIsAskedForAndReportsEachResult) {
  std::size_t reported = 0;
  const auto results = run_checks(kernel_, {{"tail-isolation", "reference"}, {small_case()}, 1},
                                  [&](const CheckResult&) { ++reported; });
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

TEST_F(RunChecksTest, EveryInvariantExplainsItself) {
  std::set<std::string> ids;
  for (const Invariant& invariant : invariants()) {
    EXPECT_TRUE(ids.insert(invariant.id).second) << invariant.id << " twice";
    EXPECT_FALSE(invariant.statement.empty() || invariant.formula.empty() ||
                 invariant.method.empty() || invariant.catches.empty())
        << invariant.id;
    EXPECT_EQ(find_invariant(invariant.id).id, invariant.id);
  }
}

}  // namespace
}  // namespace paged
