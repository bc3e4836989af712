// `paged mutants`: what it writes for programs, and that it refuses and complains. That the zoo is
// caught is tested by the zoo itself (tests/mutants/CMakeLists.txt).
#include "tests/harness/output_file.h"
#include "tests/harness_tests/temporary_folder.h"
#include "tests/paged_tests/child_process.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace paged {
namespace {

using nlohmann::json;
using testing::content_of;
using testing::ProcessResult;
using testing::run_paged;
using testing::TemporaryFolder;

class MutantsCommandTest : public ::testing::Test {
 protected:
  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  TemporaryFolder folder_;
};

TEST_F(MutantsCommandTest, WritesTheContractsKeys) {
  const ProcessResult result =
      run_paged({"mutants", "--mutant", "qk-page-le", "--seeds", "0", "--json", file("m.json")});
  EXPECT_EQ(result.exit_status, 0) << result.out << result.err;
  const json report = json::parse(content_of(folder_ / "m.json"));
  EXPECT_EQ(report.at("total"), 1);
  EXPECT_EQ(report.at("caught"), 1);
  EXPECT_EQ(report.at("false_alarms"), 0);
  const json& mutant = report.at("mutants").at(0);
  EXPECT_EQ(mutant.at("name"), "qk-page-le");
  EXPECT_EQ(mutant.at("caught_by"), "in-bounds");
  EXPECT_EQ(mutant.at("family"), "normal");
  EXPECT_NE(mutant.at("mistake"), "");
  ASSERT_GT(report.at("recipes").size(), 1U);
  EXPECT_EQ(report.at("recipes").at(0).at("name"), "this harness");
  for (const json& recipe : report.at("recipes")) {
    EXPECT_EQ(recipe.at("total"), 1);
    EXPECT_TRUE(recipe.at("caught").is_number_integer());
  }
}

/// Two results of one mutant each, put together into a document and compared with it.
TEST_F(MutantsCommandTest, MergesResultsAndKeepsDocumentsTrue) {
  for (const char* name : {"qk-page-le", "qk-no-scale"})
    ASSERT_EQ(run_paged({"mutants", "--mutant", name, "--seeds", "0", "--no-recipes", "--json",
                         file(std::string(name) + ".json")})
                  .exit_status,
              0);
  const std::string document =
      folder_.write("d.md", "# A\n<!-- mutants: zoo -->\n<!-- end -->\nB\n");
  const std::vector<std::string> merge = {"mutants", "--merge", file("qk-page-le.json"),
                                          file("qk-no-scale.json")};
  const auto with = [&](const char* option) {
    std::vector<std::string> arguments = merge;
    arguments.insert(arguments.end(), {option, document});
    return run_paged(arguments);
  };
  EXPECT_EQ(with("--check-markdown").exit_status, 1) << "the document has no table yet";
  EXPECT_EQ(with("--write-markdown").exit_status, 0);
  EXPECT_EQ(with("--check-markdown").exit_status, 0);
  const std::string text = content_of(document);
  EXPECT_TRUE(text.starts_with("# A\n")) << text;
  EXPECT_TRUE(text.ends_with("<!-- end -->\nB\n")) << text;
  for (const char* name : {"| qk-page-le |", "| qk-no-scale |"})
    EXPECT_NE(text.find(name), std::string::npos) << text;
}

TEST_F(MutantsCommandTest, TellsOfOneMutantInFull) {
  const ProcessResult result =
      run_paged({"mutants", "--mutant", "pv-warps-one-step-short", "--invariant", "reference",
                 "--case", "worked-example-3-address-walk"});
  EXPECT_EQ(result.exit_status, 0) << result.out << result.err;
  for (const char* part :
       {"pv-warps-one-step-short: the sum over warps leaves out its last step",
        "kernels/vector_pv.cuh", "  -   for (int half = kThreads / 32 / 2; half >= 1; half /= 2) {",
        "  +   for (int half = kThreads / 32 / 2; half > 1; half /= 2) {", "Caught by reference",
        "token 16 (logical block 1, offset 0", "likely cause: the value of token 16 is not added",
        "Without the edit, stage 4 keeps reference on that case.", "Others' recipes"})
    EXPECT_NE(result.out.find(part), std::string::npos) << part << " is missing in\n" << result.out;
}

/// The report alone, without what gives the mistake away; that on request.
TEST_F(MutantsCommandTest, AQuizTellsTheAnswerOnRequestAlone) {
  const ProcessResult asked = run_paged({"mutants", "--quiz", "3"});
  const ProcessResult answered = run_paged({"mutants", "--quiz", "3", "--answer"});
  EXPECT_EQ(asked.exit_status, 0) << asked.out << asked.err;
  EXPECT_EQ(answered.exit_status, 0) << answered.out << answered.err;
  const std::string name = answered.out.substr(0, answered.out.find(':'));
  EXPECT_NE(run_paged({"mutants", "--list"}).out.find("\n" + name + " "), std::string::npos)
      << name;
  EXPECT_EQ(asked.out.find(name), std::string::npos) << asked.out;
  for (const char* part : {"likely cause: ", "  + ", "what to do: "})
    EXPECT_EQ(asked.out.find(part), std::string::npos) << asked.out;
  const std::size_t caught = answered.out.find("Caught by ");
  ASSERT_NE(caught, std::string::npos) << answered.out;
  const std::string who = answered.out.substr(caught, answered.out.find('(', caught) - caught);
  EXPECT_NE(asked.out.find(who), std::string::npos) << who << " is not in " << asked.out;
  EXPECT_NE(asked.out.find("--quiz 3 --answer"), std::string::npos) << asked.out;
  EXPECT_EQ(run_paged({"mutants", "--answer"}).exit_status, 2);
  EXPECT_EQ(run_paged({"mutants", "--quiz", "3", "--mutant", "qk-page-le"}).exit_status, 2);
}

/// What is left out altogether is shown as such, and what catches a mutant later is told, too.
TEST_F(MutantsCommandTest, TellsOfALostLineAndOfTheInvariantThatIsMeant) {
  const ProcessResult result = run_paged(
      {"mutants", "--mutant", "qk-page-le", "--mutant", "qk-no-query-barrier", "--no-recipes"});
  EXPECT_EQ(result.exit_status, 0) << result.out << result.err;
  for (const char* part :
       {"Caught by in-bounds", "What is there for this mistake catches it by itself",
        "  -   __syncthreads();", "  + (nothing)"})
    EXPECT_NE(result.out.find(part), std::string::npos) << part << " is missing in\n" << result.out;
}

/// Unused slots add exp(0 - 12) to the sum there, which no bound can tell from rounding.
TEST_F(MutantsCommandTest, AMutantThatIsNotCaughtFails) {
  const ProcessResult result = run_paged({"mutants", "--mutant", "softmax-sum-of-page", "--case",
                                          "worked-example-3-address-walk", "--invariant",
                                          "probability-mass", "--no-recipes"});
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_NE(result.out.find("WRONG: it is not caught by probability-mass"), std::string::npos)
      << result.out;
}

TEST_F(MutantsCommandTest, RefusesWrongRequests) {
  const ProcessResult group = run_paged({"mutants", "--group", "qq"});
  EXPECT_EQ(group.exit_status, 2);
  EXPECT_NE(group.err.find("'qq'"), std::string::npos) << group.err;
  EXPECT_NE(group.err.find("softmax"), std::string::npos) << group.err;
  EXPECT_EQ(run_paged({"mutants", "--mutant", "nobody"}).exit_status, 2);
  EXPECT_EQ(run_paged({"mutants", "--invariant", "reference"}).exit_status, 2);
  EXPECT_EQ(run_paged({"mutants", "--mutant", "qk-page-le", "--invariant", "no"}).exit_status, 2);
  const ProcessResult sizes =
      run_paged({"mutants", "--mutant", "qk-page-le", "--case", "worked-example-1-gqa"});
  EXPECT_EQ(sizes.exit_status, 2);
  EXPECT_NE(sizes.err.find("worked-example-1-gqa"), std::string::npos) << sizes.err;
  EXPECT_EQ(run_paged({"mutants", "--sneeds", "1"}).exit_status, 2);
  EXPECT_EQ(run_paged({"mutants", "--merge", file("none.json")}).exit_status, 2);
}

/// One line with the names that are like it, and where all are; also beside a name that is right.
TEST_F(MutantsCommandTest, AWrongNameIsToldItsNeighbours) {
  struct Wrong {
    const char* name;
    const char* near;
  };
  for (const Wrong& wrong :
       {Wrong{"softmax-sum-el", "softmax-sum-le"}, Wrong{"no-table", "qk-no-table"},
        Wrong{"QK-no-scale", "qk-no-scale"}}) {
    const ProcessResult result =
        run_paged({"mutants", "--mutant", "qk-page-le", "--mutant", wrong.name});
    EXPECT_EQ(result.exit_status, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    for (const std::string& part :
         {"'" + std::string(wrong.name) + "'", std::string("did you mean "),
          std::string(wrong.near), std::string("paged mutants --list")})
      EXPECT_NE(result.err.find(part), std::string::npos) << part << " not in " << result.err;
  }
  const ProcessResult unlike = run_paged({"mutants", "--mutant", "zzzzzzzz"});
  EXPECT_EQ(unlike.err.find("did you mean"), std::string::npos) << unlike.err;
  EXPECT_NE(unlike.err.find("paged mutants --list"), std::string::npos) << unlike.err;
}

TEST_F(MutantsCommandTest, ListsNamesAndMistakes) {
  const ProcessResult all = run_paged({"mutants", "--list"});
  EXPECT_EQ(all.exit_status, 0) << all.err;
  EXPECT_GT(std::count(all.out.begin(), all.out.end(), '\n'), 150);
  EXPECT_NE(all.out.find("\nqk-no-scale "), std::string::npos) << all.out;
  EXPECT_NE(all.out.find(" the softmax scale is dropped\n"), std::string::npos) << all.out;
  const ProcessResult group = run_paged({"mutants", "--list", "--group", "pv"});
  EXPECT_EQ(group.out.find("\nqk-"), std::string::npos) << group.out;
  EXPECT_NE(group.out.find("\npv-no-table "), std::string::npos) << group.out;
  EXPECT_EQ(run_paged({"mutants", "--list", "--mutant", "qk-no-scale"}).exit_status, 2);
}

/// What is no report, and a document that is not there: one line, before anything is hunted.
TEST_F(MutantsCommandTest, RefusesWhatIsNoReportAndNoDocument) {
  folder_.write("text", "hello");
  folder_.write("other", "{}");
  using Words = std::vector<std::string>;
  for (const auto& [arguments, part] : std::vector<std::pair<Words, std::string>>{
           {{"--merge", file("text")}, "--merge '"},
           {{"--merge", file("other")}, "is not what `paged mutants --json FILE`"},
           {{"--check-markdown", file("none.md")}, "none.md"}}) {
    std::vector<std::string> all = {"mutants"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const ProcessResult result = run_paged(all);
    EXPECT_EQ(result.exit_status, 2) << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_NE(result.err.find(part), std::string::npos) << result.err;
  }
}

TEST_F(MutantsCommandTest, HelpIsItsOwn) {
  const ProcessResult result = run_paged({"mutants", "--help"});
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_NE(result.out.find("--group"), std::string::npos) << result.out;
}

}  // namespace
}  // namespace paged
