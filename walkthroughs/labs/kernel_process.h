// What the process that runs a submission's kernel is made of. It has no reference, no test case and
// no expected answer: it gets tensors, runs the kernel, and gives tensors back.
#pragma once
#include "kernels/device.h"
#include "kernels/paged_decode.h"

#include <memory>

namespace paged::lab {
/// The submission: launches its kernels.
void run_kernel(const paged_decode_args& args);
}  // namespace paged::lab

namespace paged::labs {

/// Descriptors that it talks to the harness through.
inline constexpr int kRequests = 3;
inline constexpr int kAnswers = 4;

/// A device ready to run what nobody trusts.
struct PreparedDevice {
  std::unique_ptr<Device> device;
  bool filtered = false;  ///< the system-call filter is on
};

/// The CPU machine or the GPU, whichever the program was linked for.
PreparedDevice prepare_device();

}  // namespace paged::labs
