// kernels/reduction.cuh at work.
#include "kernels/reduction.cuh"
#include "tests/simt/sample_kernels.h"

namespace paged::PAGED_BACKEND {
namespace {

template <int kWidth>
__global__ void warp_reduce(const float* values, float* sums, float* maxima) {
  const int i = threadIdx.x;
  sums[i] = warp_sum<kWidth>(values[i]);
  maxima[i] = warp_max<kWidth>(values[i]);
}

template <int kThreads>
__global__ void block_reduce(const float* values, float* sums, float* maxima) {
  __shared__ float sum_scratch[kThreads / 32];
  __shared__ float max_scratch[kThreads / 32];
  const int i = threadIdx.x;
  sums[i] = block_sum<kThreads>(values[i], sum_scratch);
  maxima[i] = block_max<kThreads>(values[i], max_scratch);
}

template <int kWidth>
void launch_warp(int threads, const float* values, float* sums, float* maxima) {
  launch(warp_reduce<kWidth>, dim3(1), dim3(threads), 0, Stream{}, values, sums, maxima);
}

template <int kThreads>
void launch_block(const float* values, float* sums, float* maxima) {
  launch(block_reduce<kThreads>, dim3(1), dim3(kThreads), 0, Stream{}, values, sums, maxima);
}

}  // namespace

void add_reductions(SampleKernels& kernels) {
  kernels.warp_reduce = [](int width, int threads, const float* values, float* sums,
                           float* maxima) {
    switch (width) {
      case 1:
        return launch_warp<1>(threads, values, sums, maxima);
      case 2:
        return launch_warp<2>(threads, values, sums, maxima);
      case 4:
        return launch_warp<4>(threads, values, sums, maxima);
      case 8:
        return launch_warp<8>(threads, values, sums, maxima);
      case 16:
        return launch_warp<16>(threads, values, sums, maxima);
      default:
        return launch_warp<32>(threads, values, sums, maxima);
    }
  };
  kernels.block_reduce = [](int threads, const float* values, float* sums, float* maxima) {
    switch (threads) {
      case 32:
        return launch_block<32>(values, sums, maxima);
      case 96:
        return launch_block<96>(values, sums, maxima);
      case 128:
        return launch_block<128>(values, sums, maxima);
      default:
        return launch_block<1024>(values, sums, maxima);
    }
  };
}

}  // namespace paged::PAGED_BACKEND
