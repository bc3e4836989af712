// What the build has laid ready: with what, and to what, a submission is compiled and linked.
#pragma once
#include <string>
#include <vector>

namespace paged::labs {

/// Commands without the files that are compiled or linked.
struct Kit {
  std::string root;  ///< of the source tree
  /// "compiler", flags: those of kernel files for the checked CPU machine, and the precompiled
  /// vocabulary.
  std::vector<std::string> compile;
  std::vector<std::string> link;       ///< what stands behind the submission's object
  std::string v1;                      ///< stage 4's object, which lab 5 has besides
  std::vector<std::string> cuda;       ///< nvcc and flags, for compiling; empty: no CUDA
  std::vector<std::string> cuda_link;  ///< what stands behind the object
  std::string cuda_v1;                 ///< as v1, for the GPU
};

/// Reads what the build has written. Throws InputError that says how to build it.
Kit read_kit();

}  // namespace paged::labs
