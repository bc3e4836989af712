// Which bytes of an allocation something has written: one bit for each byte, since every access to
// global memory looks at them. Bit i % 8 of bits[i / 8] is byte i.
#pragma once
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace paged::simt {

/// Bytes of an allocation for which one byte of bits stands.
inline constexpr std::size_t kBytesPerBits = 8;

/// Whether all of kSize bytes (1, 2, 4, 8 or 16) at `offset`, a multiple of kSize, are written.
template <std::size_t kSize>
[[gnu::always_inline]] inline bool all_written(const std::uint8_t* bits, std::size_t offset) {
  if constexpr (kSize == 16) {
    std::uint16_t both;
    std::memcpy(&both, bits + offset / kBytesPerBits, sizeof both);
    return both == 0xFFFFU;
  } else {
    constexpr unsigned kMask = (1U << kSize) - 1U;
    return (bits[offset / kBytesPerBits] >> offset % kBytesPerBits & kMask) == kMask;
  }
}

/// Calls f(byte of bits, which of its bits) for each that stands for some of these bytes.
template <typename Bits, typename F>
void for_each_partly(Bits* bits, std::size_t offset, std::size_t bytes, F f) {
  const std::size_t end = offset + bytes;
  for (std::size_t begin = offset; begin < end;) {
    const std::size_t next = std::min(end, (begin / kBytesPerBits + 1) * kBytesPerBits);
    f(bits[begin / kBytesPerBits],
      static_cast<std::uint8_t>(((1U << (next - begin)) - 1U) << begin % kBytesPerBits));
    begin = next;
  }
}

/// How many of these bytes nothing has written.
inline std::size_t count_unwritten(const std::uint8_t* bits, std::size_t offset,
                                   std::size_t bytes) {
  std::size_t count = 0;
  for_each_partly(bits, offset, bytes, [&](std::uint8_t of_eight, std::uint8_t mask) {
    count += static_cast<std::size_t>(std::popcount(static_cast<std::uint8_t>(~of_eight & mask)));
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

/// What stands for whole eights of bytes is handed to whole(first, count), the rest, at most once at
/// either end, to part(byte of bits, mask).
template <typename Whole, typename Part>
void split_bits(std::uint8_t* bits, std::size_t offset, std::size_t bytes, Whole whole, Part part) {
  const std::size_t end = offset + bytes;
  const std::size_t first = (offset + kBytesPerBits - 1) / kBytesPerBits;
  const std::size_t last = end / kBytesPerBits;
  if (first >= last) return for_each_partly(bits, offset, bytes, part);
  for_each_partly(bits, offset, first * kBytesPerBits - offset, part);
  whole(bits + first, last - first);
  for_each_partly(bits, last * kBytesPerBits, end - last * kBytesPerBits, part);
}

/// Other threads may mark other bytes at the same time.
inline void mark_written(std::uint8_t* bits, std::size_t offset, std::size_t bytes) {
  split_bits(
      bits, offset, bytes,
      [](std::uint8_t* whole, std::size_t count) { std::memset(whole, 0xFF, count); },
      [](std::uint8_t& part, std::uint8_t mask) {
        std::atomic_ref(part).fetch_or(mask, std::memory_order_relaxed);
      });
}

/// Takes it back.
inline void mark_unwritten(std::uint8_t* bits, std::size_t offset, std::size_t bytes) {
  split_bits(
      bits, offset, bytes,
      [](std::uint8_t* whole, std::size_t count) { std::memset(whole, 0, count); },
      [](std::uint8_t& part, std::uint8_t mask) {
        std::atomic_ref(part).fetch_and(static_cast<std::uint8_t>(~mask),
                                        std::memory_order_relaxed);
      });
}

}  // namespace paged::simt
