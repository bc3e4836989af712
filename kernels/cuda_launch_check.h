// What a launch on a GPU needs besides the launch itself: permission for its shared memory, and its
// error as an exception.
#pragma once
#include <cuda_runtime.h>

#include <cstddef>

namespace paged {

/// Asks for as much dynamic shared memory as a launch of the kernel is about to use, where that has
/// to be asked for. Allowed while a stream is being captured into a graph.
cudaError_t allow_shared_memory(const void* kernel, std::size_t shared_bytes);

/// Throws DeviceError naming the launch if status is an error.
void check_cuda_launch(cudaError_t status, const void* kernel, dim3 grid, dim3 block,
                       std::size_t shared_bytes);

}  // namespace paged
