// What the threads of one block did to four bytes of memory, and whether a new access races with it.
//
// Two accesses of one block race if they come from different threads, touch a byte in common, one
// of them writes (atomics do not race with atomics), and nothing orders them (block_clocks.h).
#pragma once
#include "kernels/simt/access.h"
#include "kernels/simt/block_clocks.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace paged::simt {

/// Memory is looked at in cells of so many bytes.
inline constexpr std::uintptr_t kCellBytes = 4;

/// The earlier one of two accesses that race.
struct EarlierAccess {
  int thread = -1;  ///< in the block, or an actor of bulk copies; -1: there is none
  std::uintptr_t pc = 0;
  AccessKind kind = AccessKind::read;
};

/// Calls f(cell number, which of its bytes) for each cell that an access touches. Cell n is at
/// address n * kCellBytes.
template <typename F>
void for_each_cell(const Access& access, F f) {
  const std::uintptr_t end = access.address + access.size;
  for (std::uintptr_t cell = access.address / kCellBytes; cell * kCellBytes < end; ++cell) {
    const std::uintptr_t begin = cell * kCellBytes;
    const std::uintptr_t first = access.address > begin ? access.address - begin : 0;
    const std::uintptr_t last = std::min(end - begin, kCellBytes);
    f(cell, static_cast<std::uint8_t>((1U << last) - (1U << first)));
  }
}

/// Reads of one cell by the lanes of a warp that differ in when they were or in which bytes.
struct LaneReads {
  BlockClocks::OfLanes clocks;                ///< of each lane, when it read
  std::array<std::uint8_t, kWarpSize> bytes;  ///< which of the cell's; 0: the lane has not read
};

/// The lane reads of all cells in one epoch. Few cells need them, so they are kept apart.
class LaneReadsOfEpoch {
 public:
  /// All lanes of the set have read these bytes at this clock. Returns their number.
  std::uint32_t add(std::uint64_t epoch, unsigned lanes, BlockClocks::Clock clock,
                    std::uint8_t bytes);
  LaneReads& operator[](std::uint32_t number) { return reads_[number]; }

 private:
  std::uint64_t epoch_ = 0;
  std::uint32_t num_used_ = 0;
  std::vector<LaneReads> reads_;
};

/// Four bytes, in less than one line of a processor's cache: a block has thousands, and each of its
/// threads may come by all of them. What is remembered counts only in the epoch that it names: older
/// accesses are ordered before the present ones. All zeros is a valid cell of an epoch that never is.
class RaceCell {
 public:
  std::uint64_t epoch() const { return epoch_; }  ///< of the last access

  /// In this epoch the cell's accesses are kept elsewhere, from here on until it is given a state.
  void go_elsewhere(std::uint64_t epoch) {
    begin_epoch(epoch);
    writer_ = kElsewhere;
  }
  bool is_elsewhere(std::uint64_t epoch) const { return epoch_ == epoch && writer_ == kElsewhere; }
  /// As if nobody had been here.
  void forget() { epoch_ = 0; }

  /// Does what see() does where that is quickly done and there is no race: a read like others
  /// before it, a write where nobody else has been. False if it is not, with nothing changed.
  [[gnu::always_inline]] bool see_quickly(const BlockClocks& clocks, unsigned thread,
                                          AccessKind kind, std::uint8_t bytes, std::uintptr_t pc) {
    if (epoch_ != clocks.epoch()) return false;
    if (kind == AccessKind::read) {
      if (writer_ != kNobody || readers_ == 0) return false;
      if (read_warp_ != thread / kWarpSize) {
        note_other_read(clocks, thread, bytes, pc);
        return true;
      }
      if (read_bytes_ != bytes || read_clock_ != clocks.now(thread)) return false;
      readers_ |= 1U << thread % kWarpSize;
      read_pc_ = pc;
      return true;
    }
    if (readers_ != 0 || (writer_ != kNobody && writer_ != thread)) return false;
    note_write(clocks, thread, kind, bytes, pc);
    return true;
  }

