// Data races and uninitialised reads in the shared memory of one block. race_cell.h says what a race
// is.
#pragma once
#include "kernels/simt/access.h"
#include "kernels/simt/block_clocks.h"
#include "kernels/simt/race_cell.h"

#include <cstddef>
#include <cstdint>
#include <memory>
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

 private:
  struct Cell {
    RaceCell race;
    std::uint64_t initialised_in;  ///< first epoch of the block that `initialised` belongs to
    std::uint8_t initialised;      ///< which of the bytes something in this block has written
  };

  void see_cell(Worker& worker, const Access& access, Cell& cell, std::uint8_t bytes);
  /// Forgets what earlier blocks initialised.
  void open(Cell& cell) const;
  [[noreturn]] void stop_at_race(Worker& worker, const Access& access,
                                 const EarlierAccess& racing) const;
  void report_uninitialised(Worker& worker, const Access& access) const;

  const BlockClocks& clocks_;
  std::uintptr_t first_cell_ = 0;
  std::size_t num_cells_ = 0;
  struct Free {
    void operator()(Cell* cells) const;
  };
  std::unique_ptr<Cell[], Free> cells_;  ///< pages appear when touched
};

}  // namespace paged::simt
