// Device memory that was released. For a while its addresses stay reserved and unusable, so that a
// use after release is found and named. After that its pages serve new allocations: pages
// fresh from the system cost a fault each, which was a sixth of the time of a small unchecked case.
#pragma once
#include "kernels/simt/allocation.h"

#include <cstddef>
#include <cstdint>
#include <deque>

namespace paged::simt {

/// Not thread-safe; its owner sees to that.
class ReleasedMemory {
 public:
  /// So many of the latest released allocations are never used again.
  static constexpr std::size_t kLatest = 16;
  /// No more bytes than these are kept with their content, wherever they come from.
  static constexpr std::size_t kMostKeptBytes = std::size_t{32} << 20;

  /// Takes over the pages of an allocation.
  void add(const Allocation& allocation);
  /// Closed pages for so many bytes, of an older allocation of about that size, or none. They hold
  /// what they held.
  GuardedPages take(std::size_t bytes);
  /// The released allocation that held an address, or null.
  const Allocation* find(std::uintptr_t address) const;

 private:
  struct Released {
    Allocation allocation;
    bool kept;  ///< its pages have their content, and so take memory
  };
  static constexpr std::size_t kMost = 64;

  void drop_content(Released& released);

  std::deque<Released> all_;  // the oldest first
  std::size_t kept_bytes_ = 0;
};

}  // namespace paged::simt
