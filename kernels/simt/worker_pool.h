// The OS threads of the CPU machine.
#pragma once
#include "kernels/simt/launch.h"

namespace paged::simt {

/// How many OS threads launches are spread over, at least 1. The default is the number of hardware
/// threads, at most 24. What kernels compute and what is found does not depend on it.
void set_worker_count(int count);
int worker_count();

/// The address of the kernel that was launched last, or null.
const void* latest_kernel();

}  // namespace paged::simt
