// A stage with one wrong argument, to show what the report of a failure looks like.
#pragma once
#include "stages/stage.h"

#include <string>
#include <vector>

namespace paged {

/// A mistake that wrong arguments make, and the invariant that it is shown for.
struct SpoiltKernel {
  std::string invariant;
  std::string mistake;  ///< "the logits are not multiplied by scale"
  Stage stage;          ///< of the CPU machine, checked
};

/// At most one for each invariant; not every mistake can be made with arguments alone.
const std::vector<SpoiltKernel>& spoilt_kernels();

}  // namespace paged
