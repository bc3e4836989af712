// Block-wide barriers: who waits, when all go on, and who came to a different one.
#include "kernels/simt/barriers.h"
#include "kernels/simt/reports.h"
#include "kernels/simt/worker.h"

namespace paged::simt {

namespace {

// Two waiting threads that stand at different barriers, or null.
const Fiber* find_divergent(const Worker& worker, const Fiber*& first) {
  first = nullptr;
  for (int id = 0; id < worker.num_threads; ++id) {
    const Fiber& fiber = worker.fibers[id];
    if (fiber.state != FiberState::at_barrier) continue;
    if (first == nullptr) first = &fiber;
    if (!same_position(fiber.where, first->where)) return &fiber;
  }
  return nullptr;
}

}  // namespace

BarrierResult block_barrier(bool predicate, std::source_location where) noexcept {
  Worker& worker = *current_worker;
  Fiber& self = *worker.current;
  self.state = FiberState::at_barrier;
  self.where = where;
  self.pc = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  ++worker.barrier.num_waiting;
  worker.barrier.num_true += predicate ? 1 : 0;
  try_open_barrier(worker);
  suspend(worker);
  return {static_cast<int>(self.result >> 32), static_cast<int>(self.result & 0xFFFFFFFFU)};
}

void fence_memory() noexcept { std::atomic_thread_fence(std::memory_order_seq_cst); }

void try_open_barrier(Worker& worker) {
  const int num_live = worker.num_threads - worker.num_exited;
  if (num_live == 0 || worker.barrier.num_waiting != num_live) return;

  const Fiber* first = nullptr;
  if (const Fiber* other = find_divergent(worker, first); other != nullptr) {
    report_barrier_divergence(worker, *first, *other);
    stop_block(worker);
  }
  if (worker.num_exited != 0) report_barrier_after_exit(worker, *first);

  const auto num_true = static_cast<std::uint64_t>(worker.barrier.num_true);
  worker.checker.at_barrier();
  worker.counter.at_barrier(worker, *first);
  worker.barrier = {};
  for (int id = 0; id < worker.num_threads; ++id) {
    Fiber& fiber = worker.fibers[id];
    if (fiber.state != FiberState::at_barrier) continue;
    fiber.result = num_true << 32 | static_cast<std::uint64_t>(num_live);
    resume_later(worker, fiber);
  }
}

}  // namespace paged::simt
