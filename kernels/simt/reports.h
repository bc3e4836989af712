// Turns what a thread did wrong into a finding.
#pragma once
#include "kernels/simt/checker.h"
#include "kernels/simt/fiber.h"
#include "kernels/simt/finding_log.h"
#include "kernels/simt/launch.h"
#include "kernels/simt/race_cell.h"

#include <source_location>
#include <string>

namespace paged::simt {

struct Worker;

/// The same call in the source.
bool same_position(const std::source_location& a, const std::source_location& b);

/// "block (0,1,0), thread (5,0,0) (warp 0, lane 5), phase QK"
std::string describe_thread(const Fiber& fiber);
/// The same for a thread of a block that is over; phase: a Phase, or -1.
std::string describe_thread(const LaunchRequest& launch, std::uint64_t block, int thread,
                            int phase);

/// "4-byte read"
std::string describe_access(const Access& access);

/// "a read", "a write", "an atomic"
std::string with_article(AccessKind kind);

/// "byte 12 of 'output' (4096 bytes)", for an address in an allocation.
std::string place_in_allocation(std::uintptr_t address);

/// "thread (5,0,0) (warp 0, lane 5)"
std::string text_of_thread(const Fiber& fiber);

/// "__shfl_xor_sync at stage_02.cu:71"
std::string describe_wait(const Fiber& fiber);

/// Records "<thread>: <what>".
void report(Worker& worker, FindingKind kind, const CodePlace& place, const Fiber& fiber,
            const std::string& what);

/// place: what is at the access's address
void report_data_race(Worker& worker, const Access& access, const EarlierAccess& racing,
                      const std::string& place);
void report_barrier_divergence(Worker& worker, const Fiber& one, const Fiber& other);
void report_barrier_after_exit(Worker& worker, const Fiber& waiting);
void report_caller_not_in_mask(Worker& worker, const Fiber& fiber);
void report_exited_lanes_in_mask(Worker& worker, const Fiber& fiber, unsigned exited);
void report_shuffle_from_absent_lane(Worker& worker, const Fiber& fiber);
/// A warp of fewer than 32 threads at an operation that needs all lanes.
void report_partial_warp(Worker& worker, const Fiber& fiber);
void report_shuffle_width(Worker& worker, const Fiber& fiber, int width);
void report_warp_operation_mismatch(Worker& worker, const Fiber& one, const Fiber& other);
void report_deadlock(Worker& worker);

}  // namespace paged::simt
