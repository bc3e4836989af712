// Data races and uninitialised reads in the shared memory of one block.
//
// Two accesses race if they come from different threads, touch a byte in common, one of them writes
// (atomics do not race with atomics), and nothing orders them. What orders: __syncthreads() all
// threads of the block, __syncwarp() the lanes that it names, an mbarrier those that arrive before
// those that wait. Shuffles and votes do not: CUDA promises no memory ordering for them.
//
// An access is described by how many barriers of the block came before it (its epoch) and, within a
// warp, by vector clocks of its 32 lanes; what a thread knows of other warps' clocks, which it can
// learn only through mbarriers, is kept apart. All in the manner of C. Flanagan and S. Freund,
// "FastTrack: Efficient and Precise Dynamic Race Detection", PLDI 2009.
#pragma once
#include "kernels/simt/fiber.h"
#include "kernels/simt/sync_clock.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace paged::simt {

struct Access;
struct Worker;

/// One worker's shadow of the shared memory that its blocks use, static and dynamic.
class SharedRaces {
 public:
  /// [begin, begin + size): the OS thread's thread-local variables, which is where shared memory
  /// is.
  void begin_launch(std::uintptr_t begin, std::size_t size);
  /// Forgets what earlier blocks left.
  void begin_block(int num_threads);
  /// Everything before is ordered before everything after.
  void at_barrier();
  /// The lanes' accesses before are ordered before those lanes' accesses after.
  void at_warp_sync(int warp, unsigned lanes);

  /// What the thread, and those that it knows of, did so far is ordered before what comes after an
  /// acquire() of that clock.
  void release(int thread, SyncClock& clock);
  void acquire(int thread, const SyncClock& clock);
  /// A bulk copy has written for an mbarrier's actor; who acquires the clock may read it. Between
  /// the copy's start and this nobody had access.
  void see_bulk_arrival(const Access& access, int actor, SyncClock& clock);

  /// Looks at an access that lies in the shared memory. Does not return if it races.
  void see(Worker& worker, const Access& access);

 private:
  static constexpr std::uint16_t kNobody = 0xFFFF;
  static constexpr std::size_t kCellBytes = 4;
  using Clocks = std::array<std::uint16_t, kWarpSize>;

  /// What happened to four bytes. All but `initialised` counts only in the epoch that it names:
  /// older accesses are ordered before the present ones.
  struct Cell {
    std::uint64_t epoch;           ///< of what follows, but for `initialised`
    std::uint64_t initialised_in;  ///< first epoch of the block that `initialised` belongs to
    std::uintptr_t write_pc, read_pc, other_read_pc;
    std::uint16_t writer;              ///< actor of the last write, or kNobody
    std::uint16_t write_clock;         ///< the writer's clock then
    std::uint16_t read_warp;           ///< warp of the first read since then, or kNobody
    std::uint16_t other_reader;        ///< a reading thread of another warp, or kNobody
    std::uint16_t other_read_clock;    ///< its clock then
    std::uint8_t written, other_read;  ///< which of the four bytes, by writer and other_reader
    std::uint8_t initialised;          ///< which of them something in this block has written
    bool atomic;                       ///< the last write was
    Clocks reads;                      ///< of read_warp's lanes, when they read
    std::array<std::uint8_t, kWarpSize> read;  ///< which of the bytes each of them has read
  };

  void see_cell(Worker& worker, const Access& access, Cell& cell, std::uint8_t bytes);
  /// Calls f(cell, which of its bytes) for all cells of an access.
  template <typename F>
  [[gnu::always_inline]] void for_each_cell(std::uintptr_t begin, std::size_t size, F f) {
    const std::uintptr_t end = begin + size;
    for (std::uintptr_t word = begin / kCellBytes * kCellBytes; word < end; word += kCellBytes) {
      const unsigned first = begin > word ? static_cast<unsigned>(begin - word) : 0;
      const unsigned last = static_cast<unsigned>(std::min<std::uintptr_t>(end - word, kCellBytes));
      f(cells_[(word - begin_) / kCellBytes],
        static_cast<std::uint8_t>((1U << last) - (1U << first)));
    }
  }
  /// Forgets what a cell remembers of earlier epochs and blocks.
  void open(Cell& cell) const;
  /// The lanes tell each other what they know of other warps.
  void share_in_warp(int warp, unsigned lanes);
  /// Whether an access of a thread at its clock `clock` is ordered before what `now` does now.
  bool is_ordered(int before, std::uint16_t clock, int now) const {
    if (before == now) return true;
    if (before / kWarpSize == now / kWarpSize) return clock <= clocks_[now][before % kWarpSize];
    return known_[now].epoch == epoch_ && clock <= known_[now].clocks[before];
  }
  void reset_clocks();
  /// The thread of the cell's reads that races with a write of `now`, or -1.
  int racing_reader(const Cell& cell, std::uint8_t bytes, int now) const;
  [[noreturn]] void stop_at_race(Worker& worker, const Access& access, int other,
                                 std::uintptr_t other_pc, const char* other_kind) const;
  void report_uninitialised(Worker& worker, const Access& access) const;

  std::uintptr_t begin_ = 0;
  std::size_t num_cells_ = 0;
  struct Free {
    void operator()(void* memory) const;
  };
  std::unique_ptr<Cell[], Free> cells_;  ///< pages appear when touched
  std::uint64_t epoch_ = 0;              ///< barriers and blocks so far
  std::uint64_t first_epoch_ = 0;        ///< of this block
  int num_threads_ = 0;
  bool warps_synced_ = false;  ///< since the last barrier: clocks are not as at its beginning
  std::unique_ptr<Clocks[]> clocks_ = std::make_unique<Clocks[]>(kMaxThreads);
  std::unique_ptr<SyncClock[], Free> known_;  ///< by each thread, of other warps and of bulk copies
  std::uint64_t latest_acquire_ = 0;          ///< its epoch
  std::array<std::uint16_t, kMaxCopyActors> copy_clocks_ = {};
};

}  // namespace paged::simt
