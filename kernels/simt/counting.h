// Counts what checked kernels ask of memory, while the host has switched it on.
//
// Each access is logged with its place in the code. When the lanes of a warp are together for
// certain (a barrier, a warp operation of all its lanes, the end of the block), the log is grouped
// into instructions of the warp (lane_grouping.h) and counted. The log takes 16 bytes an access of
// a block between two such points.
#pragma once
#include "kernels/counts.h"
#include "kernels/simt/access.h"
#include "kernels/simt/fiber.h"
#include "kernels/simt/lane_grouping.h"
#include "kernels/simt/request_trace.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace paged::simt {

struct AsyncCopy;
struct LaneOperands;
struct LaunchRequest;
struct Worker;

/// What a counted place in the code does.
enum class CountedEvent : std::uint8_t {
  global_load,
  global_store,
  shared_load,
  shared_store,
  bulk_load,   ///< the global side of a bulk copy, of any size, by one thread
  bulk_store,  ///< the shared side
  atomic,
  barrier,
  shuffle,
  meeting  ///< of some lanes of a warp, which orders them and is not counted
};

/// A place in the code, in one phase, that does one thing.
struct CountedSite {
  std::uintptr_t pc = 0;  ///< return address
  CountedPhase phase;
  CountedEvent event{};
  int bytes = 0;  ///< a lane's access

  friend auto operator<=>(const CountedSite&, const CountedSite&) = default;
};

using CountsBySite = std::map<CountedSite, Counts>;

/// Counts of one launch, from all workers. Thread-safe.
class CountsOfLaunch {
 public:
  void add(const CountsBySite& counts, std::vector<TracedRequest> trace);
  const CountsBySite& all() const { return counts_; }  ///< when the workers are done
  /// The requests themselves, if they are traced; when the workers are done.
  const std::vector<TracedRequest>& trace() const { return trace_; }

 private:
  std::mutex mutex_;
  CountsBySite counts_;
  std::vector<TracedRequest> trace_;
};

/// Counts of all launches since they were last taken. Thread-safe.
class CountLog {
 public:
  void switch_counting(bool on);
  bool is_on() const;
  void add(const CountsOfLaunch& launch, bool stopped);
  /// Looks up the lines and forgets the counts.
  LaunchCounts take();

 private:
  mutable std::mutex mutex_;
  bool on_ = false;
  bool complete_ = true;
  CountsBySite counts_;
};

/// The log of the process.
CountLog& count_log();

/// One worker's counts of the launch that runs.
class AccessCounter {
 public:
  /// Whether this launch is counted. All functions below but begin_launch() ask for it.
  bool on() const { return on_; }

  void begin_launch(const LaunchRequest& request);
  /// Hands over what was counted.
  void end_launch(CountsOfLaunch& launch);
  /// Every lane's accesses so far belong to the block that ends here. Of a stopped one nothing is
  /// counted.
  void end_block(Worker& worker);

  void see(const Fiber& fiber, std::uintptr_t address, std::size_t bytes, AccessKind kind,
           std::uintptr_t pc);
  /// A thread has started an asynchronous copy: its loads and its stores, though they come later.
  void see_async_copy(const Fiber& thread, const AsyncCopy& copy);
  /// The same for a bulk copy.
  void see_bulk_copy(const Fiber& thread, const AsyncCopy& copy);
  /// A warp, `one` of its lanes, has loaded matrices by ldmatrix: num_rows rows of 16 bytes, 8 a
  /// matrix.
  void see_matrices(const Fiber& one, const LaneOperands* rows, int num_rows, std::uintptr_t pc);
  /// All threads have come to a barrier; `one` is one of them.
  void at_barrier(Worker& worker, const Fiber& one);
  /// These lanes of a warp, `one` among them, have done an operation together.
  void at_warp_operation(Worker& worker, const Fiber& one, unsigned lanes, bool is_shuffle);

 private:
  static constexpr std::size_t kNumRecent = 1024;

  struct Recent {
    CountedSite site;
    std::uint32_t number = ~0U;
  };

  /// Where an access goes; nothing for arguments and constants, which are not counted.
  bool event_of(std::uintptr_t address, AccessKind kind, CountedEvent& event) const;
  std::uint32_t number_of(const CountedSite& site);
  void log(const Fiber& thread, CountedEvent event, std::uintptr_t address, std::size_t bytes,
           std::uintptr_t pc);
  void trace(int warp, const CountedSite& site, const WarpAccess& access, const Counts& counts);
  void count_warp(int warp);
  void count_all_warps(int num_warps);

  bool on_ = false;
  std::uintptr_t tls_begin_ = 0;
  std::size_t tls_size_ = 0;
  std::uintptr_t arguments_begin_ = 0;
  std::size_t arguments_size_ = 0;

  std::vector<CountedSite> sites_;  ///< by number
  std::vector<Counts> counts_;      ///< by number
  std::map<CountedSite, std::uint32_t> numbers_;
  std::array<Recent, kNumRecent> recent_;  ///< sites lately looked up

  std::vector<std::vector<LaneAccess>> lanes_ = std::vector<std::vector<LaneAccess>>(kMaxThreads);
  LaneGrouping grouping_;
  RequestRecorder recorder_;
};

}  // namespace paged::simt
