#include "kernels/simt/shared_races.h"

#include "kernels/simt/reports.h"
#include "kernels/simt/shared_memory.h"
#include "kernels/simt/worker.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <new>

namespace paged::simt {

void SharedRaces::Free::operator()(void* memory) const { std::free(memory); }

void SharedRaces::begin_launch(std::uintptr_t begin, std::size_t size) {
  begin_ = begin / kCellBytes * kCellBytes;
  const std::size_t num_cells = (begin + size - begin_ + kCellBytes - 1) / kCellBytes;
  if (num_cells == num_cells_) return;
  if (known_ == nullptr)
    known_.reset(static_cast<SyncClock*>(std::calloc(kMaxThreads, sizeof(SyncClock))));
  if (known_ == nullptr) throw std::bad_alloc();
  // Zeros from the system, which gives no memory to what is never touched.
  cells_.reset(static_cast<Cell*>(std::calloc(num_cells, sizeof(Cell))));
  if (cells_ == nullptr) throw std::bad_alloc();
  num_cells_ = num_cells;
}

void SharedRaces::begin_block(int num_threads) {
  first_epoch_ = ++epoch_;
  num_threads_ = num_threads;
  reset_clocks();
}

void SharedRaces::at_barrier() {
  ++epoch_;
  if (warps_synced_) reset_clocks();
}

void SharedRaces::reset_clocks() {
  for (int thread = 0; thread < num_threads_; ++thread) {
    clocks_[thread].fill(0);
    clocks_[thread][thread % kWarpSize] = 1;
  }
  copy_clocks_.fill(0);
  warps_synced_ = false;
}

void SharedRaces::at_warp_sync(int warp, unsigned lanes) {
  warps_synced_ = true;
  Clocks joined{};
  const auto for_each = [&](auto f) {
    for (int lane = 0; lane < kWarpSize; ++lane)
      if ((lanes >> lane & 1U) != 0) f(lane, clocks_[warp * kWarpSize + lane]);
  };
  for_each([&](int, const Clocks& clocks) {
    for (int i = 0; i < kWarpSize; ++i) joined[i] = std::max(joined[i], clocks[i]);
  });
  for_each([&](int lane, Clocks& clocks) {
    clocks = joined;
    // At the end of its range a clock stops: races go unseen then, and none is made up.
    if (clocks[lane] != std::numeric_limits<std::uint16_t>::max()) ++clocks[lane];
  });
  share_in_warp(warp, lanes);
}

void SharedRaces::see(Worker& worker, const Access& access) {
  if (worker.async_copies.are_watched()) worker.async_copies.see(worker, access);
  for_each_cell(access.address, access.size,
                [&](Cell& cell, std::uint8_t bytes) { see_cell(worker, access, cell, bytes); });
}

void SharedRaces::open(Cell& cell) const {
  if (cell.epoch != epoch_) {
    cell.epoch = epoch_;
    cell.writer = cell.read_warp = cell.other_reader = kNobody;
    cell.written = cell.other_read = 0;
  }
  if (cell.initialised_in != first_epoch_) {
    cell.initialised_in = first_epoch_;
    cell.initialised = 0;
  }
}

void SharedRaces::see_cell(Worker& worker, const Access& access, Cell& cell, std::uint8_t bytes) {
  open(cell);
  const int self = worker.current->id;
  const bool atomic = access.kind == AccessKind::atomic;
  if (cell.writer != kNobody && (cell.written & bytes) != 0 && !(atomic && cell.atomic) &&
      !is_ordered(cell.writer, cell.write_clock, self))
    stop_at_race(worker, access, cell.writer, cell.write_pc, cell.atomic ? "an atomic" : "a write");
  if (access.kind != AccessKind::write && (cell.initialised & bytes) != bytes)
    report_uninitialised(worker, access);

  const int lane = self % kWarpSize;
  const int warp = self / kWarpSize;
  if (access.kind == AccessKind::read) {
    if (cell.read_warp == kNobody) {
      cell.read_warp = static_cast<std::uint16_t>(warp);
      cell.read.fill(0);
    }
    if (cell.read_warp == warp) {
      cell.reads[lane] = clocks_[self][lane];
      cell.read[lane] |= bytes;
      cell.read_pc = access.pc;
    } else {
      if (cell.other_reader != self) cell.other_read = 0;
      cell.other_reader = static_cast<std::uint16_t>(self);
      cell.other_read |= bytes;
      cell.other_read_clock = clocks_[self][lane];
      cell.other_read_pc = access.pc;
    }
    return;
  }
  if (const int reader = racing_reader(cell, bytes, self); reader >= 0)
    stop_at_race(worker, access, reader,
                 reader == cell.other_reader ? cell.other_read_pc : cell.read_pc, "a read");
  cell.writer = static_cast<std::uint16_t>(self);
  cell.write_clock = clocks_[self][lane];
  cell.write_pc = access.pc;
  cell.written = bytes;
  cell.atomic = atomic;
  cell.initialised |= bytes;
  cell.read_warp = cell.other_reader = kNobody;
  cell.other_read = 0;
}

int SharedRaces::racing_reader(const Cell& cell, std::uint8_t bytes, int now) const {
  if (cell.read_warp != kNobody)
    for (int lane = 0; lane < kWarpSize; ++lane) {
      const int reader = cell.read_warp * kWarpSize + lane;
      if ((cell.read[lane] & bytes) != 0 && !is_ordered(reader, cell.reads[lane], now))
        return reader;
    }
  const bool other = cell.other_reader != kNobody && (cell.other_read & bytes) != 0;
  return other && !is_ordered(cell.other_reader, cell.other_read_clock, now) ? cell.other_reader
                                                                             : -1;
}

void SharedRaces::stop_at_race(Worker& worker, const Access& access, int other,
                               std::uintptr_t other_pc, const char* other_kind) const {
  {
    const UncheckedScope unchecked;
    const std::string who =
        other < kMaxThreads
            ? std::string(other_kind) + " by " + text_of_thread(worker.fibers[other])
            : "a bulk copy whose mbarrier the thread has not waited for, which starts";
    worker.findings.add({FindingKind::data_race, worker.launch->kernel, CodePlace{access.pc, ""},
                         describe_thread(*worker.current) + ": " + std::to_string(access.size) +
                             "-byte " + name_of(access.kind) + " at " +
                             place_in_shared_memory(access.address) + " races with " + who,
                         1, CodePlace{other_pc, ""}});
  }
  stop_block(worker);
}

void SharedRaces::report_uninitialised(Worker& worker, const Access& access) const {
  const UncheckedScope unchecked;
  const CodePlace place{access.pc, ""};
  if (worker.findings.count_again(FindingKind::uninitialised_read, place)) return;
  report(worker, FindingKind::uninitialised_read, place, *worker.current,
         std::to_string(access.size) + "-byte " + name_of(access.kind) +
             " of shared memory that nothing in this block has written, at " +
             place_in_shared_memory(access.address));
}

}  // namespace paged::simt
