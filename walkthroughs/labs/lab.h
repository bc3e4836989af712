// A lab as its rubric describes it: what is missing, what is tried, what it is worth.
#pragma once
#include "kernels/counts.h"
#include "stages/instance_lists.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace paged::labs {

/// All points of a lab together.
inline constexpr int kMostPoints = 100;

/// A source file that a student works on.
struct LabFile {
  std::string path;   ///< from the repository's root: kernels/softmax.cuh
  std::string first;  ///< the hole begins behind the line `// [first]`; "": the whole file
  std::string last;   ///< and ends before the line `// [/last]`
};

/// The mistake of a lab in which one is to be found.
struct SourceEdit {
  std::string file;
  std::string text;
  std::string replacement;
  int nth = 1;  ///< which of the places where the text stands
};

/// Which of an invariant's cases a step is tried on. Each feature of decode attention is a step of
/// its own, so that a mistake in one costs the points of that one.
enum class CasesOfStep {
  plain,         ///< no feature: full attention of a cache of the query's own type
  fp8,           ///< an fp8 cache, and scales
  alibi,         ///< ALiBi slopes
  block_sparse,  ///< block-sparse attention
  any,           ///< all of them, also those with several features
};

/// An invariant and what keeping it is worth.
struct LabCheck {
  std::string id;
  std::string step;  ///< its name among the steps: the id, and the cases if they are not plain ones
  int points = 0;
  CasesOfStep cases = CasesOfStep::plain;
  std::vector<std::string> files;  ///< case files in place of the invariant's own
  std::vector<std::string> also;   ///< case files beside those
  bool alone = false;              ///< no other step waits for it
};

/// What stands in shared memory and a hole has to read: no right kernel has fewer requests than that
/// takes (possible_counts.h).
enum class SharedInput { none, query, logits, weights };

constexpr const char* name_of(SharedInput input) {
  constexpr const char* names[] = {"none", "query", "logits", "weights"};
  return names[static_cast<int>(input)];
}

/// The last step: no more than the stage's own predicted cost.
struct LabTransactions {
  int points = 0;
  std::vector<std::string> cases;  ///< names of cases
  std::vector<CountName> counts;   ///< which totals are compared
  SharedInput reads = SharedInput::none;
};

// [limits]
/// What one submission may use.
struct LabLimits {
  int compile_seconds = 60;
  int seconds = 120;         ///< for all checks
  int seconds_per_run = 10;  ///< for one run of the kernel; it takes far less than one
  int memory_mib = 1024;
};
/// The same of every lab.
inline constexpr int kCompilerMiB = 2048;      // of memory
inline constexpr int kCompilerMessageKiB = 8;  // of what it says; the rest is lost
inline constexpr int kPrintedMiB = 1;          // by the kernel; the rest is lost
inline constexpr int kShownKiB = 8;            // of what the kernel prints
inline constexpr int kSourceKiB = 256;         // of each file
// [/limits]

/// A topic of hints: a read of shared memory that nothing has written, a kind of no-uninitialised.
inline constexpr const char* kUnwrittenSharedMemory = "no-uninitialised: shared memory";

/// What is said to one kind of failure before the ladder of hints.
struct LabHint {
  std::vector<std::string> topics;  ///< of failure_words.h; it fits one of them
  std::string text;
};

/// One lab. The members are the keys of its file, which README.md of this folder describes.
struct Lab {
  std::string name;    ///< 02_thread_group_qk, bug-race
  std::string title;   ///< one line
  int stage = 0;       ///< number of the stage whose promises and cost are the target
  std::string source;  ///< that stage's file, without .cu
  /// The kernels that are compiled and tried. Fewer are compiled sooner.
  InstanceList instances = InstanceList::lab;
  std::vector<std::string> task;  ///< paragraphs
  std::vector<LabFile> files;
  std::vector<std::string> contract;     ///< lines of the comment in the hole
  std::vector<std::string> placeholder;  ///< code in the hole: compiles, and is wrong
  std::optional<SourceEdit> edit;
  std::vector<LabCheck> checks;  ///< from the simplest on
  LabTransactions transactions;
  std::vector<LabHint> hints_for;  ///< for one kind of failure each
  std::vector<std::string> hints;  ///< three, from vague to plain: the ladder
  LabLimits limits;

  bool has_hole() const { return !files.front().first.empty(); }
  int max_score() const;
};

/// The lab that a file describes. Throws InputError that says what is wrong with it.
Lab read_lab(const std::filesystem::path& file);

/// Names of all labs, in order.
std::vector<std::string> lab_names();

/// A lab by its name or, of those with a hole, its number ("2", "02"). Throws InputError that lists
/// the names there are, or that says what is wrong in its file.
Lab find_lab(const std::string& name);

/// The text of a source file, path from the repository's root.
std::string source_text(const std::string& path);

}  // namespace paged::labs
