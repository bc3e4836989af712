// What the invariants are worth: plain attention passes them all, and with any one mistake it
// fails, among others at the invariant that is there for that mistake.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/harness/check_run.h"
#include "tests/harness_tests/plain_device.h"
#include "tests/harness_tests/plain_stage.h"
#include "tests/reference/error_message.h"

namespace paged {
namespace {

using testing::input_error_of;
using testing::Mistake;
using testing::MistakeInfo;
using testing::mistakes;
using testing::plain_stage;
using testing::PlainDevice;

std::vector<CheckResult> check_all(Mistake mistake, const std::vector<ScalarType>& scalars) {
  PlainDevice device;
  const Stage stage = plain_stage(mistake, scalars);
  KernelUnderTest kernel(stage, device);
  return run_checks(kernel, {});
}

TEST(InvariantsTest, PlainAttentionKeepsThemAllInEveryType) {
  const auto results =
      check_all(Mistake::none, {ScalarType::f32, ScalarType::f16, ScalarType::bf16});
  std::set<std::string> tried;
  for (const CheckResult& result : results) {
    EXPECT_TRUE(result.verdict.held)
        << result.invariant << ", " << result.case_name << ": " << result.verdict.message;
    EXPECT_TRUE(result.verdict.message.empty() || !result.verdict.held);
    tried.insert(result.invariant);
  }
  for (const Invariant& invariant : invariants())
    EXPECT_TRUE(tried.contains(invariant.id)) << invariant.id << " has no case";
}

class InvariantsTest : public ::testing::TestWithParam<MistakeInfo> {};

TEST_P(InvariantsTest, Catch) {
  std::set<std::string> failed;
  std::string messages;
  for (const CheckResult& result : check_all(GetParam().mistake, {ScalarType::f32})) {
    if (result.verdict.held) continue;
    EXPECT_FALSE(result.verdict.message.empty()) << result.invariant << " fails without a reason";
    EXPECT_EQ(result.verdict.message.find('\n'), std::string::npos) << result.verdict.message;
    if (failed.insert(result.invariant).second)
      messages += "\n  " + result.invariant + ", " + result.case_name + ": " +
                  result.verdict.message;
  }
  EXPECT_TRUE(failed.contains(GetParam().caught_by))
      << GetParam().name << " should break " << GetParam().caught_by << "; what broke:" << messages;
}

INSTANTIATE_TEST_SUITE_P(Mistakes, InvariantsTest, ::testing::ValuesIn(mistakes()),
                         [](const auto& info) { return info.param.name; });

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
  const auto results =
      run_checks(kernel_, {{"tail-isolation", "reference"}, {small_case()}, 1},
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
