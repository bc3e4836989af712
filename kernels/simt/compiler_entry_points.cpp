// The functions that g++ -fsanitize=thread calls before each access. libtsan is not linked; these
// take its place. GCC's side is gcc/sanitizer.def and gcc/tsan.c.
#include "kernels/simt/quick_check.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace paged::simt {
namespace {

template <std::size_t kSize>
[[gnu::always_inline]] inline void see(const volatile void* address, AccessKind kind, void* pc) {
  const auto where = reinterpret_cast<std::uintptr_t>(address);
  if (where - ignored_range.begin < ignored_range.size) return;
  Worker& worker = *current_worker;
  worker.checker.check<kSize>(worker, where, kind, reinterpret_cast<std::uintptr_t>(pc));
}

/// The largest pieces that all of these are multiples of, at most the 16 bytes of one access.
std::size_t piece_of(std::uintptr_t addresses_and_size) {
  const std::uintptr_t all = addresses_and_size | 16;
  return all & -all;
}

// Objects of other sizes: a GPU copies them in pieces, and so they are counted.
void see_range(const void* address, std::size_t size, AccessKind kind, void* pc) {
  const auto where = reinterpret_cast<std::uintptr_t>(address);
  if (where - ignored_range.begin < ignored_range.size) return;
  Worker& worker = *current_worker;
  const auto return_address = reinterpret_cast<std::uintptr_t>(pc);
  if (worker.counter.on()) [[unlikely]] {
    const std::size_t piece = piece_of(where | size);
    for (std::size_t at = 0; at < size; at += piece)
      worker.counter.see(*worker.current, where + at, piece, kind, return_address);
  }
  worker.checker.check_instruction(worker, {where, size, kind, return_address}, 1);
}

void see_in_pieces(const void* address, std::size_t size, std::size_t piece, AccessKind kind,
                   void* pc) {
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  for (std::uintptr_t at = begin; at < begin + size; at += piece)
    see_range(reinterpret_cast<const void*>(at), piece, kind, pc);
}

}  // namespace
}  // namespace paged::simt

using paged::simt::AccessKind;
using paged::simt::see;
using paged::simt::see_range;

// The names are the compiler's, one for each size: only a macro can make them.
#define PAGED_SEE(name, size, kind)                                    \
  void __tsan_##name##size(void* address) {                            \
    see<size>(address, AccessKind::kind, __builtin_return_address(0)); \
  }
#define PAGED_SEE_ALL_SIZES(name, kind) \
  PAGED_SEE(name, 1, kind)              \
  PAGED_SEE(name, 2, kind)              \
  PAGED_SEE(name, 4, kind) PAGED_SEE(name, 8, kind) PAGED_SEE(name, 16, kind)

#define PAGED_FETCH(bits, operation)                                           \
  std::uint##bits##_t __tsan_atomic##bits##_fetch_##operation(                 \
      volatile std::uint##bits##_t* address, std::uint##bits##_t value, int) { \
    see<bits / 8>(address, AccessKind::atomic, __builtin_return_address(0));   \
    return __atomic_fetch_##operation(address, value, __ATOMIC_SEQ_CST);       \
  }
#define PAGED_COMPARE_EXCHANGE(bits, strength)                                                    \
  bool __tsan_atomic##bits##_compare_exchange_##strength(volatile std::uint##bits##_t* address,   \
                                                         std::uint##bits##_t* expected,           \
                                                         std::uint##bits##_t desired, int, int) { \
    see<bits / 8>(address, AccessKind::atomic, __builtin_return_address(0));                      \
    return __atomic_compare_exchange_n(address, expected, desired, false, __ATOMIC_SEQ_CST,       \
                                       __ATOMIC_SEQ_CST);                                         \
  }
#define PAGED_ATOMICS(bits)                                                                   \
  std::uint##bits##_t __tsan_atomic##bits##_load(const volatile std::uint##bits##_t* address, \
                                                 int) {                                       \
    see<bits / 8>(address, AccessKind::read, __builtin_return_address(0));                    \
    return __atomic_load_n(address, __ATOMIC_SEQ_CST);                                        \
  }                                                                                           \
  void __tsan_atomic##bits##_store(volatile std::uint##bits##_t* address,                     \
                                   std::uint##bits##_t value, int) {                          \
    see<bits / 8>(address, AccessKind::write, __builtin_return_address(0));                   \
    __atomic_store_n(address, value, __ATOMIC_SEQ_CST);                                       \
  }                                                                                           \
  std::uint##bits##_t __tsan_atomic##bits##_exchange(volatile std::uint##bits##_t* address,   \
                                                     std::uint##bits##_t value, int) {        \
    see<bits / 8>(address, AccessKind::atomic, __builtin_return_address(0));                  \
    return __atomic_exchange_n(address, value, __ATOMIC_SEQ_CST);                             \
  }                                                                                           \
  PAGED_FETCH(bits, add)                                                                      \
  PAGED_FETCH(bits, sub)                                                                      \
  PAGED_FETCH(bits, and)                                                                      \
  PAGED_FETCH(bits, or)                                                                       \
  PAGED_FETCH(bits, xor)                                                                      \
  PAGED_COMPARE_EXCHANGE(bits, strong)                                                        \
  PAGED_COMPARE_EXCHANGE(bits, weak)

extern "C" {

PAGED_SEE_ALL_SIZES(read, read)
PAGED_SEE_ALL_SIZES(write, write)
PAGED_SEE_ALL_SIZES(volatile_read, read)
PAGED_SEE_ALL_SIZES(volatile_write, write)
PAGED_SEE_ALL_SIZES(unaligned_read, read)
PAGED_SEE_ALL_SIZES(unaligned_write, write)
PAGED_SEE_ALL_SIZES(unaligned_volatile_read, read)
PAGED_SEE_ALL_SIZES(unaligned_volatile_write, write)

void __tsan_read_range(void* address, std::size_t size) {
  see_range(address, size, AccessKind::read, __builtin_return_address(0));
}
void __tsan_write_range(void* address, std::size_t size) {
  see_range(address, size, AccessKind::write, __builtin_return_address(0));
}

// Host code in kernel files; kernels use CUDA's atomics, which are functions of the machine.
PAGED_ATOMICS(8)
PAGED_ATOMICS(16)
PAGED_ATOMICS(32)
PAGED_ATOMICS(64)
void __tsan_atomic_thread_fence(int) { std::atomic_thread_fence(std::memory_order_seq_cst); }
void __tsan_atomic_signal_fence(int) {}

/// A copy that the compiler does not show, by code whose return address is pc. Either side may be
/// null: no access.
void paged_see_copy(const void* from, void* to, std::size_t bytes, void* pc) {
  const std::size_t piece = paged::simt::piece_of(reinterpret_cast<std::uintptr_t>(from) |
                                                  reinterpret_cast<std::uintptr_t>(to) | bytes);
  if (from != nullptr) paged::simt::see_in_pieces(from, bytes, piece, AccessKind::read, pc);
  if (to != nullptr) paged::simt::see_in_pieces(to, bytes, piece, AccessKind::write, pc);
}

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}

}  // extern "C"
