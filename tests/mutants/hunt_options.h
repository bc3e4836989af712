// What `paged mutants` can be asked. `paged` knows it, too: nobody waits for the zoo to be built
// who asks for help, or has mistyped.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace paged {

struct HuntOptions {
  std::vector<std::string> groups, names, merged, written, checked;
  std::optional<std::string> json, invariant, case_name;
  std::optional<int> seeds_asked;
  int first_seed = 1;
  std::optional<int> quiz;  ///< a mutant by number, whose name is not told
  bool answer = false;      ///< but now it is
  bool list = false;
  bool no_mutants = false;
  bool no_recipes = false;
  bool ledger = false;

  /// Who asks for one mutant wants to know about it, not about false alarms.
  int seeds() const { return seeds_asked.value_or(names.empty() ? 1 : 0); }
};

/// Nothing if help was asked for: that is printed. Throws InputError for options that there are not
/// and for those that do not go together.
std::optional<HuntOptions> parse_hunt_options(const std::vector<std::string>& arguments);

}  // namespace paged
