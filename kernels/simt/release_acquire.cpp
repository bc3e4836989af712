// Order between threads of different warps without a barrier of the block: by mbarriers.
#include "kernels/simt/block_clocks.h"

#include <algorithm>
#include <limits>

namespace paged::simt {

namespace {

// At the end of its range a clock stops: races go unseen then, and none is made up.
void advance(std::uint16_t& clock) {
  if (clock != std::numeric_limits<std::uint16_t>::max()) ++clock;
}

}  // namespace

void BlockClocks::release(int thread, SyncClock& clock) {
  clock.enter(epoch_);
  const SyncClock& known = known_[thread];
  if (known.epoch == epoch_) clock.join(known);
  const int first = thread / kWarpSize * kWarpSize;
  for (int lane = 0; lane < kWarpSize; ++lane)
    clock.clocks[first + lane] = std::max(clock.clocks[first + lane], clocks_[thread][lane]);
  advance(clocks_[thread][thread % kWarpSize]);
  warps_synced_ = true;
}

void BlockClocks::acquire(int thread, const SyncClock& clock) {
  if (clock.epoch != epoch_) return;
  known_[thread].enter(epoch_);
  known_[thread].join(clock);
  latest_acquire_ = epoch_;
  const int first = thread / kWarpSize * kWarpSize;
  for (int lane = 0; lane < kWarpSize; ++lane)
    clocks_[thread][lane] = std::max(clocks_[thread][lane], clock.clocks[first + lane]);
  warps_synced_ = true;
}

void BlockClocks::share_in_warp(int warp, unsigned lanes) {
  if (latest_acquire_ != epoch_) return;  // there is nothing to tell
  SyncClock joined;
  joined.epoch = epoch_;
  const auto for_each = [&](auto f) {
    for (int lane = 0; lane < kWarpSize; ++lane)
      if ((lanes >> lane & 1U) != 0) f(known_[warp * kWarpSize + lane]);
  };
  for_each([&](const SyncClock& clock) {
    if (clock.epoch == epoch_) joined.join(clock);
  });
  for_each([&](SyncClock& clock) { clock = joined; });
}

BlockClocks::Clock BlockClocks::advance_copies(int actor, SyncClock& clock) {
  Clock& own = copy_clocks_[actor - kMaxThreads];
  advance(own);
  warps_synced_ = true;
  clock.enter(epoch_);
  clock.clocks[actor] = own;
  return own;
}

}  // namespace paged::simt
