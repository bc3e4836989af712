// Kernels with one mistake each that the CPU machine must find, and clean look-alikes in which it
// must find nothing.
#pragma once
#include "kernels/device.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace paged {

/// What a mistake must be reported as. The line is the one that bears the comment
/// "// mistake: <name of the planted kernel>".
struct ExpectedFinding {
  FindingKind kind;
  std::string kernel;
  std::string in_message;  ///< a part of the message
  bool has_line = true;
};

struct PlantedKernel {
  std::string name;
  std::string file;  ///< of its source
  void (*run)(Device& device);
  std::vector<ExpectedFinding> expected;       ///< empty for a clean one
  bool needs_checker = false;                  ///< unchecked, it is not found and may do harm
  std::optional<FindingKind> looks_like = {};  ///< of a clean one: the mistake that it resembles
};

namespace cpu_checked {
std::vector<PlantedKernel> planted_kernels();
void launch_with_too_much_static_shared(int* result);
}  // namespace cpu_checked
namespace cpu_unchecked {
std::vector<PlantedKernel> planted_kernels();
}
namespace cuda {
std::vector<PlantedKernel> planted_kernels();
/// Of each thread. Before anything else is done with the device.
void set_stack_limit(std::size_t bytes);
}  // namespace cuda

}  // namespace paged
