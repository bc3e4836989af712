#include "kernels/simt/reports.h"

#include "kernels/kernel_name.h"
#include "kernels/simt/advice.h"
#include "kernels/simt/device_memory.h"
#include "kernels/simt/worker.h"

#include <bit>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

namespace paged::simt {

namespace {

const char* name_of(WarpOperation operation) {
  constexpr const char* names[] = {
      "__syncwarp",           "__shfl_sync",       "__shfl_up_sync",    "__shfl_down_sync",
      "__shfl_xor_sync",      "__ballot_sync",     "__any_sync",        "__all_sync",
      "__activemask",         "ldmatrix<1>",       "ldmatrix<2>",       "ldmatrix<4>",
      "ldmatrix_trans<1>",    "ldmatrix_trans<2>", "ldmatrix_trans<4>", "mma_m16n8k16 of f16",
      "mma_m16n8k16 of bf16", "mma_m16n8k8"};
  return names[static_cast<int>(operation)];
}

CodePlace place_of(const Fiber& fiber) { return {fiber.pc, simt::text_of(fiber.where)}; }

std::string hexadecimal(unsigned mask) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x", mask);
  return text;
}

std::string with_mask(const Fiber& fiber) {
  return describe_wait(fiber) + " with mask " + hexadecimal(fiber.mask);
}

std::string text_of_thread(const uint3& thread, int id) {
  return "thread " + text_of_extent(thread) + " (warp " + std::to_string(id / kWarpSize) +
         ", lane " + std::to_string(id % kWarpSize) + ")";
}

std::string text_of_block_and_thread(const uint3& block, const uint3& thread, int id, int phase) {
  std::string text = "block " + text_of_extent(block) + ", " + text_of_thread(thread, id);
  if (phase >= 0) text += std::string(", phase ") + paged::name_of(static_cast<Phase>(phase));
  return text;
}

// Threads in a row that wait at the same place, or have exited.
struct Group {
  int first, last;
  std::string what;
};

std::vector<Group> group_threads(const Worker& worker) {
  std::vector<Group> groups;
  for (int id = 0; id < worker.num_threads; ++id) {
    const Fiber& fiber = worker.fibers[id];
    const std::string what = fiber.state == FiberState::exited ? "exited"
                             : fiber.state == FiberState::at_warp_operation
                                 ? "wait at " + with_mask(fiber)
                                 : "wait at " + describe_wait(fiber);
    if (!groups.empty() && groups.back().what == what)
      groups.back().last = id;
    else
      groups.push_back({id, id, what});
  }
  return groups;
}

}  // namespace

bool same_position(const std::source_location& a, const std::source_location& b) {
  return a.line() == b.line() && a.column() == b.column() &&
         (a.file_name() == b.file_name() || std::strcmp(a.file_name(), b.file_name()) == 0);
}

std::string text_of_thread(const Fiber& fiber) {
  return text_of_thread(fiber.coordinates.thread, fiber.id);
}

std::string describe_thread(const Fiber& fiber) {
  return text_of_block_and_thread(fiber.coordinates.block, fiber.coordinates.thread, fiber.id,
                                  fiber.phase ? static_cast<int>(*fiber.phase) : -1);
}

std::string describe_thread(const LaunchRequest& launch, std::uint64_t block, int thread,
                            int phase) {
  return text_of_block_and_thread(index_in(launch.grid, block),
                                  index_in(launch.block, static_cast<std::uint64_t>(thread)),
                                  thread, phase);
}

std::string describe_access(const Access& access) {
  return std::to_string(access.size) + "-byte " + name_of(access.kind);
}

std::string with_article(AccessKind kind) {
  return std::string(kind == AccessKind::atomic ? "an " : "a ") + name_of(kind);
}

std::string place_in_allocation(std::uintptr_t address) {
  const UncheckedScope unchecked;
  const Allocation* allocation = device_memory().find(address);
  if (allocation == nullptr) return "memory that is no allocation";
  return "byte " + std::to_string(address - allocation->begin()) + " of '" + allocation->name +
         "' (" + std::to_string(allocation->bytes) + " bytes)";
}

std::string describe_wait(const Fiber& fiber) {
  const char* what = fiber.state == FiberState::at_barrier    ? "__syncthreads"
                     : fiber.state == FiberState::at_mbarrier ? "an mbarrier"
                                                              : name_of(fiber.operation);
  return std::string(what) + " at " + text_of(fiber.where);
}

void report(Worker& worker, FindingKind kind, const CodePlace& place, const Fiber& fiber,
            const std::string& what) {
  worker.findings.add(
      {kind, worker.launch->kernel, place, describe_thread(fiber) + ": " + what, 1});
}

void report_data_race(Worker& worker, const Access& access, const EarlierAccess& racing,
                      const std::string& place) {
  const UncheckedScope unchecked;
  const std::string who =
      racing.thread < kMaxThreads
          ? with_article(racing.kind) + " by " + text_of_thread(worker.fibers[racing.thread])
          : "a bulk copy whose mbarrier the thread has not waited for, which starts";
  worker.findings.add({FindingKind::data_race, worker.launch->kernel, CodePlace{access.pc, ""},
                       describe_thread(*worker.current) + ": " + describe_access(access) + " at " +
                           place + " races with " + who,
                       1, CodePlace{racing.pc, ""}});
}

