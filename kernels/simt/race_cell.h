// What the threads of one block did to four bytes of memory, and whether a new access races with it.
//
// Two accesses of one block race if they come from different threads, touch a byte in common, one of
// them writes (atomics do not race with atomics), and nothing orders them (block_clocks.h).
#pragma once
#include "kernels/simt/access.h"
#include "kernels/simt/block_clocks.h"

#include <algorithm>
#include <array>
#include <cstdint>

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

/// Four bytes. What is remembered counts only in the epoch that it names: older accesses are ordered
/// before the present ones. All zeros is a valid cell of an epoch that never is.
class RaceCell {
 public:
  /// Takes note of an access by `thread` to `bytes` of the cell, and tells with what it races.
  [[gnu::always_inline]] EarlierAccess see(const BlockClocks& clocks, int thread, AccessKind kind,
                                           std::uint8_t bytes, std::uintptr_t pc) {
    if (epoch_ != clocks.epoch()) begin_epoch(clocks.epoch());
    const bool atomic = kind == AccessKind::atomic;
    if (writer_ != kNobody && (written_ & bytes) != 0 && !(atomic && atomic_) &&
        !clocks.is_ordered(writer_, write_clock_, thread))
      return {writer_, write_pc_, atomic_ ? AccessKind::atomic : AccessKind::write};
    if (kind == AccessKind::read) {
      note_read(clocks, thread, bytes, pc);
      return {};
    }
    if (const int reader = racing_reader(clocks, bytes, thread); reader >= 0)
      return {reader, reader == other_reader_ ? other_read_pc_ : read_pc_, AccessKind::read};
    writer_ = static_cast<std::uint16_t>(thread);
    write_clock_ = clocks.now(thread);
    write_pc_ = pc;
    written_ = bytes;
    atomic_ = atomic;
    read_warp_ = other_reader_ = kNobody;
    other_read_ = 0;
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

  void begin_epoch(std::uint64_t epoch) {
    epoch_ = epoch;
    writer_ = read_warp_ = other_reader_ = kNobody;
    written_ = other_read_ = 0;
  }

  void note_read(const BlockClocks& clocks, int thread, std::uint8_t bytes, std::uintptr_t pc) {
    const int warp = thread / kWarpSize;
    const int lane = thread % kWarpSize;
    if (read_warp_ == kNobody) {
      read_warp_ = static_cast<std::uint16_t>(warp);
      read_.fill(0);
    }
    if (read_warp_ == warp) {
      reads_[lane] = clocks.now(thread);
      read_[lane] |= bytes;
      read_pc_ = pc;
    } else {
      if (other_reader_ != thread) other_read_ = 0;
      other_reader_ = static_cast<std::uint16_t>(thread);
      other_read_ |= bytes;
      other_read_clock_ = clocks.now(thread);
      other_read_pc_ = pc;
    }
  }

  /// The thread of the cell's reads that races with a write of `now`, or -1.
  int racing_reader(const BlockClocks& clocks, std::uint8_t bytes, int now) const {
    if (read_warp_ != kNobody)
      for (int lane = 0; lane < kWarpSize; ++lane) {
        const int reader = read_warp_ * kWarpSize + lane;
        if ((read_[lane] & bytes) != 0 && !clocks.is_ordered(reader, reads_[lane], now))
          return reader;
      }
    const bool other = other_reader_ != kNobody && (other_read_ & bytes) != 0;
    return other && !clocks.is_ordered(other_reader_, other_read_clock_, now) ? other_reader_ : -1;
  }

  std::uint64_t epoch_;
  std::uintptr_t write_pc_, read_pc_, other_read_pc_;
  std::uint16_t writer_;                 ///< thread or actor of the last write, or kNobody
  BlockClocks::Clock write_clock_;       ///< the writer's clock then
  std::uint16_t read_warp_;              ///< warp of the first read since then, or kNobody
  std::uint16_t other_reader_;           ///< a reading thread of another warp, or kNobody
  BlockClocks::Clock other_read_clock_;  ///< its clock then
  std::uint8_t written_, other_read_;    ///< which of the four bytes, by writer and other_reader
  bool atomic_;                          ///< the last write was
  BlockClocks::OfLanes reads_;           ///< of read_warp's lanes, when they read
  std::array<std::uint8_t, kWarpSize> read_;  ///< which of the bytes each of them has read
};

}  // namespace paged::simt
