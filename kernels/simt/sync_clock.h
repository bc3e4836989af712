// How far each thread of a block, and each mbarrier's copies, had come when something happened:
// what a thread hands over through an mbarrier.
#pragma once
#include "kernels/simt/fiber.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace paged::simt {

/// Bulk copies write as nobody's thread: each mbarrier has an actor of its own for them. Beyond so
/// many mbarriers in a block, some share one.
inline constexpr int kMaxCopyActors = 64;
inline constexpr int kNumActors = kMaxThreads + kMaxCopyActors;
constexpr int actor_of_mbarrier(int index) { return kMaxThreads + index % kMaxCopyActors; }

/// Clocks of all actors; they count only in the epoch that it names, since a barrier of the block
/// orders everything before it anyway.
struct SyncClock {
  std::uint64_t epoch = 0;
  std::array<std::uint16_t, kNumActors> clocks = {};

  /// Forgets what belongs to another epoch.
  void enter(std::uint64_t now) {
    if (epoch != now) clocks.fill(0);
    epoch = now;
  }
  /// Both are of the same epoch.
  void join(const SyncClock& other) {
    for (int i = 0; i < kNumActors; ++i) clocks[i] = std::max(clocks[i], other.clocks[i]);
  }
};

}  // namespace paged::simt
