#include "kernels/reduction.cuh"
#include "tests/simt/schedule_kernels.h"

namespace paged::PAGED_BACKEND {
namespace {

__global__ void swap_warps_without_barrier(const int* values, int* results) {
  __shared__ int shared[64];
  shared[threadIdx.x] = -1;
  __syncthreads();
  shared[threadIdx.x] = values[threadIdx.x];
  const int lanes = warp_sum(1);  // no barrier: nothing waits for the other warp
  results[threadIdx.x] = shared[threadIdx.x ^ 32] + lanes - 32;
}

__global__ void order_of_arrival(int* num_arrived, int* order) {
  const int place = atomicAdd(num_arrived, 1);
  order[place] = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
}

__global__ void mix_with_barriers(int rounds, int* results) {
  int* const shared = reinterpret_cast<int*>(dynamic_shared);
  int value = static_cast<int>(threadIdx.x);
  for (int round = 0; round < rounds; ++round) {
    shared[threadIdx.x] = value;
    __syncthreads();
    value = 3 * value + shared[(threadIdx.x + 7 * round + 1) % blockDim.x];
    value += __shfl_xor_sync(kAllLanes, value, 1);
    __syncthreads();
  }
  results[threadIdx.x] = value;
}

}  // namespace

ScheduleKernels schedule_kernels() {
  ScheduleKernels kernels;
  kernels.swap_warps_without_barrier = [](const int* values, int* results) {
    launch(swap_warps_without_barrier, dim3(1), dim3(64), 0, Stream{}, values, results);
  };
  kernels.order_of_arrival = [](int blocks, int threads, int* num_arrived, int* order) {
    launch(order_of_arrival, dim3(blocks), dim3(threads), 0, Stream{}, num_arrived, order);
  };
  kernels.mix_with_barriers = [](int threads, int rounds, int* results) {
    launch(mix_with_barriers, dim3(1), dim3(threads), threads * sizeof(int), Stream{}, rounds,
           results);
  };
  return kernels;
}

}  // namespace paged::PAGED_BACKEND
