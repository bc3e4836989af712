// The requests of warps one by one, with where each lane goes and what it moves: what counting adds
// up, kept for pictures of it while the host has switched tracing on beside counting.
//
// A request takes a kilobyte, so this is for small launches.
#pragma once
#include "kernels/counts.h"
#include "kernels/simt/access.h"
#include "kernels/simt/warp_access.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace paged::simt {

/// What one lane loaded or stored, as bytes; of accesses of more bytes, and of atomics, zeros. Of
/// an asynchronous copy's destination, what was there before the copy arrived.
using LaneValue = std::array<std::byte, 16>;

/// One instruction of one warp that asks for memory.
struct TracedRequest {
  int launch = 0;           ///< 0 for the first one that was traced
  std::uint64_t block = 0;  ///< linear index in the grid
  int warp = 0;
  int barriers = 0;  ///< that the block had passed before
  CountedPhase phase;
  bool shared = false;  ///< memory of the block, not of the device
  AccessKind kind{};
  int bytes = 0;                           ///< a lane's access
  std::uintptr_t pc = 0;                   ///< for look_up_lines_of_accesses()
  std::string memory;                      ///< name of the allocation or of the shared variable
  unsigned lanes = 0;                      ///< that take part, as bits
  std::array<std::int64_t, 32> offsets{};  ///< bytes from the memory's beginning, by lane
  std::array<LaneValue, 32> values{};      ///< by lane
  Counts counts;                           ///< what it adds to the counts

  bool has(int lane) const { return (lanes >> lane & 1U) != 0; }
};

/// All requests of the process since they were last taken. Thread-safe.
class RequestTrace {
 public:
  /// Nothing is traced unless counting (CountLog) is on, too.
  void switch_tracing(bool on);
  bool is_on() const;
  /// Those of one launch, from all workers.
  void add_launch(std::vector<TracedRequest> requests);
  /// By launch and block; those of a warp in an order that each of its lanes went through.
  std::vector<TracedRequest> take();

 private:
  mutable std::mutex mutex_;
  bool on_ = false;
  int num_launches_ = 0;
  std::vector<TracedRequest> requests_;
};

/// The trace of the process.
RequestTrace& request_trace();

/// One worker's part of the trace of the launch that runs.
class RequestRecorder {
 public:
  bool on() const { return on_; }
  void begin_launch();
  /// Hands over what was recorded.
  std::vector<TracedRequest> end_launch();

  /// A thread is about to do this.
  void see(int thread, std::uintptr_t address, std::size_t bytes, AccessKind kind);
  /// What lanes of a warp did together. Must be called in each lane's own order, for everything
  /// that was seen, when the warp has come to a halt; then forget_warp(). `request` says what is
  /// not asked of the addresses.
  void record(TracedRequest request, const WarpAccess& access);
  void forget_warp(int warp);
  void at_barrier() { ++num_barriers_; }
  /// The block has come to its end, or was stopped, and then is left out.
  void end_block(std::uint64_t block, bool stopped);

 private:
  /// What a thread did since its warp was last recorded.
  struct ThreadValues {
    std::vector<LaneValue> values;
    std::size_t num_recorded = 0;
    std::uintptr_t stored_at = 0;  ///< where the last value is being stored, and not yet known
    std::size_t stored_bytes = 0;

    void settle();
  };

  bool on_ = false;
  int num_barriers_ = 0;
  std::vector<ThreadValues> threads_;
  std::vector<TracedRequest> requests_;
  std::size_t first_of_block_ = 0;  ///< of the block that runs
};

}  // namespace paged::simt
