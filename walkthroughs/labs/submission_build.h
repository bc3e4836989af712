// From a submission to a program that runs its kernel.
#pragma once
#include "walkthroughs/labs/kit.h"
#include "walkthroughs/labs/lab.h"
#include "walkthroughs/labs/submission.h"

#include <filesystem>
#include <stdexcept>
#include <string>

namespace paged::labs {

/// A folder that is gone when this object is.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// The submission does not compile, or is more than a kernel. The first line says it all; what the
/// compiler said follows.
class BuildError : public std::runtime_error {
 public:
  /// Whether the sources alone decided it, or also the clock, memory, a disk, or a tool that
  /// failed.
  enum class Because { of_sources, by_chance };
  explicit BuildError(const std::string& message, Because why = Because::of_sources)
      : std::runtime_error(message), because(why) {}
  Because because;
};

/// Compiles the submission's files alone, in place of the repository's, looks at what they need
/// (symbol_rules.h), and links them. Returns the program. Throws BuildError.
std::filesystem::path build_submission(const Kit& kit, const Lab& lab, const Submission& submission,
                                       const ScratchFolder& scratch, Rules rules = Rules::on);

/// The same for the GPU of this machine, to be timed. Throws BuildError.
std::filesystem::path build_for_gpu(const Kit& kit, const Lab& lab, const Submission& submission,
                                    const ScratchFolder& scratch);

}  // namespace paged::labs
