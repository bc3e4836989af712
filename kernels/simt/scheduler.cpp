// Runs the threads of a block as fibers, one at a time, until each has exited.
#include "kernels/simt/shared_memory.h"
#include "kernels/simt/worker.h"

#include <algorithm>
#include <cstring>

namespace paged::simt {

thread_local Worker* current_worker = nullptr;

const ThreadCoordinates& coordinates() noexcept { return current_worker->current->coordinates; }

void set_phase(Phase phase) noexcept { current_worker->current->phase = phase; }

uint3 index_in(const dim3& extent, std::uint64_t linear) {
  return {static_cast<unsigned>(linear % extent.x),
          static_cast<unsigned>(linear / extent.x % extent.y),
          static_cast<unsigned>(linear / extent.x / extent.y)};
}

namespace {

// Runs on the fiber's stack, for one block after the other.
void fiber_main(boost::context::detail::transfer_t from) {
  *static_cast<FiberContext*>(from.data) = from.fctx;
  Worker& worker = *current_worker;
  for (;;) {
    worker.launch->run_thread(worker.launch->arguments);
    Fiber& fiber = *worker.current;
    fiber.state = FiberState::exited;
    ++worker.num_exited;
    note_exit_in_warp(worker, fiber);
    try_open_barrier(worker);
    suspend(worker);
  }
}

void switch_to(Worker& worker, FiberContext& from, Fiber& to) {
  if (to.context == nullptr) worker.fibers.prepare(to, &fiber_main);
  worker.current = &to;
  switch_context(from, to.context);
}

unsigned low_bits(int count) { return count >= kWarpSize ? ~0U : (1U << count) - 1U; }

void place_threads(Worker& worker) {
  const dim3 grid = worker.launch->grid;
  const dim3 block = worker.launch->block;
  const uint3 block_index = index_in(grid, worker.block);
  for (int id = 0; id < worker.num_threads; ++id) {
    Fiber& fiber = worker.fibers[id];
    fiber.coordinates.thread = index_in(block, static_cast<std::uint64_t>(id));
    fiber.coordinates.block = block_index;
    fiber.coordinates.block_extent = block;
    fiber.coordinates.grid_extent = grid;
    fiber.phase.reset();
    resume_later(worker, fiber);
  }
}

void begin_block(Worker& worker) {
  const dim3 block = worker.launch->block;
  worker.num_threads = static_cast<int>(block.x * block.y * block.z);
  worker.num_warps = (worker.num_threads + kWarpSize - 1) / kWarpSize;
  worker.num_exited = 0;
  worker.stopped = false;
  worker.barrier = {};
  worker.ready.begin_block(worker.schedule, worker.block, worker.num_warps);
  worker.findings.begin(worker.position);
  for (int w = 0; w < worker.num_warps; ++w) {
    const unsigned lanes = low_bits(worker.num_threads - w * kWarpSize);
    worker.warps[w] = WarpState{.existing = lanes, .live = lanes};
  }
  worker.async_copies.begin_block();
  worker.mbarriers.begin_block();
  worker.matrices.begin_block();
  place_threads(worker);
  std::memset(dynamic_shared, 0xFF, worker.launch->shared_bytes);
}

}  // namespace

void run_block(Worker& worker, std::uint64_t position, std::uint64_t block) {
  worker.position = position;
  worker.block = block;
  begin_block(worker);
  worker.checker.begin_block(worker);
  switch_to(worker, worker.scheduler, worker.fibers[worker.ready.pop()]);
  worker.current = nullptr;
  worker.checker.end_block(worker);
  worker.counter.end_block(worker);
}

void resume_later(Worker& worker, Fiber& fiber) {
  fiber.state = FiberState::ready;
  worker.ready.push(fiber.id);
}

void suspend(Worker& worker) {
  Fiber& self = *worker.current;
  if (worker.ready.empty() && !resolve_standstill(worker)) {
    worker.current = nullptr;
    switch_context(self.context, worker.scheduler);  // all have exited; back for the next block
    return;
  }
  Fiber& next = worker.fibers[worker.ready.pop()];
  if (&next != &self) switch_to(worker, self.context, next);
}

void give_way(Worker& worker) {
  resume_later(worker, *worker.current);
  suspend(worker);
}

void stop_block(Worker& worker) {
  for (int id = 0; id < worker.num_threads; ++id) {
    Fiber& fiber = worker.fibers[id];
    if (fiber.state != FiberState::exited || &fiber == worker.current) fiber.context = nullptr;
    fiber.state = FiberState::exited;
  }
  worker.stopped = true;
  worker.current = nullptr;
  FiberContext abandoned = nullptr;
  switch_context(abandoned, worker.scheduler);
  __builtin_unreachable();
}

}  // namespace paged::simt
