// The zoo: kernels broken on purpose, as data.
#pragma once
#include "tests/mutants/mutant_kernels.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace paged {

/// Whether a list holds a value.
inline bool contains(const std::vector<std::string>& list, const std::string& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

/// A small edit of one source file that makes one realistic mistake. The members are the keys of
/// the files tests/mutants/*.json, which docs/mutants.md describes.
struct Mutant {
  std::string name;     ///< lower case with dashes, unique
  std::string group;    ///< the file that it stands in, without .json
  std::string mistake;  ///< one sentence, without a full stop
  std::string file;     ///< source file that is edited
  std::string text, replacement;
  int nth = 0;         ///< which place of the text in the file is meant; 0: the only one
  std::string source;  ///< stage file, or cache_operations, that is compiled with the edit
  InstanceList instances = InstanceList::mutant;  ///< what it is compiled for
  /// Who may be the first to catch it: ids of invariants, or of findings (finding_id()).
  std::vector<std::string> expected;
  /// The invariant that is there for this mistake, which must catch it by itself; "" if none is
  /// there for it alone.
  std::string meant;
  /// Likely causes (likely_cause.h) that are right for it where its weights are wrong; empty if
  /// they never are.
  std::vector<std::string> causes;
  std::string why_no_cause;  ///< why the weights show nothing, or nothing that points at it
  /// Beside why_no_cause: some of its weights are wrong all the same, and nothing explains them.
  bool has_unexplained_weights = false;
  std::vector<int> bugs;  ///< known bugs of real kernels that it repeats, numbers of bugs.json
  std::string proof;      ///< why nothing can catch it; "" for all but equivalent mutants
  const MutantKernel* kernel = nullptr;
};

/// The folder of the source tree.
std::filesystem::path source_root();

/// Groups in the order in which they are shown: names of the files without .json.
const std::vector<std::string>& mutant_groups();

/// The mutants of a group. Throws InputError for JSON that is not as it should be.
std::vector<Mutant> read_mutants(const std::string& group);

/// A public report of what went wrong in some paged or decode kernel.
struct KnownBug {
  int number = 0;
  std::string what;
  std::string instead;  ///< what meets it where no mutant can repeat it; "" for the others
};

/// Those of tests/mutants/bugs.json.
std::vector<KnownBug> read_known_bugs();

}  // namespace paged
