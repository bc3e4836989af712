// Data races in global memory, within a block and between blocks of one launch.
//
// Every write and atomic is watched, but not every read: caches are read in their millions, and
// what nobody writes cannot race. A launch first runs with its writes watched, and takes note which
// allocations it reads and which it writes. If it does both to one, everything that it wrote is put
// back as it was and it runs again, with the reads of those allocations watched, too.
//
// Within a block race_cell.h says what races, between blocks races_between_blocks.h.
#pragma once
#include "kernels/simt/access.h"
#include "kernels/simt/block_clocks.h"
#include "kernels/simt/block_log.h"
#include "kernels/simt/race_cell.h"
#include "kernels/simt/saved_pages.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <set>
#include <vector>

namespace paged::simt {

struct LaunchRequest;
struct Worker;

/// What the workers have in common while they run one launch. Allocations go by their addresses.
class GlobalLaunch {
 public:
  using Allocations = std::set<std::uintptr_t>;

  /// watched: allocations whose reads are watched; none for a launch that may have to run again.
  GlobalLaunch(std::uint64_t num_blocks, Allocations watched)
      : has_several_blocks_(num_blocks > 1), watched_(std::move(watched)) {}

  bool has_several_blocks() const { return has_several_blocks_; }
  bool watches_reads_of(std::uintptr_t allocation) const { return watched_.contains(allocation); }
  bool may_run_again() const { return watched_.empty(); }

  void note_read(std::uintptr_t allocation);
  void note_write(std::uintptr_t allocation);
  /// A write to memory that cannot be put back: the launch can't run again.
  void note_lasting_write();
  SavedPages& saved_pages() { return saved_pages_; }

  void add(BlockLog log);
  /// Runs one atomic at a time, and tells each its place among all.
  template <typename F>
  auto in_turn(std::uint64_t& turn, F f) {
    const std::lock_guard lock(atomics_);
    turn = ++num_atomics_;
    return f();
  }

  /// After all blocks have run: what was both read and written.
  Allocations read_and_written() const;
  /// Logs of the blocks up to and including a position, in the order of positions.
  std::vector<BlockLog> logs_up_to(std::uint64_t position);

 private:
  const bool has_several_blocks_;
  const Allocations watched_;
  SavedPages saved_pages_;
  std::mutex mutex_;
  Allocations read_, written_;
  bool is_final_ = false;
  std::vector<BlockLog> logs_;
  std::mutex atomics_;
  std::uint64_t num_atomics_ = 0;
};

/// One worker's part.
class GlobalRaces {
 public:
  /// clocks: of the block that the worker runs.
  explicit GlobalRaces(const BlockClocks& clocks) : clocks_(clocks) {}

  void begin_launch(GlobalLaunch& launch);
  void begin_block(const Worker& worker);
  void end_block();

  /// Whether a read of an allocation has to be seen. If not, it has been taken note of.
  bool watches_read_of(std::uintptr_t allocation);
  /// Looks at an access to an allocation; written: its bits, or null. Does not return if the access
  /// races with one of the same block.
  void see(Worker& worker, const Access& access, std::uintptr_t allocation, std::uint8_t* written);
  /// A write to a variable of the program.
  void see_lasting_write() { launch_->note_lasting_write(); }

  /// Runs what an atomic at this address does, as one step of the launch.
  template <typename F>
  auto in_turn(std::uintptr_t address, F f) {
    std::uint64_t turn = 0;
    const auto before = launch_->in_turn(turn, f);
    log_.atomics.push_back({address, turn});
    return before;
  }

 private:
  struct Cell {
    RaceCell race;
    std::uint32_t atomics;               ///< of the block, when `logged` was begun
    std::array<std::uint8_t, 3> logged;  ///< bytes that the log has, by kind
  };

  /// The cells that the block has touched: a hash table of open addresses.
  class Cells {
   public:
    Cells() : slots_(1024) {}
    Cell& operator[](std::uintptr_t cell);
    void clear();

   private:
    struct Slot {
      std::uintptr_t cell = 0;
      std::uint32_t generation = 0;
      std::uint32_t index = 0;
    };
    Slot& slot_of(std::uintptr_t cell);
    void grow();

    std::vector<Slot> slots_;  ///< a power of two
    std::uint32_t generation_ = 1;
    std::vector<Cell> cells_;
  };

  void see_cell(Worker& worker, const Access& access, std::uintptr_t cell, std::uint8_t bytes);
  void save_pages(const Access& access, std::uintptr_t allocation, std::uint8_t* written);

  const BlockClocks& clocks_;
  LaneReadsOfEpoch lane_reads_;
  GlobalLaunch* launch_ = nullptr;
  Cells cells_;
  BlockLog log_;
  // What the launch has been told: the latest, and all.
  std::uintptr_t latest_read_ = 0, latest_written_ = 0;
  std::array<std::uintptr_t, 64> saved_;  ///< pages that are saved, by their last bits
};

}  // namespace paged::simt