void report_barrier_divergence(Worker& worker, const Fiber& one, const Fiber& other) {
  const UncheckedScope unchecked;
  const bool same_warp = one.warp == other.warp;
  report(worker, FindingKind::barrier_divergence, place_of(one), one,
         "waits at " + describe_wait(one) + " while thread " +
             text_of_extent(other.coordinates.thread) + " of the same " +
             (same_warp ? "warp" : "block") + " waits at " + describe_wait(other));
}

void report_barrier_after_exit(Worker& worker, const Fiber& waiting) {
  const UncheckedScope unchecked;
  const CodePlace place = place_of(waiting);
  if (worker.findings.count_again(FindingKind::barrier_after_exit, place)) return;
  report(worker, FindingKind::barrier_after_exit, place, waiting,
         "waits at a barrier that " + std::to_string(worker.num_exited) + " of the block's " +
             std::to_string(worker.num_threads) + " threads can no longer reach: they have exited");
}

void report_caller_not_in_mask(Worker& worker, const Fiber& fiber) {
  const UncheckedScope unchecked;
  report(worker, FindingKind::warp_lane_missing, place_of(fiber), fiber,
         std::string("calls ") + name_of(fiber.operation) + " with mask " +
             hexadecimal(fiber.mask) + ", which does not name the calling lane");
}

void report_exited_lanes_in_mask(Worker& worker, const Fiber& fiber, unsigned exited) {
  const UncheckedScope unchecked;
  report(worker, FindingKind::warp_lane_missing, place_of(fiber), fiber,
         std::string("calls ") + name_of(fiber.operation) + " with mask " +
             hexadecimal(fiber.mask) + ", which names " + std::to_string(std::popcount(exited)) +
             " lanes that have exited, lane " + std::to_string(std::countr_zero(exited)) +
             " the first");
}

void report_shuffle_from_absent_lane(Worker& worker, const Fiber& fiber) {
  const UncheckedScope unchecked;
  const unsigned existing = worker.warps[fiber.warp].existing;
  const bool exists = (existing >> fiber.source_lane & 1U) != 0;
  report(worker, FindingKind::warp_lane_missing, place_of(fiber), fiber,
         std::string(name_of(fiber.operation)) + " reads lane " +
             std::to_string(fiber.source_lane) + ", which " +
             (exists ? "mask " + hexadecimal(fiber.mask) + " does not name"
                     : "this warp of " + std::to_string(std::popcount(existing)) +
                           " threads does not have"));
}

void report_partial_warp(Worker& worker, const Fiber& fiber) {
  const UncheckedScope unchecked;
  report(worker, FindingKind::warp_lane_missing, place_of(fiber), fiber,
         std::string("calls ") + name_of(fiber.operation) +
             ", which needs all 32 lanes, in a warp of " +
             std::to_string(std::popcount(worker.warps[fiber.warp].existing)) + " threads");
}

void report_shuffle_width(Worker& worker, const Fiber& fiber, int width) {
  const UncheckedScope unchecked;
  report(worker, FindingKind::warp_lane_missing, place_of(fiber), fiber,
         std::string("calls ") + name_of(fiber.operation) + " with width " + std::to_string(width) +
             ", which is no power of two from 1 to 32");
}

void report_warp_operation_mismatch(Worker& worker, const Fiber& one, const Fiber& other) {
  const UncheckedScope unchecked;
  report(worker, FindingKind::warp_operation_mismatch, place_of(one), one,
         "is at " + with_mask(one) + " while lane " + std::to_string(other.lane) +
             " of the same warp, which it names, is at " + with_mask(other));
}

void report_deadlock(Worker& worker) {
  const UncheckedScope unchecked;
  const Fiber* waiting = nullptr;  // not at a barrier, if there is one: it would be open
  for (int id = 0; id < worker.num_threads; ++id) {
    const Fiber& fiber = worker.fibers[id];
    if (fiber.state == FiberState::exited) continue;
    if (waiting == nullptr ||
        (waiting->state == FiberState::at_barrier && fiber.state != FiberState::at_barrier))
      waiting = &fiber;
  }

  constexpr std::size_t kMostGroups = 6;
  const std::vector<Group> groups = group_threads(worker);
  std::string who = "no thread of the block can go on: ";
  for (std::size_t i = 0; i < groups.size() && i < kMostGroups; ++i) {
    const Group& group = groups[i];
    who += (i == 0 ? "threads " : "; threads ") + std::to_string(group.first) + "-" +
           std::to_string(group.last) + " " + group.what;
  }
  if (groups.size() > kMostGroups) who += "; and so on";
  const std::string waits = worker.mbarriers.describe_waits();
  RecordedFinding finding{FindingKind::deadlock, worker.launch->kernel, place_of(*waiting),
                          describe_thread(*waiting) + ": " + who + waits};
  if (!waits.empty()) finding.advice = advice_for_mbarriers();
  worker.findings.add(std::move(finding));
}

bool resolve_standstill(Worker& worker) {
  if (worker.num_exited == worker.num_threads) return false;
  if (release_active_masks(worker)) return true;
  if (worker.mbarriers.refuse_try_waits(worker)) return true;
  report_deadlock(worker);
  stop_block(worker);
}

}  // namespace paged::simt
