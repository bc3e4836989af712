// Asynchronous copies of all sizes, alone and in a ring of buffers.
#include "kernels/cuda.h"
#include "tests/simt/sample_kernels.h"

namespace paged::PAGED_BACKEND {
namespace {

// Each thread brings kBytes, and passes on the bytes that the last thread but so many brought.
template <int kBytes>
__global__ void copy_async(unsigned source_bytes, const unsigned* from, unsigned* to) {
  constexpr int kWords = kBytes / 4;
  unsigned* const shared = reinterpret_cast<unsigned*>(dynamic_shared);
  const int own = static_cast<int>(threadIdx.x) * kWords;
  const int other = static_cast<int>(blockDim.x - 1 - threadIdx.x) * kWords;
  if (source_bytes == kBytes)
    cp_async<kBytes>(&shared[own], &from[own]);
  else
    cp_async_zero_fill<kBytes>(&shared[own], &from[own], source_bytes);
  cp_async_commit_group();
  cp_async_wait_group<0>();
  __syncthreads();  // every thread's copy has arrived
  for (int i = 0; i < kWords; ++i) to[other + i] = shared[other + i];
}

template <int kBytes>
void launch_copy(int source_bytes, int threads, const void* from, void* to) {
  launch(copy_async<kBytes>, dim3(1), dim3(threads), threads * kBytes, Stream{},
         static_cast<unsigned>(source_bytes), static_cast<const unsigned*>(from),
         static_cast<unsigned*>(to));
}

// values: [tiles, blockDim.x]; a ring of kStages tiles, kStages - 1 of which are under way while
// one is added up.
template <int kStages>
__global__ void sum_in_ring(int tiles, const float* values, float* sums) {
  float* const ring = reinterpret_cast<float*>(dynamic_shared);
  const int threads = blockDim.x;
  const int own = threadIdx.x;
  const auto fetch = [&](int tile) {
    if (tile < tiles)
      cp_async<4>(&ring[tile % kStages * threads + own], &values[tile * threads + own]);
    cp_async_commit_group();  // an empty one past the end, so that groups count tiles
  };
  for (int tile = 0; tile < kStages - 1; ++tile) fetch(tile);
  float sum = 0;
  for (int tile = 0; tile < tiles; ++tile) {
    cp_async_wait_group<kStages - 2>();
    __syncthreads();  // this tile has arrived for all; the tile before it has been read by all
    fetch(tile + kStages - 1);
    sum += ring[tile % kStages * threads + threads - 1 - own];
  }
  sums[own] = sum;
}

template <int kStages>
void launch_sum(int tiles, int threads, const float* values, float* sums) {
  launch(sum_in_ring<kStages>, dim3(1), dim3(threads), kStages * threads * sizeof(float), Stream{},
         tiles, values, sums);
}

}  // namespace

void add_async_copies(SampleKernels& kernels) {
  kernels.copy_async = [](int bytes, int source_bytes, int threads, const void* from, void* to) {
    if (bytes == 4) return launch_copy<4>(source_bytes, threads, from, to);
    if (bytes == 8) return launch_copy<8>(source_bytes, threads, from, to);
    launch_copy<16>(source_bytes, threads, from, to);
  };
  kernels.sum_in_ring = [](int stages, int tiles, int threads, const float* values, float* sums) {
    if (stages == 2) return launch_sum<2>(tiles, threads, values, sums);
    if (stages == 3) return launch_sum<3>(tiles, threads, values, sums);
    launch_sum<4>(tiles, threads, values, sums);
  };
}

}  // namespace paged::PAGED_BACKEND
