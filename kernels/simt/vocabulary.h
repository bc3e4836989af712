// CUDA's vocabulary for g++: what a kernel file sees when it is compiled for the CPU machine.
//
//   keywords.h             __global__, __device__, __shared__, __launch_bounds__ ...
//   thread_coordinates.h   threadIdx, blockIdx, blockDim, gridDim, dim3, warpSize
//   vector_types.h         int2, int4, uint2, uint4, float2, float4, and make_*
//   float_types.h          __half, __nv_bfloat16, __half2 ..., __nv_fp8_e4m3 and _e5m2
//   shared_memory.h        dynamic_shared
//   barriers.h             __syncthreads and its reductions, fences
//   warp_operations.h      shuffles, votes, __syncwarp, __activemask
//   atomics.h              atomicAdd, atomicCAS ...
//   async_copy.h           cp_async, cp_async_commit_group, cp_async_wait_group ...
//   bulk_copy.h            mbarrier_init, mbarrier_wait_parity, cp_async_bulk ...
//   matrix_operations.h    ldmatrix, mma_m16n8k16 ...
//   arithmetic.h           __expf, __popc, min, __float_as_int, __ldg ...
//   launch.h               launch(), Stream, enter_phase()
//
// Functions here are always inlined: the same header is compiled with and without instrumentation
// in one program, and the linker must not replace one by the other.
#pragma once
#include "kernels/simt/arithmetic.h"
#include "kernels/simt/async_copy.h"
#include "kernels/simt/atomics.h"
#include "kernels/simt/barriers.h"
#include "kernels/simt/bulk_copy.h"
#include "kernels/simt/float_types.h"
#include "kernels/simt/keywords.h"
#include "kernels/simt/launch.h"
#include "kernels/simt/matrix_operations.h"
#include "kernels/simt/shared_memory.h"
#include "kernels/simt/thread_coordinates.h"
#include "kernels/simt/vector_types.h"
#include "kernels/simt/warp_operations.h"
