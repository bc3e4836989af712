// Launching a kernel on a GPU. For nvcc; g++ sees kernels/simt/launch.h instead.
#pragma once
#include "kernels/cuda_launch_check.h"
#include "kernels/paged_decode.h"
#include "kernels/phase.h"

#include <cuda_runtime.h>

#include <cstddef>
#include <type_traits>
#include <utility>

/// The dynamic shared memory of a launch.
extern __shared__ __align__(16) unsigned char dynamic_shared[];

namespace paged::PAGED_BACKEND {

using Stream = cudaStream_t;

/// The stream of a call's arguments.
inline Stream stream_of(const paged_decode_args& args) {
  return static_cast<cudaStream_t>(args.stream);
}

/// kernel<<<grid, block, shared_bytes, stream>>>(arguments...).
/// Throws DeviceError for a launch that the device refuses, with nothing run.
template <typename... Parameters, typename... Arguments>
void launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, std::size_t shared_bytes,
            Stream stream, Arguments&&... arguments) {
  const auto check = [&](cudaError_t status) {
    check_cuda_launch(status, reinterpret_cast<const void*>(kernel), grid, block, shared_bytes);
  };
  check(allow_shared_memory(reinterpret_cast<const void*>(kernel), shared_bytes));
  kernel<<<grid, block, shared_bytes, stream>>>(
      static_cast<std::decay_t<Parameters>>(std::forward<Arguments>(arguments))...);
  check(cudaGetLastError());
}

/// The calling thread is at this step of the algorithm from here on. Costs nothing on a GPU.
__device__ __forceinline__ void enter_phase(Phase) {}

}  // namespace paged::PAGED_BACKEND
