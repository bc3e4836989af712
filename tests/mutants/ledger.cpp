#include "tests/mutants/ledger.h"

#include "stages/registry.h"
#include "tests/harness/input_file.h"
#include "tests/harness/invariant.h"
#include "tests/mutants/mutant.h"

#include <algorithm>
#include <regex>

namespace paged {
namespace {

/// A test and the part of its source that says which invariants it is about.
struct TestSource {
  std::string name;
  std::string text;
};

/// Rows of a table of planted mistakes, each a test: {Mistake::NAME, "NAME", {"id", ...}} or "id".
void add_planted(const std::string& source, const std::string& test,
                 std::vector<TestSource>& tests) {
  static const std::regex row(R"re(Mistake::\w+,\s*"(\w+)",\s*(\{[^}]*\}|"[^"]*"))re");
  for (std::sregex_iterator match(source.begin(), source.end(), row), end; match != end; ++match)
    tests.push_back({test + "/" + (*match)[1].str(), (*match)[2].str()});
}

/// The bodies of TEST() in a file, up to the next.
void add_bodies(const std::string& source, std::vector<TestSource>& tests) {
  static const std::regex head(R"re(TEST(?:_F)?\((\w+), (\w+)\))re");
  for (std::sregex_iterator match(source.begin(), source.end(), head), end; match != end;) {
    const std::string name = (*match)[1].str() + "." + (*match)[2].str();
    const auto begin = static_cast<std::size_t>(match->position());
    ++match;
    const std::size_t until =
        match == end ? source.size() : static_cast<std::size_t>(match->position());
    tests.push_back({name, source.substr(begin, until - begin)});
  }
}

/// The tests that plant a mistake and ask which invariant catches it.
std::vector<TestSource> tests_with_mistakes(const std::filesystem::path& project) {
  const std::filesystem::path folder = project / "tests/harness_tests";
  std::vector<TestSource> tests;
  add_planted(content_of_input(folder / "plain_stage.cpp"), "InvariantsTest.Catch", tests);
  add_planted(content_of_input(folder / "plain_cache_kernels.cpp"), "CacheInvariantsTest.Catch",
              tests);
  std::vector<TestSource> bodies;
  add_bodies(content_of_input(folder / "invariants_catch_mistakes_test.cpp"), bodies);
  for (TestSource& body : bodies)
    if (body.name.starts_with("ExecutionInvariantsTest.")) tests.push_back(std::move(body));
  return tests;
}

/// README.md of each folder under walkthroughs/, by the folder's name.
std::vector<TestSource> pages(const std::filesystem::path& project) {
  std::vector<TestSource> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(project / "walkthroughs"))
    if (entry.path().filename() == "README.md")
      found.push_back({std::filesystem::relative(entry.path().parent_path(), project).string(),
                       content_of_input(entry.path())});
  std::sort(found.begin(), found.end(),
            [](const TestSource& a, const TestSource& b) { return a.name < b.name; });
  return found;
}

std::vector<std::string> naming(const std::vector<TestSource>& sources, const std::string& mark,
                                const std::string& id) {
  std::vector<std::string> names;
  for (const TestSource& source : sources)
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
  const std::vector<TestSource> tests = tests_with_mistakes(project);
  const std::vector<TestSource> walkthroughs = pages(project);
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
