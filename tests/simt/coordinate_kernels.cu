// Threads that write down where they are.
#include "kernels/cuda.h"
#include "tests/simt/sample_kernels.h"

namespace paged::PAGED_BACKEND {
namespace {

__global__ void linear_indices(int* results) {
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  results[block * threads + thread] = static_cast<int>(block * 1024 + thread);
}

}  // namespace

void add_coordinates(SampleKernels& kernels) {
  kernels.linear_indices = [](const unsigned(&grid)[3], const unsigned(&block)[3], int* results) {
    launch(linear_indices, dim3(grid[0], grid[1], grid[2]), dim3(block[0], block[1], block[2]), 0,
           Stream{}, results);
  };
}

}  // namespace paged::PAGED_BACKEND