  /// Takes note of an access by `thread` to `bytes` of the cell, and tells with what it races.
  EarlierAccess see(const BlockClocks& clocks, LaneReadsOfEpoch& lane_reads, int thread,
                    AccessKind kind, std::uint8_t bytes, std::uintptr_t pc) {
    if (epoch_ != clocks.epoch()) begin_epoch(clocks.epoch());
    const bool atomic = kind == AccessKind::atomic;
    if (writer_ != kNobody && (written_ & bytes) != 0 && !(atomic && atomic_) &&
        !clocks.is_ordered(writer_, write_clock_, thread))
      return {writer_, write_pc_, atomic_ ? AccessKind::atomic : AccessKind::write};
    if (kind == AccessKind::read) {
      note_read(clocks, lane_reads, thread, bytes, pc);
      return {};
    }
    if (const int reader = racing_reader(clocks, lane_reads, bytes, thread); reader >= 0)
      return {reader, reader == other_reader_ ? other_read_pc_ : read_pc_, AccessKind::read};
    note_write(clocks, thread, kind, bytes, pc);
    if (readers_ != 0 || other_reader_ != kNobody) forget_ordered_reads(lane_reads, bytes);
    return {};
  }

  /// Bulk copies of an actor have written, at their clock. Between the copy's start and this nobody
  /// had access.
  void note_bulk_arrival(const BlockClocks& clocks, int actor, BlockClocks::Clock clock,
                         std::uint8_t bytes, std::uintptr_t pc) {
    begin_epoch(clocks.epoch());
    writer_ = static_cast<std::uint16_t>(actor);
    write_clock_ = clock;
    write_pc_ = pc;
    written_ = bytes;
    atomic_ = false;
  }

 private:
  static constexpr std::uint16_t kNobody = 0xFFFF;
  static constexpr std::uint16_t kElsewhere = 0xFFFE;  ///< as writer_, which nothing is quick with
  static constexpr std::uint8_t kDiffering = 0;        ///< as read_bytes_: see lane_reads_

  void begin_epoch(std::uint64_t epoch) {
    epoch_ = epoch;
    writer_ = kNobody;
    written_ = 0;
    forget_reads();
  }

  void forget_reads() {
    readers_ = 0;
    other_reader_ = kNobody;
    other_read_ = 0;
  }

  [[gnu::always_inline]] void note_write(const BlockClocks& clocks, unsigned thread,
                                         AccessKind kind, std::uint8_t bytes, std::uintptr_t pc) {
    const BlockClocks::Clock now = clocks.now(thread);
    const bool atomic = kind == AccessKind::atomic;
    // A thread writes a word in parts: nothing has ordered the parts before this one either.
    const bool goes_on = writer_ == thread && write_clock_ == now && atomic_ == atomic;
    writer_ = static_cast<std::uint16_t>(thread);
    write_clock_ = now;
    write_pc_ = pc;
    written_ = goes_on ? written_ | bytes : bytes;
    atomic_ = atomic;
  }

  /// Whoever read what is written now did so in order. Other bytes are as read as they were.
  void forget_ordered_reads(LaneReadsOfEpoch& lane_reads, std::uint8_t bytes) {
    const auto others = static_cast<std::uint8_t>(~bytes);
    other_read_ &= others;
    unsigned left = other_read_;
    if (readers_ != 0 && read_bytes_ == kDiffering) {
      for (std::uint8_t& read : lane_reads[lane_reads_].bytes) {
        read &= others;
        left |= read;
      }
    } else if (readers_ != 0) {
      left |= read_bytes_ & others;  // all of them stay while some do
    }
    if (left == 0) forget_reads();
  }

