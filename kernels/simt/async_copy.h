// Asynchronous copies from global to shared memory, thread by thread: what
// kernels/cuda/async_copy.h is for nvcc.
//
// Bytes move when their thread waits for them, and no sooner. In between the checker lets nobody
// touch them: see async_copies.h.
#pragma once
#include "kernels/simt/keywords.h"

namespace paged::simt {

/// Notes down a copy of the calling thread: source_bytes from source, then zeros up to `bytes`.
void start_async_copy(void* destination, const void* source, unsigned bytes,
                      unsigned source_bytes) noexcept;
void commit_async_copies() noexcept;
/// Moves the bytes of all groups of the calling thread but the latest `pending`.
void wait_for_async_copies(unsigned pending) noexcept;
/// Moves all bytes of the calling thread, with or without a group.
void wait_for_all_async_copies() noexcept;

}  // namespace paged::simt

namespace paged::PAGED_BACKEND {

/// Starts to copy kBytes, 4, 8 or 16, from global to shared memory; both addresses are multiples of
/// kBytes. The bytes are there for the calling thread once it has waited for their group, and for
/// other threads after a barrier that follows the wait. Until then nobody may touch them.
template <int kBytes>
__forceinline__ void cp_async(void* shared, const void* global) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16);
  simt::start_async_copy(shared, global, kBytes, kBytes);
}

/// Like cp_async(), but reads only the first source_bytes, 0 ... kBytes, and fills up with zeros:
/// for what lies past the end of a buffer. With 0 the source is not touched; its address must still
/// be a multiple of kBytes.
template <int kBytes>
__forceinline__ void cp_async_zero_fill(void* shared, const void* global, unsigned source_bytes) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16);
  simt::start_async_copy(shared, global, kBytes, source_bytes);
}

/// Makes a group of the calling thread's copies since its last group; it may be empty.
__forceinline__ void cp_async_commit_group() { simt::commit_async_copies(); }

/// Waits until at most the kPending latest groups of the calling thread are under way. Copies that
/// no group holds yet are not waited for.
template <int kPending>
__forceinline__ void cp_async_wait_group() {
  simt::wait_for_async_copies(kPending);
}

/// Waits for all copies of the calling thread, with or without a group.
__forceinline__ void cp_async_wait_all() { simt::wait_for_all_async_copies(); }

}  // namespace paged::PAGED_BACKEND
