// Results of now beside made-up ones of before, in each way that a thing can get better or worse;
// and the same as JUnit XML.
#include "tests/harness/baseline.h"

#include "tests/harness/json_report.h"
#include "tests/harness/junit_report.h"
#include "tests/harness_tests/temporary_folder.h"
#include "tests/reference/error_message.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <vector>

namespace paged {
namespace {

using testing::input_error_of;
using testing::TemporaryFolder;

constexpr Recorded kEverything{true, true};

CheckResult result_named(const std::string& invariant, const std::string& case_name) {
  CheckResult result;
  result.stage = "plain";
  result.invariant = invariant;
  result.case_name = case_name;
  result.backend = "cpu";
  result.verdict.bound_used = 0.5;
  result.verdict.record = {"00000000000000aa", 0.1};
  result.verdict.counts.global_load_sectors = 100;
  result.verdict.counts.global_load_useful_bytes = 3200;
  return result;
}

class BaselineTest : public ::testing::Test {
 protected:
  std::filesystem::path write(const std::vector<CheckResult>& results,
                              const std::function<void(nlohmann::json&)>& edit = {}) const {
    nlohmann::json report = json_of_checks(results, {});
    add_baseline_keys(report, results, {}, kEverything);
    if (edit) edit(report);
    return folder_.write("base.json", report.dump());
  }
  /// What is said about `now`, when `before` was the same but for `edit`.
  BaselineComparison since(const std::function<void(CheckResult&)>& edit_before,
                           const std::function<void(CheckResult&)>& edit_now,
                           Recorded recorded = kEverything) const {
    CheckResult before = result_named("reference", "a"), now = before;
    edit_before(before);
    edit_now(now);
    return Baseline(write({before}), {}).compare({now}, recorded, {});
  }
  BaselineComparison since_right(const std::function<void(CheckResult&)>& edit_now) const {
    return since([](CheckResult&) {}, edit_now);
  }
  std::string refusal(const std::filesystem::path& file, const CheckSettings& now = {}) const {
    const auto message = input_error_of([&] { Baseline(file, now); });
    EXPECT_TRUE(message) << "not refused";
    EXPECT_EQ(message.value_or("").find('\n'), std::string::npos);
    return message.value_or("");
  }
  TemporaryFolder folder_;
};

void expect_one(const BaselineComparison& comparison, ChangeKind kind, const std::string& aspect,
                const std::string& part) {
  ASSERT_EQ(comparison.changes.size(), 1U) << json_of(comparison).dump(1);
  const Change& change = comparison.changes[0];
  EXPECT_EQ(name_of(change.kind), std::string(name_of(kind)));
  EXPECT_EQ(change.aspect, aspect);
  EXPECT_EQ(change.stage + change.invariant + change.case_name + change.backend,
            "plainreferenceacpu");
  EXPECT_NE(change.text.find(part), std::string::npos) << change.text;
  EXPECT_EQ(comparison.got_worse(), kind == ChangeKind::worse);
  EXPECT_EQ(comparison.alike, 0U);
}

void fail(CheckResult& result) {
  result.verdict.held = false;
  result.verdict.message = "token 3 is lost";
}

TEST_F(BaselineTest, SaysNothingAboutWhatIsAsItWas) {
  const BaselineComparison same = since_right([](CheckResult&) {});
  EXPECT_TRUE(same.changes.empty());
  EXPECT_EQ(same.alike, 1U);
  EXPECT_FALSE(same.got_worse());
}

TEST_F(BaselineTest, WorseIsWhatFailsNow) {
  expect_one(since_right(fail), ChangeKind::worse, "result", "token 3 is lost");
  expect_one(since(fail, [](CheckResult&) {}), ChangeKind::better, "result", "failed before");
  EXPECT_TRUE(since(fail, fail).changes.empty()) << "no worse than it was";
  expect_one(since_right([](CheckResult& r) { r.verdict.faulty = true; }), ChangeKind::worse,
             "result", "fails now");
}

TEST_F(BaselineTest, WorseIsAPromiseThatIsNoLongerMade) {
  const auto break_as_stated = [](CheckResult& result) {
    result.expected = result.verdict.held = false;
  };
  expect_one(since_right(break_as_stated), ChangeKind::worse, "result", "promised before");
  expect_one(since(break_as_stated, [](CheckResult&) {}), ChangeKind::better, "result",
             "promised now");
  expect_one(since(break_as_stated, [](CheckResult& r) { r.expected = false; }), ChangeKind::worse,
             "result", "now holds");
}

TEST_F(BaselineTest, WorseIsALargerShareOfTheBoundBeyondTheMargin) {
  const auto use = [](double share) {
    return [share](CheckResult& result) { result.verdict.bound_used = share; };
  };
  expect_one(since_right(use(0.56)), ChangeKind::worse, "bound share", "0.500 -> 0.560");
  expect_one(since_right(use(0.44)), ChangeKind::better, "bound share", "0.500 -> 0.440");
  EXPECT_TRUE(since_right(use(0.54)).changes.empty());
  EXPECT_TRUE(since_right(use(0.46)).changes.empty());
  EXPECT_TRUE(since_right(use(std::numeric_limits<double>::infinity())).changes.empty());
}

TEST_F(BaselineTest, WorseIsMoreTransactionsButNotMoreUsefulBytes) {
  const auto load = [](std::uint64_t sectors) {
    return [sectors](CheckResult& r) { r.verdict.counts.global_load_sectors = sectors; };
  };
  expect_one(since_right(load(101)), ChangeKind::worse, "counts", "global_load_sectors 100 -> 101");
  expect_one(since_right(load(99)), ChangeKind::better, "counts", "global_load_sectors 100 -> 99");
  expect_one(since_right([&](CheckResult& r) {
               load(50)(r);
               r.verdict.counts.atomics = 1;
             }),
             ChangeKind::worse, "counts", "atomics 0 -> 1, global_load_sectors 100 -> 50");
  EXPECT_TRUE(since_right([](CheckResult& r) {
                ++r.verdict.counts.global_load_useful_bytes;
              }).changes.empty());
  EXPECT_TRUE(since([](CheckResult&) {}, load(101), {}).changes.empty()) << "none recorded now";
}

TEST_F(BaselineTest, WorseIsMoreTimeBeyondTheMarginAndTheNoise) {
  const auto take = [](double seconds) {
    return [seconds](CheckResult& result) { result.verdict.record.seconds = seconds; };
  };
  expect_one(since_right(take(0.2)), ChangeKind::worse, "time", "0.100 s -> 0.200 s");
  expect_one(since_right(take(0.05)), ChangeKind::better, "time", "0.100 s -> 0.050 s");
  EXPECT_TRUE(since_right(take(0.14)).changes.empty());
  EXPECT_TRUE(since(take(0.001), take(0.009)).changes.empty()) << "too short to tell";
}

TEST_F(BaselineTest, OtherBitsAreNeitherBetterNorWorse) {
  const auto change = [](CheckResult& r) { r.verdict.record.bits = "00000000000000bb"; };
  expect_one(since_right(change), ChangeKind::other, "bits",
             "00000000000000aa -> 00000000000000bb");
  EXPECT_TRUE(since_right([](CheckResult& r) { r.verdict.record.bits = ""; }).changes.empty());
}

TEST_F(BaselineTest, ListsNewAndMissingResults) {
  CheckResult second = result_named("reference", "a2");
  second.verdict.record.bits = "00000000000000cc";
  const CheckResult first = result_named("reference", "a"), other = result_named("alibi", "b");
  const Baseline baseline(write({first, second, other}), {});
  EXPECT_EQ(baseline.compare({first, second, other}, kEverything, {}).alike, 3U);
  const BaselineComparison less =
      baseline.compare({first, second, result_named("alibi", "c")}, kEverything, {});
  EXPECT_EQ(less.alike, 2U);
  EXPECT_EQ(less.count(ChangeKind::added), 1U);
  EXPECT_EQ(less.count(ChangeKind::missing), 1U);
  EXPECT_FALSE(less.got_worse());
  EXPECT_EQ(less.changes[0].result, 2U);
  EXPECT_EQ(less.changes[1].case_name, "b");
}

/// A renamed kernel would be compared with nothing, and never get worse.
TEST_F(BaselineTest, RefusesABaselineWithNothingInCommon) {
  const Baseline baseline(write({result_named("reference", "a")}), {});
  CheckResult renamed = result_named("reference", "a");
  renamed.stage = "online-v2";
  const std::string message =
      testing::input_error_of([&] { baseline.compare({renamed}, kEverything, {}); }).value_or("");
  EXPECT_NE(message.find("has no result that this check has, too"), std::string::npos) << message;
  EXPECT_NE(message.find("this one's online-v2, reference"), std::string::npos) << message;
  EXPECT_NO_THROW(baseline.compare({}, kEverything, {}));
}

/// By their names, wherever they stand: what follows a case that is gone is not taken for it.
TEST_F(BaselineTest, PairsResultsByTheirNamesAndNotByTheirPlaces) {
  CheckResult a = result_named("reference", "a"), b = result_named("reference", "b"),
              c = result_named("reference", "c");
  b.verdict.record.bits = "00000000000000bb";
  c.verdict.record.bits = "00000000000000cc";
  const Baseline baseline(write({a, b, c}), {});
  EXPECT_EQ(baseline.compare({c, a, b}, kEverything, {}).alike, 3U);
  const BaselineComparison without_b = baseline.compare({a, c}, kEverything, {});
  EXPECT_EQ(without_b.alike, 2U) << json_of(without_b).dump(1);
  EXPECT_EQ(without_b.count(ChangeKind::missing), 1U);
}

TEST_F(BaselineTest, RefusesTwoResultsOfOneName) {
  const CheckResult one = result_named("reference", "a");
  EXPECT_NE(
      refusal(write({one, one}))
          .find("has two results of plain, reference, cpu, case 'a': they cannot be told apart"),
      std::string::npos);
  const Baseline baseline(write({one}), {});
  const auto message = input_error_of([&] { baseline.compare({one, one}, kEverything, {}); });
  EXPECT_NE(message.value_or("").find("there are now two results of plain"), std::string::npos);
}

/// What would be said of a baseline whose names are not: every invariant names its cases apart.
TEST_F(BaselineTest, NoInvariantHasTwoCasesOfOneName) {
  for (const Invariant& invariant : invariants()) {
    std::set<std::string> names;
    for (const ScalarType scalar : {ScalarType::f32, ScalarType::f16, ScalarType::bf16})
      for (const CaseSpec& spec : invariant.cases(scalar, 1))
        EXPECT_TRUE(names.insert(spec.name).second) << invariant.id << ": " << spec.name;
  }
}

TEST_F(BaselineTest, WhatHeldAndIsNotTriedThoughAskedForIsWorse) {
  CheckResult failed = result_named("linearity", "b"), watched = result_named("no-race", "b");
  failed.verdict.held = false;
  CheckResult elsewhere = result_named("reference", "b");
  elsewhere.stage = "another";
  const CheckResult kept = result_named("reference", "a");
  const Baseline baseline(write({kept, result_named("alibi", "b"), failed, watched, elsewhere}),
                          {});
  const auto worse = [&](Asked asked) {
    std::vector<std::string> names;
    for (const Change& change : baseline.compare({kept}, kEverything, {}, asked).changes)
      if (change.kind == ChangeKind::worse) names.push_back(change.stage + ": " + change.invariant);
    return names;
  };
  const std::string own = kept.stage;
  using Names = std::vector<std::string>;
  EXPECT_EQ(worse({}), Names{});
  EXPECT_EQ(worse({true, false, true}), Names{}) << "some invariants or cases were asked for";
  EXPECT_EQ(worse({false, true, true}), (Names{own + ": alibi", own + ": no-race"}));
  EXPECT_EQ(worse({false, true, false}), (Names{own + ": alibi"}));
  EXPECT_EQ(worse({true, true, false}).size(), 2U);
}

TEST_F(BaselineTest, RefusesWhatIsNoBaseline) {
  EXPECT_NE(refusal(folder_ / "none.json").find("none.json"), std::string::npos);
  EXPECT_NE(refusal(folder_.write("x.json", "{")).find("x.json"), std::string::npos);
  EXPECT_NE(refusal(folder_.write("x.json", "{\"stages\": []}")).find("is not what `paged check"),
            std::string::npos);
  EXPECT_NE(refusal(folder_.write("x.json", "[1]")).find("JSON object"), std::string::npos);
  const std::vector<CheckResult> one = {result_named("reference", "a")};
  EXPECT_NE(refusal(write(one, [](nlohmann::json& r) { r["format"] = 3; })).find("format 3"),
            std::string::npos);
  EXPECT_NE(
      refusal(write(one, [](nlohmann::json& r) { r.erase("format"); })).find("write it again"),
      std::string::npos);
  EXPECT_NE(refusal(write(one, [](nlohmann::json& r) { r["format"] = 1; }))
                .find("which does not say for which instance list it was made; write it again"),
            std::string::npos);
}

TEST_F(BaselineTest, NamesTheKeyThatIsWrong) {
  const std::vector<CheckResult> one = {result_named("reference", "a")};
  for (const char* key :
       {"stage", "invariant", "case", "backend", "expected", "as_expected", "message", "bits"}) {
    const std::string name = std::string("results[0].") + key;
    EXPECT_NE(refusal(write(one, [&](nlohmann::json& r) { r["results"][0][key] = 7; })).find(name),
              std::string::npos)
        << key;
    EXPECT_NE(
        refusal(write(one, [&](nlohmann::json& r) { r["results"][0].erase(key); })).find(name),
        std::string::npos)
        << key;
  }
}

TEST_F(BaselineTest, RefusesOtherSeedsSchedulesAndInstanceLists) {
  const std::filesystem::path file = write({result_named("reference", "a")});
  const std::string seed = refusal(file, {.seed = 2});
  EXPECT_NE(seed.find("--seed 1, and this is 2"), std::string::npos) << seed;
  const std::string schedule = refusal(file, {.schedule = "random, seed 3"});
  EXPECT_NE(schedule.find("--schedule in-order"), std::string::npos) << schedule;
  const std::string library = refusal(file, {.instances = kAsTheLibrarySays});
  EXPECT_NE(library.find("is of stages, and this check is of a kernel from a library (--kernel)"),
            std::string::npos)
      << library;
  EXPECT_NE(refusal(file, {.probabilities = "f16"}).find("--probabilities"), std::string::npos);
  const std::string instances = refusal(file, {.instances = "all"});
  EXPECT_NE(instances.find("made with -DPAGED_INSTANCES small, and this is all"), std::string::npos)
      << instances;
}

// ---- JUnit -------------------------------------------------------------------------------------
TEST(JUnitTest, EscapesMarkupAndWhatXmlCannotHold) {
  EXPECT_EQ(xml_text("a < b && \"c\" > 'd'"),
            "a &lt; b &amp;&amp; &quot;c&quot; &gt; &apos;d&apos;");
  EXPECT_EQ(xml_text(std::string("x\0\n\x1b[31m\x7f", 9)), "x\\x00\\x0A\\x1B[31m\\x7F");
  EXPECT_EQ(xml_text("\xC3\xA9 \xFF \xEF\xBF\xBE \xED\xA0\x80 \xC2\x85"),
            "\xC3\xA9 \\xFF \\xEF\\xBF\\xBE \\xED\\xA0\\x80 \\xC2\\x85");
}

TEST(JUnitTest, WritesSuitesTestsFailuresAndWhatWasLeftOut) {
  CheckResult right = result_named("reference", "a & b"), wrong = right, slow = right, held = right;
  CheckResult worse = right;
  wrong.case_name = "c";
  wrong.verdict.held = false;
  wrong.verdict.message = "o[0] < 1\x01";
  slow.case_name = "d";
  worse.case_name = "e";
  worse.verdict = wrong.verdict;
  held.invariant = "alibi";
  held.backend = "cuda";
  held.expected = false;
  BaselineComparison comparison;
  comparison.changes = {{ChangeKind::worse, "counts", "", "", "", "", "atomics 0 -> 1", 2},
                        {ChangeKind::worse, "result", "", "", "", "", "held before, and fails", 4},
                        {ChangeKind::better, "time", "", "", "", "", "faster", 0}};
  const std::string expected = R"xml(<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="paged check" tests="6" failures="4" errors="0" skipped="1">
  <testsuite name="plain (cpu)" tests="4" failures="3" errors="0" skipped="0">
    <testcase classname="plain.reference" name="a &amp; b"/>
    <testcase classname="plain.reference" name="c">
      <failure type="reference" message="o[0] &lt; 1\x01"/>
    </testcase>
    <testcase classname="plain.reference" name="d">
      <failure type="regression" message="atomics 0 -&gt; 1"/>
    </testcase>
    <testcase classname="plain.reference" name="e">
      <failure type="regression" message="held before, and fails"/>
    </testcase>
  </testsuite>
  <testsuite name="plain (cuda)" tests="2" failures="1" errors="0" skipped="1">
    <testcase classname="plain.alibi" name="a &amp; b">
      <failure type="alibi" message="held, although the stage states that it breaks this"/>
    </testcase>
    <testcase classname="plain.no-race" name="not tried">
      <skipped message="nobody watches"/>
    </testcase>
  </testsuite>
</testsuites>
)xml";
  EXPECT_EQ(junit_of_checks({right, wrong, slow, held, worse},
                            {{"no-race", "nobody watches", "plain", "cuda"}}, comparison, false),
            expected);
  const std::string timed = junit_of_checks({right}, {}, {}, true);
  EXPECT_NE(timed.find("name=\"a &amp; b\" time=\"0.100000\"/>"), std::string::npos) << timed;
}

}  // namespace
}  // namespace paged
