// Asynchronous copies from global to shared memory, thread by thread. For nvcc; g++ sees
// kernels/simt/async_copy.h instead.
//
// PTX ISA, "Data Movement and Conversion Instructions: Non-bulk copy". Needs sm_80.
#pragma once
#include <cuda_runtime.h>

namespace paged::PAGED_BACKEND {

/// The address that PTX's shared state space knows a generic address by.
__device__ __forceinline__ unsigned shared_address(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}

/// Starts to copy kBytes, 4, 8 or 16, from global to shared memory; both addresses are multiples of
/// kBytes. The bytes are there for the calling thread once it has waited for their group, and for
/// other threads after a barrier that follows the wait. Until then nobody may touch them.
///
/// cp.async.ca.shared.global (4 and 8 bytes, through L1), cp.async.cg.shared.global (16 bytes, past
/// it).
template <int kBytes>
__device__ __forceinline__ void cp_async(void* shared, const void* global) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16);
  if constexpr (kBytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(shared)),
                 "l"(__cvta_generic_to_global(global))
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared_address(shared)),
                 "l"(__cvta_generic_to_global(global)), "n"(kBytes)
                 : "memory");
}

/// Like cp_async(), but reads only the first source_bytes, 0 ... kBytes, and fills up with zeros:
/// for what lies past the end of a buffer. With 0 the source is not touched; its address must still
/// be a multiple of kBytes.
template <int kBytes>
__device__ __forceinline__ void cp_async_zero_fill(void* shared, const void* global,
                                                   unsigned source_bytes) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16);
  if constexpr (kBytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(shared)),
                 "l"(__cvta_generic_to_global(global)), "r"(source_bytes)
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(shared_address(shared)),
                 "l"(__cvta_generic_to_global(global)), "n"(kBytes), "r"(source_bytes)
                 : "memory");
}

/// Makes a group of the calling thread's copies since its last group; it may be empty.
__device__ __forceinline__ void cp_async_commit_group() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

/// Waits until at most the kPending latest groups of the calling thread are under way. Copies that
/// no group holds yet are not waited for.
template <int kPending>
__device__ __forceinline__ void cp_async_wait_group() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

/// Waits for all copies of the calling thread, with or without a group.
__device__ __forceinline__ void cp_async_wait_all() {
  asm volatile("cp.async.wait_all;" ::: "memory");
}

}  // namespace paged::PAGED_BACKEND
