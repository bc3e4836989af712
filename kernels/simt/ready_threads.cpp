#include "kernels/simt/ready_threads.h"

#include <bit>
#include <utility>

namespace paged::simt {

void ReadyThreads::begin_block(const Schedule& schedule, std::uint64_t block, int num_warps) {
  kind_ = schedule.kind;
  head_ = count_ = 0;
  if (kind_ == ScheduleKind::in_order) return;
  random_ = random_of_block(schedule, block);
  if (kind_ != ScheduleKind::warp_first) return;
  for (int w = 0; w < num_warps; ++w) warp_of_rank_[w] = static_cast<std::uint8_t>(w);
  for (int w = num_warps - 1; w > 0; --w)
    std::swap(warp_of_rank_[w], warp_of_rank_[random_.below(static_cast<unsigned>(w) + 1)]);
  for (int rank = 0; rank < num_warps; ++rank) {
    Warp& warp = warps_[warp_of_rank_[rank]];
    warp.head = warp.count = 0;
    warp.rank = static_cast<unsigned>(rank);
  }
  ready_ranks_ = 0;
  current_ = warp_of_rank_[0];
}

void ReadyThreads::push_in_warp(std::uint16_t id) {
  Warp& warp = warps_[id / kWarpSize];
  warp.ids[(warp.head + warp.count++) % kWarpSize] = id;
  ready_ranks_ |= 1U << warp.rank;
}

int ReadyThreads::pop_in_warp() {
  if (warps_[current_].count == 0) current_ = warp_of_rank_[std::countr_zero(ready_ranks_)];
  Warp& warp = warps_[current_];
  const int id = warp.ids[warp.head++ % kWarpSize];
  if (--warp.count == 0) ready_ranks_ &= ~(1U << warp.rank);
  --count_;
  return id;
}

}  // namespace paged::simt
