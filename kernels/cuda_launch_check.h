// The one place where a launch's error becomes an exception.
#pragma once
#include <cuda_runtime.h>

#include <cstddef>

namespace paged {

/// Throws DeviceError naming the launch if status is an error.
void check_cuda_launch(cudaError_t status, const void* kernel, dim3 grid, dim3 block,
                       std::size_t shared_bytes);

}  // namespace paged
