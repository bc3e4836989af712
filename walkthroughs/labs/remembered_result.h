// The result of a folder's last check, so that asking again, or for a hint, compiles nothing.
#pragma once
#include "walkthroughs/labs/kit.h"
#include "walkthroughs/labs/lab.h"
#include "walkthroughs/labs/submission.h"
#include "walkthroughs/labs/trial.h"

#include <filesystem>
#include <optional>
#include <string>

namespace paged::labs {

/// Lies in the build folder, for `check` alone: `grade` tries everything and remembers nothing. The
/// last results of some hundreds of folders are kept, for a month. Where something cannot be read
/// or written, nothing is remembered.
class RememberedResult {
 public:
  /// @param options  whatever else the result depends on
  RememberedResult(const std::filesystem::path& folder, const Kit& kit, const Lab& lab,
                   const Submission& submission, const std::string& options);

  /// The last result, if the submission, the sources and the build are what they were then.
  std::optional<TrialOutcome> read() const;
  /// Not of an outcome that chance had a part in (TrialOutcome::by_chance): nothing is written
  /// then.
  void write(const TrialOutcome& outcome) const;

 private:
  std::filesystem::path file_;
  std::string state_;  ///< of all that the result depends on, made short; "" if it is not known
};

}  // namespace paged::labs
