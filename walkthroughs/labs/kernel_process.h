// What the process that runs a submission's kernel is made of. It has no reference, no test case
// and no expected answer: it gets tensors, runs the kernel, and gives tensors back.
#pragma once
#include "kernels/device.h"
#include "kernels/paged_decode.h"

#include <memory>

namespace paged::lab {
/// The submission: launches its kernels.
void run_kernel(const paged_decode_args& args);
}  // namespace paged::lab

namespace paged::labs {

/// Descriptors that it talks to the harness through, and its own file, to be read.
inline constexpr int kRequests = 3;
inline constexpr int kAnswers = 4;
inline constexpr int kProgramFile = 5;

/// The CPU machine or the GPU, whichever the program was linked for.
std::unique_ptr<Device> prepare_device();

}  // namespace paged::labs
