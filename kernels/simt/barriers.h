// Block-wide barriers and memory fences.
#pragma once
#include "kernels/simt/keywords.h"

#include <atomic>
#include <source_location>

namespace paged::simt {

/// What a barrier tells every thread about the threads' predicates.
struct BarrierResult {
  int num_true = 0;
  int num_threads = 0;  ///< that took part: all that have not exited
};

/// Which call in the source a barrier is, is known by its position: the compiler may duplicate a
/// call, so that a return address does not tell.
BarrierResult block_barrier(bool predicate, std::source_location where) noexcept;

/// Orders the caller's accesses for other OS threads. In the machine: g++ has no fences in
/// instrumented code.
void fence_memory() noexcept;

}  // namespace paged::simt

__forceinline__ void __syncthreads(std::source_location where = std::source_location::current()) {
  paged::simt::block_barrier(false, where);
}
__forceinline__ int __syncthreads_or(int predicate,
                                     std::source_location where = std::source_location::current()) {
  return paged::simt::block_barrier(predicate != 0, where).num_true > 0;
}
__forceinline__ int __syncthreads_and(
    int predicate, std::source_location where = std::source_location::current()) {
  const paged::simt::BarrierResult result = paged::simt::block_barrier(predicate != 0, where);
  return result.num_true == result.num_threads;
}
__forceinline__ int __syncthreads_count(
    int predicate, std::source_location where = std::source_location::current()) {
  return paged::simt::block_barrier(predicate != 0, where).num_true;
}

// A block's threads run on one OS thread: only the compiler's order must be held.
__forceinline__ void __threadfence_block() { std::atomic_signal_fence(std::memory_order_seq_cst); }
__forceinline__ void __threadfence() { paged::simt::fence_memory(); }
