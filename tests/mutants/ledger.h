// The ledger: each invariant with the tests that fail if it no longer catches anything, the mutants
// that it catches, the stages that promise it and the walkthroughs that treat it.
#pragma once
#include "tests/mutants/mutant_report.h"

#include <filesystem>
#include <string>
#include <vector>

namespace paged {

/// One invariant's partners.
struct LedgerEntry {
  std::string invariant;
  std::vector<std::string> promised_by;   ///< stage numbers
  std::vector<std::string> broken_by;     ///< stage numbers, as stated
  std::vector<std::string> tests;         ///< with a mistake planted that it must catch
  std::vector<std::string> mutants;       ///< that it catches first
  std::vector<std::string> meant;         ///< mutants that it is there for, caught first by another
  std::vector<std::string> walkthroughs;  ///< folders under walkthroughs/ whose README.md names it
};

/// In the order of invariants(). Tests are found in the sources of tests/harness_tests,
/// walkthroughs in the pages, under `project`, the root of the source tree.
std::vector<LedgerEntry> ledger_of(const MutantReport& report,
                                   const std::filesystem::path& project);

/// One line for each partner that an invariant lacks: a stage, a test, a mutant; a walkthrough, as
/// soon as any page names an invariant.
std::vector<std::string> missing_partners(const std::vector<LedgerEntry>& ledger);

/// As a table in Markdown.
std::string ledger_table(const std::vector<LedgerEntry>& ledger);

}  // namespace paged
