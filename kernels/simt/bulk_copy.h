// Barriers in shared memory that also count bytes, and copies that report to them: what
// kernels/cuda/bulk_copy.h is for nvcc.
//
// The 8 bytes in shared memory only stand for the barrier; its state is in the machine: see
// mbarriers.h. Bytes move when all arrivals of a phase are in and somebody waits for it.
#pragma once
#include "kernels/simt/keywords.h"

#include <source_location>

namespace paged::simt {

using MbarrierWord = unsigned long long;

void make_mbarrier(MbarrierWord* barrier, unsigned arrivals) noexcept;
/// expect_bytes: announced with the arrival
void arrive_at_mbarrier(MbarrierWord* barrier, unsigned expect_bytes) noexcept;
/// False if the phase is not over although no thread can go on otherwise.
bool try_wait_for_mbarrier(MbarrierWord* barrier, unsigned parity,
                           std::source_location where) noexcept;
void wait_for_mbarrier(MbarrierWord* barrier, unsigned parity, std::source_location where) noexcept;
void start_bulk_copy(void* destination, const void* source, unsigned bytes,
                     MbarrierWord* barrier) noexcept;

}  // namespace paged::simt

namespace paged::PAGED_BACKEND {

/// A barrier in shared memory, 8 bytes. Its phases are numbered from 0; a phase is over when as
/// many arrivals have come as mbarrier_init() said, and as many bytes as they announced.
using Mbarrier = simt::MbarrierWord;

/// Makes a barrier for `arrivals` arrivals a phase, 1 ... 2^20 - 1. One thread calls it; a
/// fence_proxy_async() and a barrier of the block must follow before others, or a bulk copy, use
/// it.
__forceinline__ void mbarrier_init(Mbarrier* barrier, unsigned arrivals) {
  simt::make_mbarrier(barrier, arrivals);
}

/// Orders what this thread did in shared memory by ordinary loads and stores before later bulk
/// copies. Nothing to do here, and not checked.
__forceinline__ void fence_proxy_async() {}

/// One arrival. What the thread did before is visible to whoever waits for the phase.
__forceinline__ void mbarrier_arrive(Mbarrier* barrier) { simt::arrive_at_mbarrier(barrier, 0); }

/// Announces `bytes` bytes, less than 2^20, that copies will bring in this phase, and arrives.
__forceinline__ void mbarrier_arrive_expect_tx(Mbarrier* barrier, unsigned bytes) {
  simt::arrive_at_mbarrier(barrier, bytes);
}

/// Whether the phase of that parity, 0 for the phases 0, 2, 4 ..., is over; waits if it isn't, as
/// long as other threads can go on. For a fresh barrier, the phase before the first counts as over:
/// parity 1 gives true.
__forceinline__ bool mbarrier_try_wait_parity(
    Mbarrier* barrier, unsigned parity,
    std::source_location where = std::source_location::current()) {
  return simt::try_wait_for_mbarrier(barrier, parity, where);
}

/// Waits until the phase of that parity is over; see mbarrier_try_wait_parity().
__forceinline__ void mbarrier_wait_parity(
    Mbarrier* barrier, unsigned parity,
    std::source_location where = std::source_location::current()) {
  simt::wait_for_mbarrier(barrier, parity, where);
}

/// Starts to copy `bytes` bytes, a multiple of 16, from global to shared memory, for one thread;
/// both addresses are multiples of 16. The bytes count towards the barrier's phase, and are there
/// for whoever has waited for it.
__forceinline__ void cp_async_bulk(void* shared, const void* global, unsigned bytes,
                                   Mbarrier* barrier) {
  simt::start_bulk_copy(shared, global, bytes, barrier);
}

}  // namespace paged::PAGED_BACKEND
