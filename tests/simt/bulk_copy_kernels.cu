// Bulk copies and mbarriers: alone, in a ring of buffers between warps, and in place of barriers.
#include "kernels/cuda.h"
#include "tests/simt/sample_kernels.h"

namespace paged::PAGED_BACKEND {
namespace {

__global__ void copy_bulk(int pieces, int bytes, const unsigned* from, unsigned* to) {
  __shared__ Mbarrier arrived;
  unsigned* const shared = reinterpret_cast<unsigned*>(dynamic_shared);
  if (threadIdx.x == 0) {
    mbarrier_init(&arrived, 1);
    fence_proxy_async();
  }
  __syncthreads();  // the mbarrier may be used
  if (threadIdx.x == 0) {
    mbarrier_arrive_expect_tx(&arrived, bytes);
    const int words = bytes / 4 / pieces;
    for (int piece = 0; piece < pieces; ++piece)
      cp_async_bulk(&shared[piece * words], &from[piece * words], 4 * words, &arrived);
  }
  mbarrier_wait_parity(&arrived, 0);
  for (int i = threadIdx.x; i < bytes / 4; i += static_cast<int>(blockDim.x)) to[i] = shared[i];
}

// values: [tiles, threads], threads = blockDim.x - 32. The last warp fetches tiles into a ring of
// kStages; the others add them up. A stage's `full` ends a phase when its tile is there, its
// `empty` when all warps have read it.
template <int kStages>
__global__ void sum_in_bulk_ring(int tiles, const float* values, float* sums) {
  __shared__ Mbarrier full[kStages];
  __shared__ Mbarrier empty[kStages];
  float* const ring = reinterpret_cast<float*>(dynamic_shared);
  const int threads = static_cast<int>(blockDim.x) - 32;
  const int own = threadIdx.x;
  if (own == 0) {
    for (int stage = 0; stage < kStages; ++stage) {
      mbarrier_init(&full[stage], 1);
      mbarrier_init(&empty[stage], threads / 32);
    }
    fence_proxy_async();
  }
  __syncthreads();  // the mbarriers may be used

  if (own >= threads) {
    if (own > threads) return;
    const unsigned bytes = threads * sizeof(float);
    for (int tile = 0; tile < tiles; ++tile) {
      const int stage = tile % kStages;
      mbarrier_wait_parity(&empty[stage], (tile / kStages & 1) ^ 1);  // at once for the first round
      mbarrier_arrive_expect_tx(&full[stage], bytes);
      cp_async_bulk(&ring[stage * threads], &values[tile * threads], bytes, &full[stage]);
    }
    return;
  }
  float sum = 0;
  for (int tile = 0; tile < tiles; ++tile) {
    const int stage = tile % kStages;
    while (!mbarrier_try_wait_parity(&full[stage], tile / kStages & 1)) {
    }
    sum += ring[stage * threads + threads - 1 - own];
    __syncwarp();  // all lanes have read; one of them says so
    if (own % 32 == 0) mbarrier_arrive(&empty[stage]);
  }
  sums[own] = sum;
}

template <int kStages>
void launch_bulk_sum(int tiles, int threads, const float* values, float* sums) {
  launch(sum_in_bulk_ring<kStages>, dim3(1), dim3(threads + 32), kStages * threads * sizeof(float),
         Stream{}, tiles, values, sums);
}

__global__ void rotate_by_mbarrier(int rounds, const int* values, int* results) {
  __shared__ int shared[1024];
  __shared__ Mbarrier all_here;
  const int threads = blockDim.x;
  const int own = threadIdx.x;
  if (own == 0) mbarrier_init(&all_here, threads);
  __syncthreads();  // the mbarrier may be used
  int value = values[own];
  for (int round = 0; round < rounds; ++round) {
    shared[own] = value;
    mbarrier_arrive(&all_here);
    mbarrier_wait_parity(&all_here, 0);  // all values of this round may be read
    value = shared[(own + 1) % threads];
    mbarrier_arrive(&all_here);
    mbarrier_wait_parity(&all_here, 1);  // and, from here on, written again
  }
  results[own] = value;
}

}  // namespace

void add_bulk_copies(SampleKernels& kernels) {
  kernels.copy_bulk = [](int pieces, int bytes, const void* from, void* to) {
    launch(copy_bulk, dim3(1), dim3(96), bytes, Stream{}, pieces, bytes,
           static_cast<const unsigned*>(from), static_cast<unsigned*>(to));
  };
  kernels.sum_in_bulk_ring = [](int stages, int tiles, int threads, const float* values,
                                float* sums) {
    if (stages == 2) return launch_bulk_sum<2>(tiles, threads, values, sums);
    if (stages == 3) return launch_bulk_sum<3>(tiles, threads, values, sums);
    launch_bulk_sum<4>(tiles, threads, values, sums);
  };
  kernels.rotate_by_mbarrier = [](int threads, int rounds, const int* values, int* results) {
    launch(rotate_by_mbarrier, dim3(1), dim3(threads), 0, Stream{}, rounds, values, results);
  };
}

}  // namespace paged::PAGED_BACKEND
