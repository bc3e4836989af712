// One planted race for every backend, to see what the CPU machine and compute-sanitizer make of it:
// the mistake that stage 4 would make without the barrier between its two uses of one buffer.
#include "kernels/cuda.h"

namespace paged::PAGED_BACKEND {
namespace {

__global__ void reuse_without_barrier(float* values) {
  float* const shared = reinterpret_cast<float*>(dynamic_shared);
  shared[threadIdx.x] = values[threadIdx.x];  // the weights ...
  __syncthreads();
  float sum = 0.0F;
  for (unsigned i = 0; i < blockDim.x; ++i) sum += shared[i];
  // Here a barrier is missing.
  shared[threadIdx.x] = sum;  // ... and then partial sums in the same memory
  __syncthreads();
  values[threadIdx.x] = shared[blockDim.x - 1 - threadIdx.x];
}

}  // namespace

/// values: [128] on this backend's device.
void launch_planted_race(float* values) {
  launch(reuse_without_barrier, dim3(1), dim3(128), 128 * sizeof(float), Stream{}, values);
}

}  // namespace paged::PAGED_BACKEND
