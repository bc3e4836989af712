// The addresses of one instruction of one warp.
#pragma once
#include <array>
#include <bit>
#include <cstdint>

namespace paged::simt {

/// The lanes that execute a load or store together, and where each of them goes.
struct WarpAccess {
  unsigned lanes = 0;  ///< which take part, as bits
  std::array<std::uintptr_t, 32> addresses{};

  void add(int lane, std::uintptr_t address) {
    lanes |= 1U << lane;
    addresses[static_cast<std::size_t>(lane)] = address;
  }
  bool has(int lane) const { return (lanes >> lane & 1U) != 0; }

  /// Calls f(lane, address) for each lane that takes part.
  template <typename F>
  void for_each(F f) const {
    for (unsigned rest = lanes; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      f(lane, addresses[static_cast<std::size_t>(lane)]);
    }
  }
};

}  // namespace paged::simt
