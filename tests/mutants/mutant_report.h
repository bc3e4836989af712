// What `paged mutants` says: for people, for programs, and for the documents that quote it.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include <iosfwd>
#include <string>
#include <vector>

namespace paged {

/// One mutant as it stands in JSON, whether it was hunted now or read from a file.
struct MutantRow {
  std::string name, group, mistake, proof;
  std::string meant;  ///< the invariant that is there for it, if one is
  std::string caught_by, invariant, case_name, family, message;
  int cases = 0;
  std::string complaint;
  bool for_recipes = false;  ///< decode attention: recipes have nothing to say about caches
  std::vector<int> bugs;
  std::vector<std::string> causes;   ///< likely causes that were named where weights are wrong
  std::string why_no_cause;          ///< why the weights show nothing
  std::vector<std::string> recipes;  ///< names of those that catch it
  std::string story = {};            ///< for people who asked for this mutant; not in JSON
};

/// A recipe, told to people.
struct RecipeRow {
  std::string name, who, inputs, acceptance;
};

struct MutantReport {
  std::vector<MutantRow> mutants;
  std::vector<RecipeRow> recipes;
  std::vector<std::string> false_alarms;  ///< one line each
  int seeds = 0;                          ///< that the right stages were tried with

  /// Those that are not equivalent.
  std::vector<MutantRow> hunted() const;
  bool all_well() const;
  /// Adds what another part of the zoo gave.
  void merge(const MutantReport& other);
};

/// The keys of docs/command_line.md.
nlohmann::json json_of(const MutantReport& report);
MutantReport report_of(const nlohmann::json& json);

void print(const MutantReport& report, std::ostream& stream);

/// Fills the blocks `<!-- mutants: NAME -->` of a document (tests/harness/marked_blocks.h): NAME is
/// "zoo", "equivalents", "recipes", "bugs", "causes", "no-causes" or "ledger". Throws InputError
/// for another name and if there is no such block.
std::string with_tables(const std::string& file, const std::string& markdown,
                        const MutantReport& report);

}  // namespace paged
