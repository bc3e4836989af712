#include "tests/mutants/ledger.h"

#include "stages/registry.h"
#include "tests/harness/input_file.h"
#include "tests/harness/invariant.h"
#include "tests/mutants/mutant.h"

#include <algorithm>
#include <regex>

namespace paged {
namespace {

/// A test or a page, and the text that says which invariants it is about.
struct Source {
  std::string name;
  std::string text;
};

/// A table of planted mistakes, and the test that has each of its rows for a parameter.
struct PlantedTable {
  const char* file;  ///< under tests/harness_tests
  const char* test;
};
constexpr PlantedTable kPlantedTables[] = {
    {"plain_stage.cpp", "InvariantsTest.Catch"},
    {"plain_cache_kernels.cpp", "CacheInvariantsTest.Catch"},
    {"careless_mistakes.cpp", "ExecutionInvariantsTest.Catch"}};

/// Of each row, {ENUM::NAME, "NAME", {"id", ...}} or "id" at the end, one test.
std::vector<Source> tests_with_mistakes(const std::filesystem::path& project) {
  static const std::regex row(R"re(\{\w+::(\w+),\s*"(\w+)",\s*(\{[^}]*\}|"[^"]*"))re");
  std::vector<Source> tests;
  for (const auto& [file, test] : kPlantedTables) {
    const std::string source = content_of_input(project / "tests/harness_tests" / file);
    for (std::sregex_iterator match(source.begin(), source.end(), row), end; match != end; ++match)
      tests.push_back({std::string(test) + "/" + (*match)[2].str(), (*match)[3].str()});
  }
  return tests;
}

/// README.md of each folder under walkthroughs/, by the folder's name.
std::vector<Source> pages(const std::filesystem::path& project) {
  std::vector<Source> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(project / "walkthroughs"))
    if (entry.path().filename() == "README.md")
      found.push_back({std::filesystem::relative(entry.path().parent_path(), project).string(),
                       content_of_input(entry.path())});
  std::sort(found.begin(), found.end(),
            [](const Source& a, const Source& b) { return a.name < b.name; });
  return found;
}

std::vector<std::string> naming(const std::vector<Source>& sources, const std::string& mark,
                                const std::string& id) {
  std::vector<std::string> names;
  for (const Source& source : sources)
    if (source.text.find(mark + id + mark) != std::string::npos) names.push_back(source.name);
  return names;
}

std::string list_of(const std::vector<std::string>& names, const std::string& around = "") {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + around + name + around;
  return text;
}

}  // namespace

std::vector<LedgerEntry> ledger_of(const MutantReport& report,
                                   const std::filesystem::path& project) {
  const std::vector<Source> tests = tests_with_mistakes(project);
  const std::vector<Source> walkthroughs = pages(project);
  std::vector<LedgerEntry> ledger;
  for (const Invariant& invariant : invariants()) {
    LedgerEntry entry;
    entry.invariant = invariant.id;
    for (const Stage& stage : stages(Backend::cpu)) {
      const std::string number = std::to_string(stage.number);
      if (contains(stage.promises, invariant.id)) entry.promised_by.push_back(number);
      for (const BrokenPromise& broken : stage.breaks)
        if (broken.invariant == invariant.id) entry.broken_by.push_back(number);
    }
    entry.tests = naming(tests, "\"", invariant.id);
    entry.walkthroughs = naming(walkthroughs, "`", invariant.id);
    for (const MutantRow& row : report.hunted()) {
      if (row.caught_by == invariant.id)
        entry.mutants.push_back(row.name);
      else if (row.meant == invariant.id)
        entry.meant.push_back(row.name);
    }
    ledger.push_back(std::move(entry));
  }
  return ledger;
}

std::vector<std::string> missing_partners(const std::vector<LedgerEntry>& ledger) {
  const bool any_page = std::any_of(ledger.begin(), ledger.end(), [](const LedgerEntry& entry) {
    return !entry.walkthroughs.empty();
  });
  std::vector<std::string> missing;
  for (const LedgerEntry& entry : ledger) {
    const auto require = [&](bool there, const char* partner) {
      if (!there) missing.push_back(entry.invariant + " has no " + partner);
    };
    require(!entry.promised_by.empty() || !entry.broken_by.empty(), "stage that states it");
    require(!entry.tests.empty(), "test with a mistake that it must catch");
    require(!entry.mutants.empty() || !entry.meant.empty(), "mutant");
    require(!any_page || !entry.walkthroughs.empty(), "walkthrough that names it");
  }
  return missing;
}

std::string ledger_table(const std::vector<LedgerEntry>& ledger) {
  std::string text =
      "| invariant | stages that promise it | tests with a mistake planted for it | mutants "
      "that it catches first | mutants meant for it, caught earlier | treated in |\n"
      "| --- | --- | --- | --- | --- | --- |\n";
  for (const LedgerEntry& entry : ledger) {
    std::string walkthroughs;
    for (const std::string& folder : entry.walkthroughs)
      walkthroughs += (walkthroughs.empty() ? "[" : ", [") + folder.substr(folder.find('/') + 1) +
                      "](../" + folder + "/README.md)";
    const std::string broken =
        entry.broken_by.empty() ? "" : "; broken by " + list_of(entry.broken_by);
    text += "| [`" + entry.invariant + "`](invariants.md#" + entry.invariant + ") | " +
            list_of(entry.promised_by) + broken + " | " + list_of(entry.tests, "`") + " | " +
            list_of(entry.mutants) + " | " + list_of(entry.meant) + " | " + walkthroughs + " |\n";
  }
  return text;
}

}  // namespace paged
