// Which bytes of an allocation something has written: one bit for each byte, since every access to
// global memory looks at them. Bit i % 8 of bits[i / 8] is byte i.
//
// Blocks run on several OS threads, and what a kernel races on they mark and look at at the same
// time. So a kernel's every access to the bits is a relaxed atomic one of one byte of bits: what a
// racing kernel may find is an old or a new bit, and no block's marks are lost. (SavedPages copies
// them while no kernel runs.) Order comes from elsewhere: what is
// ordered between blocks is so through atomic operations of the kernel, which the machine runs as
// atomic operations. On x86 and aarch64 these loads and stores are the plain instructions.
#pragma once
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace paged::simt {

/// Bytes of an allocation for which one byte of bits stands.
inline constexpr std::size_t kBytesPerBits = 8;

/// One byte of bits. (std::atomic_ref takes no const before C++26.)
[[gnu::always_inline]] inline unsigned load_bits(const std::uint8_t* bits) {
  return std::atomic_ref(const_cast<std::uint8_t&>(*bits)).load(std::memory_order_relaxed);
}

/// Whether all of kSize bytes (1, 2, 4, 8 or 16) at `offset`, a multiple of kSize, are written.
template <std::size_t kSize>
[[gnu::always_inline]] inline bool all_written(const std::uint8_t* bits, std::size_t offset) {
  const std::uint8_t* const first = bits + offset / kBytesPerBits;
  if constexpr (kSize == 16) {
    return (load_bits(first) & load_bits(first + 1)) == 0xFFU;
  } else {
    constexpr unsigned kMask = (1U << kSize) - 1U;
    return (load_bits(first) >> offset % kBytesPerBits & kMask) == kMask;
  }
}

/// Calls f(byte of bits, which of its bits) for each that stands for some of these bytes.
template <typename Bits, typename F>
void for_each_partly(Bits* bits, std::size_t offset, std::size_t bytes, F f) {
  const std::size_t end = offset + bytes;
  for (std::size_t begin = offset; begin < end;) {
    const std::size_t next = std::min(end, (begin / kBytesPerBits + 1) * kBytesPerBits);
    f(bits + begin / kBytesPerBits,
      static_cast<std::uint8_t>(((1U << (next - begin)) - 1U) << begin % kBytesPerBits));
    begin = next;
  }
}

/// How many of these bytes nothing has written.
inline std::size_t count_unwritten(const std::uint8_t* bits, std::size_t offset,
                                   std::size_t bytes) {
  std::size_t count = 0;
  for_each_partly(bits, offset, bytes, [&](const std::uint8_t* of_eight, std::uint8_t mask) {
    count += static_cast<std::size_t>(std::popcount(~load_bits(of_eight) & mask));
  });
  return count;
}

/// Which of these bytes is the first that nothing has written; `bytes` if there is none.
inline std::size_t first_unwritten(const std::uint8_t* bits, std::size_t offset,
                                   std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i)
    if (!all_written<1>(bits, offset + i)) return i;
  return bytes;
}

/// Hands each byte of bits that stands for eight of these bytes to whole(), and what stands for
/// fewer, at either end, to part(byte of bits, mask).
template <typename Whole, typename Part>
void split_bits(std::uint8_t* bits, std::size_t offset, std::size_t bytes, Whole whole, Part part) {
  const std::size_t end = offset + bytes;
  const std::size_t first = (offset + kBytesPerBits - 1) / kBytesPerBits;
  const std::size_t last = end / kBytesPerBits;
  if (first >= last) return for_each_partly(bits, offset, bytes, part);
  for_each_partly(bits, offset, first * kBytesPerBits - offset, part);
  for (std::uint8_t* of_eight = bits + first; of_eight < bits + last; ++of_eight) whole(of_eight);
  for_each_partly(bits, last * kBytesPerBits, end - last * kBytesPerBits, part);
}

/// Marks these bytes as written.
inline void mark_written(std::uint8_t* bits, std::size_t offset, std::size_t bytes) {
  split_bits(
      bits, offset, bytes,
      [](std::uint8_t* whole) { std::atomic_ref(*whole).store(0xFF, std::memory_order_relaxed); },
      [](std::uint8_t* part, std::uint8_t mask) {
        std::atomic_ref(*part).fetch_or(mask, std::memory_order_relaxed);
      });
}

/// Takes it back.
inline void mark_unwritten(std::uint8_t* bits, std::size_t offset, std::size_t bytes) {
  split_bits(
      bits, offset, bytes,
      [](std::uint8_t* whole) { std::atomic_ref(*whole).store(0, std::memory_order_relaxed); },
      [](std::uint8_t* part, std::uint8_t mask) {
        std::atomic_ref(*part).fetch_and(static_cast<std::uint8_t>(~mask),
                                         std::memory_order_relaxed);
      });
}

}  // namespace paged::simt
