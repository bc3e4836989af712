// Data races and uninitialised reads in the shared memory of one block. race_cell.h says what a
// race is.
#pragma once
#include "kernels/simt/access.h"
#include "kernels/simt/block_clocks.h"
#include "kernels/simt/program_symbols.h"
#include "kernels/simt/race_cell.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace paged::simt {

struct Worker;

/// One worker's shadow of the shared memory that its blocks use, static and dynamic.
class SharedRaces {
 public:
  /// clocks: of the block that the worker runs.
  explicit SharedRaces(const BlockClocks& clocks) : clocks_(clocks) {}

  /// [begin, begin + size): the OS thread's thread-local variables, which is where shared memory is.
  void begin_launch(std::uintptr_t begin, std::size_t size);

  /// A bulk copy has written for an mbarrier's actor, at the actor's clock.
  void see_bulk_arrival(const Access& access, int actor, BlockClocks::Clock clock);

  /// Looks at an access that lies in the shared memory. Does not return if it races.
  void see(Worker& worker, const Access& access);

  /// Does the same for an aligned access of 1, 2, 4, 8 or 16 bytes by a thread where that is quickly
  /// done: most accesses of a checked kernel come here. False if see() has to look at it. No
  /// asynchronous copy may be under way.
  template <std::size_t kSize>
  [[gnu::always_inline]] bool see_quickly(unsigned thread, std::uintptr_t address, AccessKind kind,
                                          std::uintptr_t pc) {
    if constexpr (kSize == kCellsOfFour * kCellBytes)
      if (kind != AccessKind::atomic &&
          fours_[address / kSize - first_four_].race.see_quickly(clocks_, thread, kind, kAll, pc))
        return true;
    Cell* const cell = &cells_[address / kCellBytes - first_cell_];
    if constexpr (kSize <= kCellBytes)
      return see_quickly(*cell, thread, kind,
                         static_cast<std::uint8_t>(((1U << kSize) - 1U) << address % kCellBytes),
                         pc);
    else
      for (std::size_t i = 0; i < kSize / kCellBytes; ++i)
        if (!see_quickly(cell[i], thread, kind, kAll, pc)) return false;
    return true;
  }

 private:
  static constexpr std::uint8_t kAll = (1U << kCellBytes) - 1U;
  static constexpr std::size_t kCellsOfFour = 4;

  struct alignas(64) Cell {
    RaceCell race;
    std::uint8_t initialised;  ///< which of the bytes something in the block of race.epoch() wrote
  };

  /// Four cells in a row that in this epoch are accessed only by 16 bytes at a time. All bytes are
  /// initialised, and the cells themselves are marked as elsewhere. The epoch of a four that is
  /// none is another.
  struct alignas(64) Four {
    RaceCell race;
  };

  /// Not by an atomic, which reads and writes.
  [[gnu::always_inline]] bool see_quickly(Cell& cell, unsigned thread, AccessKind kind,
                                          std::uint8_t bytes, std::uintptr_t pc) const {
    if (kind == AccessKind::atomic) return false;
    if (kind == AccessKind::read && (cell.initialised & bytes) != bytes) return false;
    if (!cell.race.see_quickly(clocks_, thread, kind, bytes, pc)) return false;
    if (kind == AccessKind::write) cell.initialised |= bytes;
    return true;
  }

  void see_cell(Worker& worker, const Access& access, Cell& cell, std::uint8_t bytes);
  /// Looks at a 16-byte access to a four, which its cells become if nobody has been there in this
  /// epoch. False if they are none, or if there is more to do.
  bool see_as_four(Worker& worker, const Access& access);
  /// The cell, and the others of its four, if it is in one, have states of their own again.
  void break_four(std::uintptr_t cell);
  /// Forgets what earlier blocks initialised.
  void open(Cell& cell) const;
  [[noreturn]] void stop_at_race(Worker& worker, const Access& access,
                                 const EarlierAccess& racing) const;
  void report_uninitialised(Worker& worker, const Access& access) const;
  /// Whether something in this block has written any byte of a variable.
  bool is_written(const ThreadLocalExtent& variable) const;
  /// The variable that an access of a byte that nobody has written has left, if that is certain.
  std::optional<ThreadLocalExtent> left_variable(std::uintptr_t address) const;

  const BlockClocks& clocks_;
  LaneReadsOfEpoch lane_reads_;
  std::uintptr_t first_cell_ = 0;
  std::size_t num_cells_ = 0;
  struct Free {
    void operator()(void* memory) const;
  };
  std::unique_ptr<void, Free> memory_;  ///< pages appear when touched
  Cell* cells_ = nullptr;               ///< in it
  std::uintptr_t first_four_ = 0;
  Four* fours_ = nullptr;  ///< in it, too
};

}  // namespace paged::simt
