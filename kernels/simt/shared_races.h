// Data races and uninitialised reads in the shared memory of one block.
//
// Two accesses race if they come from different threads, touch a byte in common, one of them writes
// (atomics do not race with atomics), and nothing orders them. What orders: __syncthreads() all
// threads of the block, __syncwarp() the lanes that it names. Shuffles and votes do not: CUDA
// promises no memory ordering for them.
//
// Since only the block barrier orders threads of different warps, an access is described by how many
// barriers came before it (its epoch) and, within a warp, by vector clocks of its 32 lanes, in the
// manner of C. Flanagan and S. Freund, "FastTrack: Efficient and Precise Dynamic Race Detection",
// PLDI 2009.
#pragma once
#include "kernels/simt/fiber.h"

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
  /// [begin, begin + size): the OS thread's thread-local variables, which is where shared memory is.
  void begin_launch(std::uintptr_t begin, std::size_t size);
  /// Forgets what earlier blocks left.
  void begin_block(int num_threads);
  /// Everything before is ordered before everything after.
  void at_barrier();
  /// The lanes' accesses before are ordered before those lanes' accesses after.
  void at_warp_sync(int warp, unsigned lanes);

  /// Looks at an access that lies in the shared memory. Does not return if it races.
  void see(Worker& worker, const Access& access);

 private:
  static constexpr std::uint16_t kNobody = 0xFFFF;
  using Clocks = std::array<std::uint16_t, kWarpSize>;

  /// What happened to four bytes. All but `initialised` counts only in the epoch that it names:
  /// older accesses are ordered before the present ones.
  struct Cell {
    std::uint64_t epoch;           ///< of what follows, but for `initialised`
    std::uint64_t initialised_in;  ///< first epoch of the block that `initialised` belongs to
    std::uintptr_t write_pc, read_pc, other_read_pc;
    std::uint16_t writer;              ///< thread of the last write, or kNobody
    std::uint16_t write_clock;         ///< the writer's clock then
    std::uint16_t read_warp;           ///< warp of the first read since then, or kNobody
    std::uint16_t other_reader;        ///< a reading thread of another warp, or kNobody
    std::uint8_t written, other_read;  ///< which of the four bytes, by writer and other_reader
    std::uint8_t initialised;          ///< which of them something in this block has written
    bool atomic;                       ///< the last write was
    Clocks reads;                      ///< of read_warp's lanes, when they read
    std::array<std::uint8_t, kWarpSize> read;  ///< which of the bytes each of them has read
  };

  void see_cell(Worker& worker, const Access& access, Cell& cell, std::uint8_t bytes);
  /// Whether an access of a thread at its clock `clock` is ordered before what `now` does now.
  bool is_ordered(int before, std::uint16_t clock, int now) const {
    return before == now ||
           (before / kWarpSize == now / kWarpSize && clock <= clocks_[now][before % kWarpSize]);
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
    void operator()(Cell* cells) const;
  };
  std::unique_ptr<Cell[], Free> cells_;  ///< pages appear when touched
  std::uint64_t epoch_ = 0;              ///< barriers and blocks so far
  std::uint64_t first_epoch_ = 0;        ///< of this block
  int num_threads_ = 0;
  bool warps_synced_ = false;  ///< since the last barrier: clocks are not as at its beginning
  std::unique_ptr<Clocks[]> clocks_ = std::make_unique<Clocks[]>(kMaxThreads);
};

}  // namespace paged::simt
