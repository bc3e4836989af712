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
  explicit BuildError(const std::string& message) : std::runtime_error(message) {}
};

/// Compiles the submission's files alone, in place of the repository's, looks at what they need
/// (symbol_rules.h), and links them. Returns the program. Throws BuildError.
std::filesystem::path build_submission(const Kit& kit, const Lab& lab, const Submission& submission,
                                       const ScratchFolder& scratch, Rules rules = Rules::on);

/// The same for the GPU of this machine, to be timed. Throws BuildError.
std::filesystem::path build_for_gpu(const Kit& kit, const Lab& lab, const Submission& submission,
                                    const ScratchFolder& scratch);

}  // namespace paged::labs
