// How long a submission's kernel takes on the GPU of this machine, beside the stage's own.
#pragma once
#include "walkthroughs/labs/kit.h"
#include "walkthroughs/labs/lab.h"
#include "walkthroughs/labs/submission.h"

#include <string>

namespace paged::labs {

/// One line: both times, or why there are none. The kernel runs in a process of its own, but with
/// the rights of its user: CUDA needs files and devices. Only for one's own code.
std::string gpu_times(const Kit& kit, const Lab& lab, const Submission& submission);

}  // namespace paged::labs
