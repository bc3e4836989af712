// CUDA's keywords as g++ sees them.
#pragma once

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __constant__ static const

/// A block runs on one OS thread, so that its shared memory is that thread's.
#define __shared__ thread_local

// __restrict__ is a keyword of g++ already.
