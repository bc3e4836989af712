// paged check --baseline, --junit, --counts, --times.
#include "tests/harness_tests/temporary_folder.h"
#include "tests/paged_tests/child_process.h"
#include "tests/reference/error_message.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <functional>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace paged {
namespace {

using nlohmann::json;
using testing::content_of;
using testing::mentions;
using testing::ProcessResult;
using testing::run_paged;
using testing::TemporaryFolder;

class CheckReportsTest : public ::testing::Test {
 protected:
  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  /// Stage 1 on one invariant, with more options.
  ProcessResult check(std::vector<std::string> more) const {
    std::vector<std::string> all = {"check", "--stage", "1", "--invariant", "single-token"};
    all.insert(all.end(), more.begin(), more.end());
    return run_paged(all);
  }
  json written(const std::string& name) const { return json::parse(content_of(folder_ / name)); }
  void edit(const std::string& name, const std::function<void(json&)>& change) const {
    json report = written(name);
    change(report);
    folder_.write(name, report.dump());
  }
  void expect_refused(const std::vector<std::string>& options,
                      const std::vector<std::string>& words) const {
    const ProcessResult result = check(options);
    EXPECT_EQ(result.exit_status, 2) << result.out;
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    for (const std::string& word : words) EXPECT_TRUE(mentions(result.err, word)) << result.err;
  }
  TemporaryFolder folder_;
};

TEST_F(CheckReportsTest, TheSameRequestWritesTheSameBytesAndEqualsItsOwnBaseline) {
  for (const char* name : {"a", "b"})
    ASSERT_EQ(check({"--counts", "--json", file(std::string(name) + ".json"), "--junit",
                     file(std::string(name) + ".xml")})
                  .exit_status,
              0);
  EXPECT_EQ(content_of(folder_ / "a.json"), content_of(folder_ / "b.json"));
  EXPECT_EQ(content_of(folder_ / "a.xml"), content_of(folder_ / "b.xml"));
  EXPECT_TRUE(content_of(folder_ / "a.xml").starts_with("<?xml version=\"1.0\"")) << "no XML";
  const json report = written("a.json");
  for (const json& row : report.at("results")) {
    EXPECT_EQ(row.at("bits").get<std::string>().size(), 16U);
    EXPECT_GT(row.at("counts").at("global_load_sectors"), 0);
    EXPECT_FALSE(row.contains("seconds")) << "times differ from run to run";
  }
  const ProcessResult same = check({"--baseline", file("a.json"), "--json", file("c.json")});
  EXPECT_EQ(same.exit_status, 0) << same.out << same.err;
  EXPECT_NE(same.out.find("0 worse, 0 better, 0 other, 0 new, 0 missing"), std::string::npos)
      << same.out;
  EXPECT_EQ(written("c.json").at("changes"), json::array());
  EXPECT_TRUE(check({"--times", "--json", file("t.json")}).exit_status == 0 &&
              written("t.json").at("results")[0].at("seconds") > 0.0);
}

TEST_F(CheckReportsTest, WhatGotWorseFailsAndIsListed) {
  ASSERT_EQ(check({"--counts", "--json", file("base.json")}).exit_status, 0);
  edit("base.json", [](json& report) {
    json& results = report.at("results");
    results.at(0).at("bound_used") = 0.0;
    results.at(1).at("bits") = "0123456789abcdef";
    results.at(1).at("counts").at("global_load_sectors") = 1;
    results.at(2).at("case") = "gone";
  });
  const ProcessResult worse = check({"--baseline", file("base.json"), "--counts", "--junit",
                                     file("j.xml"), "--json", file("now.json")});
  EXPECT_EQ(worse.exit_status, 1) << worse.err;
  const std::string said = std::regex_replace(worse.out, std::regex("\n  +"), " ");  // not wrapped
  EXPECT_LT(said.find("worse: "), said.find("other: ")) << "what matters most stands first";
  for (const char* part : {"2 worse, 0 better, 1 other, 1 new, 1 missing", "bound share 0.000 -> ",
                           "output bits 0123456789abcdef -> ", "global_load_sectors 1 -> ",
                           "case gone: was tried before"})
    EXPECT_NE(said.find(part), std::string::npos) << part << " is not in " << said;
  EXPECT_NE(content_of(folder_ / "j.xml").find("type=\"regression\""), std::string::npos);
  EXPECT_EQ(written("now.json").at("changes").size(), 5U);
  // A wider margin forgives the share of the bound, and nothing else.
  const ProcessResult wide = check({"--baseline", file("base.json"), "--bound-margin", "1"});
  EXPECT_EQ(wide.exit_status, 0) << "transactions are not recorded here: " << wide.out;
}

/// Other bits of many results are one line that counts them.
TEST_F(CheckReportsTest, OtherBitsAreOneLine) {
  const auto check_both = [&](std::vector<std::string> more) {
    std::vector<std::string> all = {"check", "--stage", "1", "--invariant",
                                    "single-token,constant-value"};
    all.insert(all.end(), more.begin(), more.end());
    return run_paged(all);
  };
  ASSERT_EQ(check_both({"--json", file("base.json")}).exit_status, 0);
  std::size_t results = 0;
  edit("base.json", [&](json& report) {
    for (json& result : report.at("results")) result.at("bits") = "0123456789abcdef";
    results = report.at("results").size();
  });
  const ProcessResult other = check_both({"--baseline", file("base.json")});
  EXPECT_EQ(other.exit_status, 0) << other.out;
  const std::string said = std::regex_replace(other.out, std::regex("\n  +"), " ");  // not wrapped
  EXPECT_NE(said.find("other output bits in " + std::to_string(results) +
                      " results (cases: single-token "),
            std::string::npos)
      << said;
  EXPECT_EQ(said.find("\nother: "), said.rfind("\nother: ")) << said;
}

TEST_F(CheckReportsTest, WhatIsNotTriedIsListedAndASkippedTestAndWhatIsGoneAFailure) {
  const auto check_stage = [&](std::vector<std::string> more) {
    std::vector<std::string> all = {"check", "--stage", "1", "--unchecked"};
    all.insert(all.end(), more.begin(), more.end());
    return run_paged(all);
  };
  ASSERT_EQ(check_stage({"--json", file("base.json")}).exit_status, 0);
  std::set<std::string> not_tried;
  const json base = written("base.json");
  for (const json& left_out : base.at("not_tried")) {
    EXPECT_EQ(left_out.at("stage"), "naive-paged-gather");
    EXPECT_EQ(left_out.at("backend"), "cpu");
    EXPECT_NE(left_out.at("reason"), "");
    not_tried.insert(left_out.at("invariant"));
  }
  EXPECT_TRUE(not_tried.contains("no-race") && not_tried.contains("partition-invariance"));
  for (const json& row : base.at("results"))
    EXPECT_FALSE(not_tried.contains(row.at("invariant"))) << row.dump();
  // Nobody watches here, so that no-race cannot be tried; the other is gone without a reason.
  edit("base.json", [](json& report) {
    json& results = report.at("results");
    for (const char* invariant : {"no-race", "alibi"}) {
      results.push_back(results.at(0));
      results.back().at("invariant") = invariant;
      results.back().at("case") = "one more";
    }
  });
  const ProcessResult now =
      check_stage({"--junit", file("j.xml"), "--baseline", file("base.json")});
  EXPECT_EQ(now.exit_status, 1) << now.out << now.err;
  EXPECT_NE(now.out.find("1 worse, 0 better, 0 other, 0 new, 1 missing"), std::string::npos)
      << now.out;
  const std::string xml = content_of(folder_ / "j.xml");
  for (const char* part :
       {"classname=\"naive-paged-gather.partition-invariance\" name=\"not tried\"",
        "<skipped message=\"stage 1 (naive-paged-gather) makes no statement about it\"/>",
        "classname=\"naive-paged-gather.no-race\" name=\"not tried\"",
        "classname=\"naive-paged-gather.alibi\" name=\"one more\"", " failures=\"1\" "})
    EXPECT_NE(xml.find(part), std::string::npos) << part << " is not in " << xml;
}

TEST_F(CheckReportsTest, RefusesWrongBaselinesInOneLine) {
  folder_.write("foreign.json", R"({"results": [{"name": "x"}]})");
  expect_refused({"--baseline", file("foreign.json")}, {"foreign.json", "--json"});
  expect_refused({"--baseline", file("none.json")}, {"none.json"});
  ASSERT_EQ(check({"--json", file("base.json")}).exit_status, 0);
  expect_refused({"--baseline", file("base.json"), "--seed", "2"}, {"--seed", "1", "2"});
  expect_refused({"--baseline", file("base.json"), "--json", file("base.json")},
                 {"--json", "--baseline"});
  expect_refused({"--junit", file("x"), "--json", file("x")}, {"--json", "--junit"});
  expect_refused(
      {"--baseline", file("base.json"), "--case", "smollm2-layer-14", "--case", "smollm2-layer-14"},
      {"smollm2-layer-14", "twice"});
  expect_refused({"--junit", file("no/x.xml")}, {"no/x.xml"});
  expect_refused({"--counts", "--unchecked"}, {"--counts", "--unchecked"});
  const json instances = written("base.json").at("settings").at("instances");
  edit("base.json", [](json& report) { report["settings"]["instances"] = "share_3"; });
  expect_refused({"--baseline", file("base.json")}, {"base.json", "share_3", instances});
  edit("base.json", [](json& report) { report["format"] = 99; });
  expect_refused({"--baseline", file("base.json")}, {"base.json", "99"});
}

}  // namespace
}  // namespace paged
