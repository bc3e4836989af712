// What one OS thread of the CPU machine needs to run a block: fibers, those that are ready, and the
// state of the block's barrier and warps.
#pragma once
#include "kernels/simt/async_copies.h"
#include "kernels/simt/checker.h"
#include "kernels/simt/counting.h"
#include "kernels/simt/fiber.h"
#include "kernels/simt/finding_log.h"
#include "kernels/simt/launch.h"
#include "kernels/simt/matrix_exchange.h"
#include "kernels/simt/mbarriers.h"
#include "kernels/simt/ready_threads.h"
#include "kernels/simt/schedule.h"

#include <array>
#include <cstdint>
#include <memory>

namespace paged::simt {

/// Lanes of one warp as bit sets.
struct WarpState {
  unsigned existing = 0;  ///< lanes that the block has
  unsigned live = 0;      ///< of these, the ones that have not exited
  unsigned waiting = 0;   ///< at a warp operation
  /// All that wait are at one operation with one mask: `operation` and `mask`.
  bool agreed = true;
  WarpOperation operation = WarpOperation::sync;
  unsigned mask = 0;
};

struct BarrierState {
  int num_waiting = 0;
  int num_true = 0;  ///< predicates among those waiting
};

/// One OS thread's share of the machine. All members belong to that thread.
struct Worker {
  FiberArena fibers;
  ReadyThreads ready;
  BarrierState barrier;
  std::array<WarpState, kMaxWarps> warps;

  const LaunchRequest* launch = nullptr;
  Schedule schedule;
  std::uint64_t position = 0;  ///< of the block, in the order in which the launch hands them out
  std::uint64_t block = 0;     ///< linear index in the grid
  int num_threads = 0;
  int num_warps = 0;
  int num_exited = 0;
  bool stopped = false;  ///< by a finding that made going on pointless

  Fiber* current = nullptr;  ///< null when no kernel code runs
  FiberContext scheduler = nullptr;
  BlockFindings findings;
  AccessChecker checker;
  AsyncCopies async_copies;
  Mbarriers mbarriers;
  MatrixExchange matrices;
  AccessCounter counter;
  std::unique_ptr<char[]> fault_stack;  ///< where reporting goes on after a stack overflow
};

/// Number `linear` in a grid or a block of this extent.
uint3 index_in(const dim3& extent, std::uint64_t linear);

/// The worker that the calling OS thread is, or null.
extern thread_local Worker* current_worker;

/// Runs the block at a position of the worker's launch to its end, or until a finding stops it.
void run_block(Worker& worker, std::uint64_t position, std::uint64_t block);

/// Called on a fiber that has noted down what it waits for: runs others until it is ready again.
void suspend(Worker& worker);

/// Called on a fiber that could go on: lets any other that is ready run first.
void give_way(Worker& worker);

/// Makes a waiting fiber ready to run.
void resume_later(Worker& worker, Fiber& fiber);

/// Abandons all threads of the block that is running. Called on a fiber; does not return.
[[noreturn]] void stop_block(Worker& worker);

/// Lets the block barrier open if every thread that has not exited waits at it.
void try_open_barrier(Worker& worker);

/// Finds out what is wrong when no thread can run and reports it; or lets threads go on that only
/// waited to see who comes along (__activemask). True if there is somebody to run now.
bool resolve_standstill(Worker& worker);

/// join_warp_operation() of warp_operations.h for the machine's own operations; pc: return address
/// of the call in the kernel.
std::uint64_t join_warp_operation(WarpOperation operation, unsigned mask, std::uint64_t value,
                                  int source_lane, std::source_location where, std::uintptr_t pc);

/// What a thread that exits means to others that wait for it.
void note_exit_in_warp(Worker& worker, const Fiber& fiber);

/// Lets all groups of lanes go on that wait at an __activemask. True if there were any.
bool release_active_masks(Worker& worker);

}  // namespace paged::simt
