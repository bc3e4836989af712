// Shuffles, votes and __syncwarp: lanes wait for those that their mask names.
#include "kernels/simt/reports.h"
#include "kernels/simt/warp_operations.h"
#include "kernels/simt/worker.h"

#include <bit>

namespace paged::simt {

namespace {

// Calls f(fiber) for each lane in the set.
template <typename F>
void for_each_lane(const Worker& worker, int warp, unsigned lanes, F f) {
  for (unsigned rest = lanes; rest != 0; rest &= rest - 1)
    f(worker.fibers[warp * kWarpSize + std::countr_zero(rest)]);
}

// Lanes whose value is not 0.
unsigned ballot(const Worker& worker, int warp, unsigned lanes) {
  unsigned votes = 0;
  for_each_lane(worker, warp, lanes, [&](const Fiber& fiber) {
    if (fiber.value != 0) votes |= 1U << fiber.lane;
  });
  return votes;
}

bool is_shuffle(WarpOperation operation) {
  return operation >= WarpOperation::shuffle && operation <= WarpOperation::shuffle_xor;
}

// All lanes that the mask names have come: hands out results and lets them go on.
void complete(Worker& worker, int warp, unsigned lanes, WarpOperation operation) {
  const unsigned votes = is_shuffle(operation) ? 0 : ballot(worker, warp, lanes);
  for_each_lane(worker, warp, lanes, [&](Fiber& fiber) {
    if (!is_shuffle(operation)) {
      fiber.result = votes;
      return;
    }
    if ((lanes >> fiber.source_lane & 1U) == 0) {
      report_shuffle_from_absent_lane(worker, fiber);
      stop_block(worker);
    }
    fiber.result = worker.fibers[warp * kWarpSize + fiber.source_lane].value;
  });
  if (operation == WarpOperation::sync) worker.checker.at_warp_sync(warp, lanes);
  worker.counter.at_warp_operation(worker,
                                   worker.fibers[warp * kWarpSize + std::countr_zero(lanes)], lanes,
                                   is_shuffle(operation));
  worker.warps[warp].waiting &= ~lanes;
  for_each_lane(worker, warp, lanes, [&](Fiber& fiber) { resume_later(worker, fiber); });
}

// One more lane waits.
void note_waiting(WarpState& warp, const Fiber& fiber) {
  if (warp.waiting == 0) {
    warp.agreed = true;
    warp.operation = fiber.operation;
    warp.mask = fiber.mask;
  } else {
    warp.agreed &= fiber.operation == warp.operation && fiber.mask == warp.mask;
  }
  warp.waiting |= 1U << fiber.lane;
}

// A lane that waits for `fiber`, and that `fiber` waits for, but in another operation.
const Fiber* find_mismatch(const Worker& worker, const Fiber& fiber) {
  const WarpState& warp = worker.warps[fiber.warp];
  if (warp.agreed) return nullptr;
  const Fiber* mismatch = nullptr;
  for_each_lane(worker, fiber.warp, fiber.mask & warp.waiting, [&](const Fiber& other) {
    const bool same = other.mask == fiber.mask && other.operation == fiber.operation;
    if (!same && (other.mask >> fiber.lane & 1U) != 0 && mismatch == nullptr) mismatch = &other;
  });
  return mismatch;
}

bool all_joined(const Worker& worker, const Fiber& fiber) {
  const WarpState& warp = worker.warps[fiber.warp];
  const unsigned lanes = fiber.mask & warp.existing;
  if ((warp.waiting & lanes) != lanes) return false;
  if (warp.agreed) return true;
  bool joined = true;
  for_each_lane(worker, fiber.warp, lanes, [&](const Fiber& other) {
    joined &= other.mask == fiber.mask && other.operation == fiber.operation;
  });
  return joined;
}

void check_mask(Worker& worker, const Fiber& fiber) {
  const WarpState& warp = worker.warps[fiber.warp];
  if ((fiber.mask >> fiber.lane & 1U) == 0) {
    report_caller_not_in_mask(worker, fiber);
    stop_block(worker);
  }
  if (const unsigned exited = fiber.mask & warp.existing & ~warp.live; exited != 0) {
    report_exited_lanes_in_mask(worker, fiber, exited);
    stop_block(worker);
  }
}

}  // namespace

std::uint64_t join_warp_operation(WarpOperation operation, unsigned mask, std::uint64_t value,
                                  int source_lane, std::source_location where) noexcept {
  return join_warp_operation(operation, mask, value, source_lane, where,
                             reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)));
}

std::uint64_t join_warp_operation(WarpOperation operation, unsigned mask, std::uint64_t value,
                                  int source_lane, std::source_location where, std::uintptr_t pc) {
  Worker& worker = *current_worker;
  Fiber& self = *worker.current;
  WarpState& warp = worker.warps[self.warp];
  self.operation = operation;
  self.mask = operation == WarpOperation::active_mask ? 1U << self.lane : mask;
  self.value = value;
  self.source_lane = source_lane;
  self.where = where;
  self.pc = pc;
  check_mask(worker, self);

  self.state = FiberState::at_warp_operation;
  note_waiting(warp, self);
  if (operation != WarpOperation::active_mask) {
    if (all_joined(worker, self)) {
      complete(worker, self.warp, self.mask & warp.existing, operation);
    } else if (const Fiber* other = find_mismatch(worker, self); other != nullptr) {
      report_warp_operation_mismatch(worker, self, *other);
      stop_block(worker);
    }
  }
  suspend(worker);
  return self.result;
}

void refuse_shuffle_width(WarpOperation operation, int width, std::source_location where) noexcept {
  Worker& worker = *current_worker;
  Fiber& self = *worker.current;
  self.operation = operation;
  self.where = where;
  self.pc = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  report_shuffle_width(worker, self, width);
  stop_block(worker);
}

void note_exit_in_warp(Worker& worker, const Fiber& fiber) {
  WarpState& warp = worker.warps[fiber.warp];
  const unsigned lane = 1U << fiber.lane;
  warp.live &= ~lane;
  for_each_lane(worker, fiber.warp, warp.waiting, [&](const Fiber& waiting) {
    if ((waiting.mask & lane) == 0) return;
    report_exited_lanes_in_mask(worker, waiting, lane);
    stop_block(worker);
  });
}

bool release_active_masks(Worker& worker) {
  bool released = false;
  for (int w = 0; w < worker.num_warps; ++w) {
    const Fiber* first = nullptr;
    unsigned together = 0;
    for_each_lane(worker, w, worker.warps[w].waiting, [&](const Fiber& fiber) {
      if (fiber.operation != WarpOperation::active_mask) return;
      if (first == nullptr) first = &fiber;
      if (same_position(fiber.where, first->where)) together |= 1U << fiber.lane;
    });
    for_each_lane(worker, w, together, [&](Fiber& fiber) { fiber.value = 1; });
    if (together != 0) complete(worker, w, together, WarpOperation::active_mask);
    released |= together != 0;
  }
  return released;
}

}  // namespace paged::simt
