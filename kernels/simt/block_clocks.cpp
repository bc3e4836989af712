#include "kernels/simt/block_clocks.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <new>

namespace paged::simt {

void BlockClocks::Free::operator()(SyncClock* clocks) const { std::free(clocks); }

// Zeros from the system, which gives no memory to what is never touched.
BlockClocks::BlockClocks()
    : known_(static_cast<SyncClock*>(std::calloc(kMaxThreads, sizeof(SyncClock)))) {
  if (known_ == nullptr) throw std::bad_alloc();
}

void BlockClocks::begin_block(int num_threads) {
  first_epoch_ = ++epoch_;
  num_threads_ = num_threads;
  reset();
}

void BlockClocks::at_barrier() {
  ++epoch_;
  if (warps_synced_) reset();
}

void BlockClocks::reset() {
  for (int thread = 0; thread < num_threads_; ++thread) {
    clocks_[thread].fill(0);
    clocks_[thread][thread % kWarpSize] = 1;
  }
  copy_clocks_.fill(0);
  warps_synced_ = false;
}

void BlockClocks::at_warp_sync(int warp, unsigned lanes) {
  warps_synced_ = true;
  OfLanes joined{};
  const auto for_each = [&](auto f) {
    for (int lane = 0; lane < kWarpSize; ++lane)
      if ((lanes >> lane & 1U) != 0) f(lane, clocks_[warp * kWarpSize + lane]);
  };
  for_each([&](int, const OfLanes& clocks) {
    for (int i = 0; i < kWarpSize; ++i) joined[i] = std::max(joined[i], clocks[i]);
  });
  for_each([&](int lane, OfLanes& clocks) {
    clocks = joined;
    // At the end of its range a clock stops: races go unseen then, and none is made up.
    if (clocks[lane] != std::numeric_limits<Clock>::max()) ++clocks[lane];
  });
  share_in_warp(warp, lanes);
}

}  // namespace paged::simt
