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

__global__ void async_copy(int num_reading, const int* in, int* out) {
  __shared__ __align__(16) int shared[128];
  const int lane = threadIdx.x;
  cp_async_zero_fill<16>(&shared[4 * lane], &in[4 * lane], lane < num_reading ? 16 : 0);
  cp_async_wait_all();
  __syncthreads();
  out[lane] = shared[lane];
}

__global__ void bulk_copy(unsigned bytes, const int* in, int* out) {
  __shared__ __align__(128) int shared[1024];
  __shared__ Mbarrier arrived;
  const int lane = threadIdx.x;
  if (lane == 0) {
    mbarrier_init(&arrived, 1);
    fence_proxy_async();
  }
  __syncthreads();
  if (lane == 0) {
    mbarrier_arrive_expect_tx(&arrived, bytes);
    cp_async_bulk(shared, in, bytes, &arrived);
  }
  mbarrier_wait_parity(&arrived, 0);
  out[lane] = shared[lane];
}

struct Row {
  int words[10];
};

__global__ void object_copy(int word, int* out) {
  __shared__ __align__(16) Row rows[32];
  const int lane = threadIdx.x;
  for (int i = 0; i < 10; ++i) rows[lane].words[i] = lane;
  __syncwarp();
  enter_phase(Phase::qk);
  const Row own = rows[lane];
  enter_phase(Phase::reduce);
  out[lane] = own.words[word];
}

template <int kMatrices>
__global__ void matrix_load(int stride, int* out) {
  __shared__ __align__(128) unsigned shared[1024];
  const int lane = threadIdx.x;
  for (int i = lane; i < 1024; i += 32) shared[i] = static_cast<unsigned>(i);
  __syncwarp();
  enter_phase(Phase::qk);
  unsigned fragments[kMatrices];
  ldmatrix(fragments, &shared[4 * stride * (lane % (8 * kMatrices))]);
  enter_phase(Phase::reduce);
  out[lane] = static_cast<int>(fragments[0] + fragments[kMatrices - 1]);
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
void launch_async_copy(int num_reading, const int* in, int* out) {
  launch(async_copy, dim3(1), dim3(32), 0, Stream{}, num_reading, in, out);
}
void launch_bulk_copy(unsigned bytes, const int* in, int* out) {
  launch(bulk_copy, dim3(1), dim3(32), 0, Stream{}, bytes, in, out);
}
void launch_matrix_load(int matrices, int stride, int* out) {
  launch(matrices == 1 ? matrix_load<1> : matrix_load<4>, dim3(1), dim3(32), 0, Stream{}, stride,
         out);
}
void launch_object_copy(int word, int* out) {
  launch(object_copy, dim3(1), dim3(32), 0, Stream{}, word, out);
}
void launch_stopped(int blocks, const int* in, int* out) {
  launch(stopped, dim3(blocks), dim3(32), 0, Stream{}, in, out);
}

}  // namespace paged::PAGED_BACKEND
