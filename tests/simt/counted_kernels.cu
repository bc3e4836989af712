// Kernels of counted_kernels.h.
#include "kernels/cuda.h"
#include "kernels/phase.h"

namespace paged::PAGED_BACKEND {
namespace {

__global__ void strided_copy(int stride, const int* in, int* out) {
  const int block = blockIdx.x * blockDim.x;
  enter_phase(Phase::gather);
  const int value = in[stride * threadIdx.x];
  enter_phase(Phase::reduce);
  out[block + threadIdx.x] = value;
}

__global__ void skipped_rounds(const int* a, const int* b, int* out) {
  int sum = 0;
  for (int round = 0; round < 8; ++round) {
    if (round % 2 == static_cast<int>(threadIdx.x) / 16) sum += a[round * 32 + threadIdx.x];
    sum += b[round * 32 + threadIdx.x];
  }
  out[threadIdx.x] = sum;
}

__global__ void meeting_halves(const int* in, int* out) {
  const bool lower = threadIdx.x < 16;
  int sum = 0;
  for (int round = 0; round < (lower ? 2 : 3); ++round) {
    sum += in[threadIdx.x];
    __syncwarp(lower ? 0x0000FFFFU : 0xFFFF0000U);
  }
  out[threadIdx.x] = sum;
}

__global__ void barrier_and_shuffles(int* sums) {
  __shared__ int shared;
  if (threadIdx.x == 0) shared = 1;
  __syncthreads();
  int value = shared;
  for (int distance = 1; distance <= 4; distance *= 2)
    value += __shfl_xor_sync(0xFFFFFFFFU, value, distance);
  atomicAdd(&sums[blockIdx.x], value);
}

__global__ void stopped(const int* in, int* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] =
      in[blockIdx.x == gridDim.x - 1 ? 1 << 20 : threadIdx.x];
}

}  // namespace

void launch_strided_copy(int blocks, int threads, int stride, const int* in, int* out) {
  launch(strided_copy, dim3(blocks), dim3(threads), 0, Stream{}, stride, in, out);
}
void launch_skipped_rounds(const int* a, const int* b, int* out) {
  launch(skipped_rounds, dim3(1), dim3(32), 0, Stream{}, a, b, out);
}
void launch_meeting_halves(const int* in, int* out) {
  launch(meeting_halves, dim3(1), dim3(32), 0, Stream{}, in, out);
}
void launch_barrier_and_shuffles(int blocks, int* sums) {
  launch(barrier_and_shuffles, dim3(blocks), dim3(64), 0, Stream{}, sums);
}
void launch_stopped(int blocks, const int* in, int* out) {
  launch(stopped, dim3(blocks), dim3(32), 0, Stream{}, in, out);
}

}  // namespace paged::PAGED_BACKEND
