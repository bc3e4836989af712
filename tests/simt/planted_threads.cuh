// What files of planted kernels share: they are compiled as one.
#pragma once
#include "kernels/cuda.h"

namespace paged::PAGED_BACKEND {

/// Threads of a block, where nothing else is said: two warps.
inline constexpr int kThreads = 64;

__device__ __forceinline__ int own() { return static_cast<int>(threadIdx.x); }

}  // namespace paged::PAGED_BACKEND
