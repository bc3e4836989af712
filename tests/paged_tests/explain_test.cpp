// paged explain, and that docs/invariants.md is what it prints.
#include "tests/harness/invariant.h"
#include "tests/paged_tests/child_process.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace paged {
namespace {

using testing::ProcessResult;
using testing::run_paged;

TEST(ExplainTest, AloneListsEveryInvariantWithItsStatement) {
  const ProcessResult result = run_paged({"explain"});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  for (const Invariant& invariant : invariants()) {
    EXPECT_NE(result.out.find(invariant.id), std::string::npos) << invariant.id;
    EXPECT_NE(result.out.find(invariant.statement), std::string::npos) << invariant.id;
  }
}

TEST(ExplainTest, ShowsAllThereIsToKnow) {
  const ProcessResult result = run_paged({"explain", "reference"});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  for (const char* part :
       {"The output equals the double-precision reference", "Formula", "How it is tried", "Catches",
        "How to read its failure", "Worked example",
        "A failure, where the logits are not multiplied by scale"})
    EXPECT_NE(result.out.find(part), std::string::npos) << part << " is not in " << result.out;
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
}

TEST(ExplainTest, ThePageOfInvariantsIsUpToDate) {
  std::ifstream file(PAGED_INVARIANTS_PAGE);
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  const ProcessResult result = run_paged({"explain", "--markdown"});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_EQ(result.out, page) << "write it again: paged explain --markdown > docs/invariants.md";
  for (const Invariant& invariant : invariants())
    EXPECT_NE(page.find("## " + invariant.id + "\n"), std::string::npos) << invariant.id;
}

TEST(ExplainTest, RefusesUnknownInvariantsAndAPageOfOne) {
  const ProcessResult unknown = run_paged({"explain", "refrence"});
  EXPECT_EQ(unknown.exit_status, 2);
  EXPECT_EQ(unknown.out, "");
  EXPECT_NE(unknown.err.find("'refrence'"), std::string::npos) << unknown.err;
  EXPECT_NE(unknown.err.find("tail-isolation"), std::string::npos) << unknown.err;
  const ProcessResult both = run_paged({"explain", "reference", "--markdown"});
  EXPECT_EQ(both.exit_status, 2);
  EXPECT_NE(both.err.find("leave out 'reference'"), std::string::npos) << both.err;
}

}  // namespace
}  // namespace paged
