// Sums and maxima over the lanes of a warp and over the threads of a block.
#pragma once
#include "kernels/cuda.h"

namespace paged::PAGED_BACKEND {

inline constexpr unsigned kAllLanes = 0xFFFFFFFFU;

/// Sum over each group of kWidth neighbouring lanes; valid in every lane of the group.
/// All 32 lanes of the warp must call it. kWidth: 1, 2, 4, 8, 16, 32.
///
/// Example, kWidth 4, values = lane: lanes 0-3 get 6, lanes 4-7 get 22.
// [warp-sum]
template <int kWidth = 32, typename T>
__device__ __forceinline__ T warp_sum(T value) {
  static_assert(kWidth >= 1 && kWidth <= 32 && (kWidth & (kWidth - 1)) == 0);
#pragma unroll
  for (int distance = kWidth / 2; distance >= 1; distance /= 2)
    value += __shfl_xor_sync(kAllLanes, value, distance);
  return value;
}
// [/warp-sum]

/// Maximum over each group of kWidth neighbouring lanes; valid in every lane of the group.
/// All 32 lanes of the warp must call it. kWidth: 1, 2, 4, 8, 16, 32.
template <int kWidth = 32, typename T>
__device__ __forceinline__ T warp_max(T value) {
  static_assert(kWidth >= 1 && kWidth <= 32 && (kWidth & (kWidth - 1)) == 0);
#pragma unroll
  for (int distance = kWidth / 2; distance >= 1; distance /= 2)
    value = max(value, __shfl_xor_sync(kAllLanes, value, distance));
  return value;
}

// [block-sum]
/// What block_sum and block_max have in common: each warp's value, from all of its lanes, goes to
/// scratch [kThreads / 32], which all threads may read when the function returns.
template <int kThreads, typename T>
__device__ __forceinline__ void share_values_of_warps(T value_of_warp, T* scratch) {
  static_assert(kThreads % 32 == 0 && kThreads <= 1024);
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = value_of_warp;
  __syncthreads();  // from here on scratch, and all that was shared before it, may be read
}

/// Sum over a one-dimensional block of kThreads threads (whole warps); valid in every thread.
///
/// scratch: shared memory, [kThreads / 32]. Other warps may still be reading it when the function
/// returns: it may be written again after the caller's next barrier.
template <int kThreads, typename T>
__device__ __forceinline__ T block_sum(T value, T* scratch) {
  share_values_of_warps<kThreads>(warp_sum(value), scratch);
  const int lane = threadIdx.x % 32;
  return warp_sum(lane < kThreads / 32 ? scratch[lane] : T(0));
}
// [/block-sum]

/// Maximum over a one-dimensional block of kThreads threads (whole warps); valid in every thread.
/// scratch as in block_sum.
template <int kThreads, typename T>
__device__ __forceinline__ T block_max(T value, T* scratch) {
  share_values_of_warps<kThreads>(warp_max(value), scratch);
  const int lane = threadIdx.x % 32;
  return warp_max(scratch[lane < kThreads / 32 ? lane : 0]);  // more of one changes no maximum
}

}  // namespace paged::PAGED_BACKEND
