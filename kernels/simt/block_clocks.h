// What orders the threads of one block: barriers all of them, __syncwarp() the lanes that it names,
// an mbarrier those that arrive before those that wait. Shuffles and votes order nothing: CUDA
// promises no memory ordering for them.
//
// An access is dated by how many barriers of the block came before it (its epoch) and, within a
// warp, by vector clocks of its 32 lanes; what a thread knows of other warps' clocks, which it can
// learn only through mbarriers, is kept apart (release_acquire.cpp). All in the manner of C.
// Flanagan and S. Freund, "FastTrack: Efficient and Precise Dynamic Race Detection", PLDI 2009.
#pragma once
#include "kernels/simt/fiber.h"
#include "kernels/simt/sync_clock.h"

#include <array>
#include <cstdint>
#include <memory>

namespace paged::simt {

class BlockClocks {
 public:
  BlockClocks();

  using Clock = std::uint16_t;
  using OfLanes = std::array<Clock, kWarpSize>;

  void begin_block(int num_threads);
  /// Everything before is ordered before everything after.
  void at_barrier();
  /// The lanes' accesses before are ordered before those lanes' accesses after.
  void at_warp_sync(int warp, unsigned lanes);

  /// What the thread, and those that it knows of, did so far is ordered before what comes after an
  /// acquire() of that clock.
  void release(int thread, SyncClock& clock);
  void acquire(int thread, const SyncClock& clock);
  /// The bulk copies of an mbarrier's actor go on by one, which is returned; who acquires the clock
  /// is after them.
  Clock advance_copies(int actor, SyncClock& clock);

  /// Barriers and blocks so far: clocks of one epoch mean nothing in another.
  std::uint64_t epoch() const { return epoch_; }
  std::uint64_t first_epoch() const { return first_epoch_; }  ///< of this block
  [[gnu::always_inline]] Clock now(unsigned thread) const {
    return clocks_[thread][thread % kWarpSize];
  }
  /// Whether an access of `before` (a thread, or an actor of bulk copies) at its clock `clock`, in
  /// this epoch, is ordered before what thread `after` does now.
  bool is_ordered(int before, Clock clock, int after) const {
    if (before == after) return true;
    if (before / kWarpSize == after / kWarpSize) return clock <= clocks_[after][before % kWarpSize];
    return known_[after].epoch == epoch_ && clock <= known_[after].clocks[before];
  }

 private:
  void reset();
  /// The lanes tell each other what they know of other warps.
  void share_in_warp(int warp, unsigned lanes);

  std::uint64_t epoch_ = 0;
  std::uint64_t first_epoch_ = 0;
  int num_threads_ = 0;
  bool warps_synced_ = false;  ///< since the last barrier: clocks are not as at its beginning
  std::unique_ptr<OfLanes[]> clocks_ = std::make_unique<OfLanes[]>(kMaxThreads);
  struct Free {
    void operator()(SyncClock* clocks) const;
  };
  std::unique_ptr<SyncClock[], Free> known_;  ///< by each thread, of other warps and of bulk copies
  std::uint64_t latest_acquire_ = 0;          ///< its epoch
  std::array<Clock, kMaxCopyActors> copy_clocks_ = {};
};

}  // namespace paged::simt