  void note_read(const BlockClocks& clocks, LaneReadsOfEpoch& lane_reads, int thread,
                 std::uint8_t bytes, std::uintptr_t pc) {
    const int warp = thread / kWarpSize;
    const int lane = thread % kWarpSize;
    const unsigned bit = 1U << lane;
    const BlockClocks::Clock now = clocks.now(thread);
    if (readers_ != 0 && read_warp_ != warp) return note_other_read(clocks, thread, bytes, pc);
    if (readers_ == 0) {
      read_warp_ = static_cast<std::uint16_t>(warp);
      read_clock_ = now;
      read_bytes_ = bytes;
    } else if (read_bytes_ != kDiffering && readers_ == bit) {
      // What it read at an earlier clock may be ordered by now, and is not taken for a read of now.
      read_bytes_ = read_clock_ == now ? read_bytes_ | bytes : bytes;
      read_clock_ = now;
    } else if (read_bytes_ == kDiffering || read_clock_ != now || read_bytes_ != bytes) {
      if (read_bytes_ != kDiffering)
        lane_reads_ = lane_reads.add(epoch_, readers_, read_clock_, read_bytes_);
      read_bytes_ = kDiffering;
      LaneReads& differing = lane_reads[lane_reads_];
      if (differing.clocks[lane] != now) differing.bytes[lane] = 0;
      differing.clocks[lane] = now;
      differing.bytes[lane] |= bytes;
    }
    readers_ |= bit;
    read_pc_ = pc;
  }

  [[gnu::always_inline]] void note_other_read(const BlockClocks& clocks, unsigned thread,
                                              std::uint8_t bytes, std::uintptr_t pc) {
    if (other_reader_ != thread || other_read_clock_ != clocks.now(thread)) other_read_ = 0;
    other_reader_ = static_cast<std::uint16_t>(thread);
    other_read_ |= bytes;
    other_read_clock_ = clocks.now(thread);
    other_read_pc_ = pc;
  }

  /// The thread of the cell's reads that races with a write of `now`, or -1.
  int racing_reader(const BlockClocks& clocks, LaneReadsOfEpoch& lane_reads, std::uint8_t bytes,
                    int now) const {
    for (unsigned rest = readers_; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      const bool differing = read_bytes_ == kDiffering;
      const std::uint8_t read = differing ? lane_reads[lane_reads_].bytes[lane] : read_bytes_;
      const auto clock = differing ? lane_reads[lane_reads_].clocks[lane] : read_clock_;
      const int reader = read_warp_ * kWarpSize + lane;
      if ((read & bytes) != 0 && !clocks.is_ordered(reader, clock, now)) return reader;
    }
    const bool other = other_reader_ != kNobody && (other_read_ & bytes) != 0;
    return other && !clocks.is_ordered(other_reader_, other_read_clock_, now) ? other_reader_ : -1;
  }

  std::uint64_t epoch_;
  std::uintptr_t write_pc_, read_pc_, other_read_pc_;
  std::uint32_t readers_;     ///< lanes of read_warp_ that have read since a write of these bytes
  std::uint32_t lane_reads_;  ///< number of their reads, if they differ
  std::uint16_t read_warp_;   ///< of the first of those reads
  BlockClocks::Clock read_clock_;   ///< its lanes' clocks when they read, if they do not differ
  std::uint16_t writer_;            ///< thread or actor of the last write, or kNobody
  BlockClocks::Clock write_clock_;  ///< the writer's clock then
  std::uint16_t other_reader_;      ///< the last reading thread of another warp, or kNobody
  BlockClocks::Clock other_read_clock_;  ///< its clock then
  std::uint8_t written_;                 ///< which of the four bytes the writer wrote
  std::uint8_t read_bytes_;  ///< which the readers have read, or kDiffering: each its own
  std::uint8_t other_read_;  ///< which other_reader_ has read
  bool atomic_;              ///< the last write was
};
static_assert(sizeof(RaceCell) < 64, "with a byte more, one line of the cache");

}  // namespace paged::simt
