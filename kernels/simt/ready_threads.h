// The threads of a block that can run, and which of them is next.
#pragma once
#include "kernels/simt/fiber.h"
#include "kernels/simt/schedule.h"

#include <array>
#include <cstdint>

namespace paged::simt {

/// Fibers that can run. A fiber is in it at most once.
class ReadyThreads {
 public:
  /// Nobody is ready; chooses for this block from here on.
  void begin_block(const Schedule& schedule, std::uint64_t block, int num_warps);

  bool empty() const { return count_ == 0; }

  void push(int fiber) {
    const auto id = static_cast<std::uint16_t>(fiber);
    if (kind_ == ScheduleKind::warp_first)
      push_in_warp(id);
    else
      ids_[(head_ + count_) % kMaxThreads] = id;
    ++count_;
  }

  /// One of those that are ready, of which there is at least one.
  int pop() {
    if (kind_ == ScheduleKind::warp_first) return pop_in_warp();
    std::uint16_t& next = ids_[head_++ % kMaxThreads];
    if (kind_ != ScheduleKind::in_order) {  // the first goes where the chosen one was
      std::uint16_t& chosen = ids_[(head_ - 1 + random_.below(count_)) % kMaxThreads];
      std::swap(next, chosen);
    }
    --count_;
    return next;
  }

  /// Whether the running thread gives way before an access.
  bool gives_way() {
    return kind_ == ScheduleKind::preemptive && random_.below(kAccessesPerTurn) == 0;
  }

 private:
  /// On average, between two times that a thread is preempted: few, so that short kernels are, too.
  static constexpr unsigned kAccessesPerTurn = 4;

  struct Warp {
    std::array<std::uint16_t, kWarpSize> ids;  ///< first in, first out
    unsigned head = 0, count = 0;
    unsigned rank = 0;
  };
  void push_in_warp(std::uint16_t id);
  int pop_in_warp();

  ScheduleKind kind_ = ScheduleKind::in_order;
  ScheduleRandom random_;
  std::array<std::uint16_t, kMaxThreads> ids_;
  unsigned head_ = 0;
  unsigned count_ = 0;

  // warp_first only
  std::array<Warp, kMaxWarps> warps_;
  std::array<std::uint8_t, kMaxWarps> warp_of_rank_;
  unsigned ready_ranks_ = 0;  ///< of warps that have a ready thread, as bits
  unsigned current_ = 0;      ///< warp
};

}  // namespace paged::simt
