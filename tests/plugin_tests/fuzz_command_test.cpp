// paged check --fuzz, on a stage that is right and on a library whose kernel is not.
#include "stages/registry.h"
#include "tests/harness/check_run.h"
#include "tests/harness/stage_run.h"
#include "tests/harness_tests/temporary_folder.h"
#include "tests/paged_tests/child_process.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace paged {
namespace {

using testing::content_of;
using testing::ProcessResult;
using testing::run_paged;
using testing::TemporaryFolder;

const std::string kWrong = std::string(PAGED_EXAMPLES) + "/wrong.so";
const std::string kRight = std::string(PAGED_EXAMPLES) + "/naive.so";

class FuzzCommandTest : public ::testing::Test {
 protected:
  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  TemporaryFolder folder_;
};

TEST_F(FuzzCommandTest, WritesASmallCaseThatFailsAgain) {
  const ProcessResult found = run_paged({"check", "--kernel", kWrong, "--fuzz", "30", "--seed", "3",
                                         "--fuzz-case", file("f.json"), "--json", file("r.json")});
  ASSERT_EQ(found.exit_status, 1) << found.out << found.err;
  EXPECT_NE(found.out.find("seed 3: "), std::string::npos) << found.out;
  const auto report = nlohmann::json::parse(content_of(folder_ / "r.json"));
  const int failed = report.at("failed");
  EXPECT_GE(failed, 1);
  EXPECT_EQ(report.at("passed").get<int>() + failed, report.at("fuzz").at("tries"));
  EXPECT_NE(found.out.find(" tries of invariants, " + std::to_string(failed) + " failed"),
            std::string::npos)
      << found.out;
  EXPECT_GT(report.at("fuzz").at("cases"), 0);
  const auto small = nlohmann::json::parse(content_of(folder_ / "f.json"));
  int tokens = 0;
  for (const auto& length : small.at("seq_lens")) tokens += length.get<int>();
  EXPECT_LE(tokens, 4) << small.dump(1);
  const std::string invariant = report.at("results").at(0).at("invariant");
  EXPECT_NE(found.out.find("paged check --kernel " + kWrong + " --invariant " + invariant +
                           " --case " + file("f.json") + " --seed 3"),
            std::string::npos)
      << found.out;
  const auto check = [&](const std::string& kernel) {
    return run_paged({"check", "--kernel", kernel, "--invariant", invariant, "--case",
                      file("f.json"), "--seed", "3"});
  };
  EXPECT_EQ(check(kWrong).exit_status, 1);
  const ProcessResult right = check(kRight);
  EXPECT_EQ(right.exit_status, 0) << right.out << right.err;
}

TEST_F(FuzzCommandTest, SaysHowToRepeatInWordsThatAShellTakes) {
  const std::string odd = file("my case's.json");
  const ProcessResult found =
      run_paged({"check", "--kernel", kWrong, "--time-limit", "7", "--memory-limit", "900",
                 "--fuzz", "30", "--seed", "3", "--fuzz-case", odd});
  ASSERT_EQ(found.exit_status, 1) << found.out << found.err;
  EXPECT_NE(found.out.find("--kernel " + kWrong + " --time-limit 7 --memory-limit 900 --invariant"),
            std::string::npos)
      << found.out;
  EXPECT_NE(found.out.find(" --case '" + file("my case") + "'\\''s.json'"), std::string::npos)
      << found.out;
}

TEST_F(FuzzCommandTest, FindsNothingWrongWithRightKernelsAndWritesNoCase) {
  for (const std::vector<std::string>& kernel :
       {std::vector<std::string>{"--kernel", kRight}, {"--stage", "5"}}) {
    std::vector<std::string> arguments = {"check", "--fuzz", "2", "--fuzz-case", file("f.json")};
    arguments.insert(arguments.end(), kernel.begin(), kernel.end());
    const ProcessResult result = run_paged(arguments);
    EXPECT_EQ(result.exit_status, 0) << result.out << result.err;
    EXPECT_NE(result.out.find("seed 1: "), std::string::npos) << result.out;
    EXPECT_EQ(result.out.find("seed 1: 0 random cases"), std::string::npos) << result.out;
  }
  EXPECT_TRUE(folder_.entries().empty());
}

/// Where other invariants run the kernel, those about execution need no runs of their own.
TEST(FuzzRequestTest, SparesRunsForFindingsAlone) {
  const std::unique_ptr<Device> device = make_device(Backend::cpu);
  const KernelUnderTest kernel(find_stage("1", Backend::cpu, Checking::checked), *device);
  CheckRequest request;
  CaseSpec spec;
  spec.head_size = 64;
  spec.block_size = 16;
  spec.num_heads = spec.num_kv_heads = 1;
  spec.seq_lens = {17};
  request.cases = {spec};
  const auto watched = [](const CheckPlan& plan) {
    return std::count_if(plan.tries.begin(), plan.tries.end(), [](const PlannedTry& planned) {
      return planned.invariant->needs_watching;
    });
  };
  const CheckPlan whole = plan_checks(kernel, request);
  request.runs_for_findings_alone = false;
  const CheckPlan spared = plan_checks(kernel, request);
  EXPECT_EQ(watched(whole), 4);
  EXPECT_EQ(watched(spared), 0);
  EXPECT_EQ(spared.tries.size() + 4, whole.tries.size());
  request.invariants = {"no-race"};
  EXPECT_EQ(watched(plan_checks(kernel, request)), 1) << "asked for by id, it is tried";
}

TEST_F(FuzzCommandTest, RefusesWhatItCannotDo) {
  const auto expect_refused = [](const std::vector<std::string>& options, const char* word) {
    std::vector<std::string> arguments = {"check", "--stage", "1"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const ProcessResult result = run_paged(arguments);
    EXPECT_EQ(result.exit_status, 2) << result.out;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_NE(result.err.find(word), std::string::npos) << result.err;
  };
  expect_refused({"--fuzz", "soon"}, "--fuzz");
  expect_refused({"--fuzz", "0"}, "--fuzz");
  expect_refused({"--fuzz-case", file("f.json")}, "--fuzz");
  expect_refused({"--fuzz", "1", "--case", "worked-example-1-gqa"}, "--case");
  expect_refused({"--fuzz", "1", "--fuzz-case", file("no/f.json")}, "no/f.json");
  expect_refused({"--fuzz", "1", "--invariant", "refrence"}, "'refrence'");
  expect_refused({"--fuzz", "1", "--fuzz-case", file("f.json"), "--json", file("./f.json")},
                 "--fuzz-case");
}

}  // namespace
}  // namespace paged
