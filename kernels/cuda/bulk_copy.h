// Barriers in shared memory that also count bytes, and copies that report to them. For nvcc; g++
// sees kernels/simt/bulk_copy.h instead.
//
// PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier" and "Data Movement
// and Conversion Instructions: Bulk copy". Needs sm_90: a kernel compiled for less traps here.
#pragma once
#include "kernels/cuda/async_copy.h"

#include <cuda_runtime.h>

#include <nv/target>

namespace paged::PAGED_BACKEND {

/// A barrier in shared memory, 8 bytes. Its phases are numbered from 0; a phase is over when as
/// many arrivals have come as mbarrier_init() said, and as many bytes as they announced.
using Mbarrier = unsigned long long;

/// Makes a barrier for `arrivals` arrivals a phase, 1 ... 2^20 - 1. One thread calls it; a
/// fence_proxy_async() and a barrier of the block must follow before others, or a bulk copy, use
/// it. mbarrier.init.shared.b64
__device__ __forceinline__ void mbarrier_init(Mbarrier* barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals)
               : "memory");
}

/// Orders what this thread did in shared memory by ordinary loads and stores before later bulk
/// copies: after mbarrier_init(), and before a copy overwrites what was written by stores.
/// fence.proxy.async.shared::cta
__device__ __forceinline__ void fence_proxy_async() {
  NV_IF_ELSE_TARGET(NV_PROVIDES_SM_90,
                    (asm volatile("fence.proxy.async.shared::cta;" ::
                                      : "memory");),
                    (__trap();))
}

/// One arrival. What the thread did before is visible to whoever waits for the phase.
/// mbarrier.arrive.shared.b64
__device__ __forceinline__ void mbarrier_arrive(Mbarrier* barrier) {
  [[maybe_unused]] unsigned long long state;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];"
               : "=l"(state)
               : "r"(shared_address(barrier))
               : "memory");
}

/// Announces `bytes` bytes, less than 2^20, that copies will bring in this phase, and arrives.
/// mbarrier.arrive.expect_tx.shared::cta.b64
__device__ __forceinline__ void mbarrier_arrive_expect_tx(Mbarrier* barrier, unsigned bytes) {
  NV_IF_ELSE_TARGET(NV_PROVIDES_SM_90,
                    ([[maybe_unused]] unsigned long long state;
                     asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 %0, [%1], %2;"
                                  : "=l"(state)
                                  : "r"(shared_address(barrier)), "r"(bytes)
                                  : "memory");),
                    (__trap();))
}

/// Whether the phase of that parity, 0 for the phases 0, 2, 4 ..., is over; waits for a while if it
/// isn't. For a fresh barrier, the phase before the first counts as over: parity 1 gives true.
/// mbarrier.try_wait.parity.shared::cta.b64
__device__ __forceinline__ bool mbarrier_try_wait_parity(Mbarrier* barrier, unsigned parity) {
  unsigned over = 0;
  NV_IF_ELSE_TARGET(NV_PROVIDES_SM_90,
                    (asm volatile("{\n\t"
                                  ".reg .pred over;\n\t"
                                  "mbarrier.try_wait.parity.shared::cta.b64 over, [%1], %2;\n\t"
                                  "selp.b32 %0, 1, 0, over;\n\t"
                                  "}"
                                  : "=r"(over)
                                  : "r"(shared_address(barrier)), "r"(parity)
                                  : "memory");),
                    (__trap();))
  return over != 0;
}

/// Waits until the phase of that parity is over; see mbarrier_try_wait_parity().
__device__ __forceinline__ void mbarrier_wait_parity(Mbarrier* barrier, unsigned parity) {
  while (!mbarrier_try_wait_parity(barrier, parity)) {
  }
}

/// Starts to copy `bytes` bytes, a multiple of 16, from global to shared memory, for one thread;
/// both addresses are multiples of 16. The bytes count towards the barrier's phase, and are there
/// for whoever has waited for it. cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes
__device__ __forceinline__ void cp_async_bulk(void* shared, const void* global, unsigned bytes,
                                              Mbarrier* barrier) {
  NV_IF_ELSE_TARGET(
      NV_PROVIDES_SM_90,
      (asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                    "[%0], [%1], %2, [%3];" ::"r"(shared_address(shared)),
                    "l"(__cvta_generic_to_global(global)), "r"(bytes), "r"(shared_address(barrier))
                    : "memory");),
      (__trap();))
}

}  // namespace paged::PAGED_BACKEND
