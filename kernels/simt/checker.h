// Looks at every load, store and atomic of instrumented kernel code before it happens.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace paged::simt {

struct Worker;

enum class AccessKind : std::uint8_t { read, write, atomic };

/// One access, before it is executed.
struct Access {
  std::uintptr_t address;
  std::size_t size;  ///< bytes
  AccessKind kind;
  std::uintptr_t pc;  ///< return address of the callback: just after the access
};

/// Memory that a kernel may touch, as the checker sees it.
struct Region {
  std::uintptr_t begin = 0;
  std::size_t size = 0;
  std::uint8_t* written = nullptr;  ///< one byte for each byte: 1 if something wrote it; or null

  bool holds(std::uintptr_t address, std::size_t bytes) const {
    const std::uintptr_t offset = address - begin;
    return offset < size && bytes <= size - offset;
  }
};

/// True if none of `size` bytes is 0. One comparison for the sizes that loads have.
[[gnu::always_inline]] inline bool all_written(const std::uint8_t* written, std::size_t size) {
  constexpr std::uint64_t kOnes = 0x0101010101010101U;
  std::uint64_t bytes[2] = {kOnes, kOnes};
  if (size > sizeof bytes) return std::memchr(written, 0, size) == nullptr;
  std::memcpy(bytes, written, size);
  return (bytes[0] & bytes[1]) == kOnes;
}

/// Accesses of the calling OS thread in this range are nobody's business: the stacks of the fibers
/// while a checked block runs, everything at all other times.
struct IgnoredRange {
  std::uintptr_t begin = 0;
  std::size_t size = ~std::size_t{0};
};
extern thread_local IgnoredRange ignored_range;

/// Suspends checking on this OS thread: for the machine's own work in the middle of a kernel, which
/// may run through inline functions that the linker took from an instrumented file.
class UncheckedScope {
 public:
  UncheckedScope() : saved_(ignored_range) { ignored_range = {}; }
  ~UncheckedScope() { ignored_range = saved_; }
  UncheckedScope(const UncheckedScope&) = delete;
  UncheckedScope& operator=(const UncheckedScope&) = delete;

 private:
  IgnoredRange saved_;
};

/// The checker's state of one worker. The functions named at_ and *_block are called by the
/// scheduler: they are where a race detector or counters get their events.
class AccessChecker {
 public:
  void begin_block(Worker& worker);
  void end_block(Worker& worker);
  void at_barrier(Worker&) {}                                      ///< all live threads came to it
  void at_warp_sync(Worker&, int /*warp*/, unsigned /*lanes*/) {}  ///< __syncwarp completed

  /// Checks one access; does not return if it must not be executed. `alignment` is what a GPU asks
  /// for: the size, or 1 where the compiler copies an object of another size.
  [[gnu::always_inline]] void check(Worker& worker, const Access& access, std::size_t alignment) {
    Region& region = recent_[access.pc % kNumRecent];
    if (!region.holds(access.address, access.size)) [[unlikely]]
      region = find_region(worker, access);
    if ((access.address & (alignment - 1)) != 0) [[unlikely]]
      refuse_misaligned(worker, access);
    if (region.written != nullptr) check_written(worker, region, access);
  }

 private:
  // Where a program counter went last: nearly always where it goes next.
  static constexpr std::size_t kNumRecent = 509;  // prime, for pc % kNumRecent

  /// The region that an access lies in; reports and stops the block if there is none.
  Region find_region(Worker& worker, const Access& access);
  [[noreturn]] void refuse_misaligned(Worker& worker, const Access& access);
  [[gnu::always_inline]] void check_written(Worker& worker, const Region& region,
                                            const Access& access) {
    std::uint8_t* const written = region.written + (access.address - region.begin);
    if (access.kind != AccessKind::write && !all_written(written, access.size)) [[unlikely]]
      note_uninitialised(worker, region, access);
    if (access.kind != AccessKind::read) std::memset(written, 1, access.size);
  }
  void note_uninitialised(Worker& worker, const Region& region, const Access& access);

  std::array<Region, kNumRecent> recent_;
  const void* launch_ = nullptr;  ///< that recent_ belongs to
  std::uintptr_t tls_begin_ = 0;  ///< this OS thread's thread-local variables of the program
  std::size_t tls_size_ = 0;
};

}  // namespace paged::simt
