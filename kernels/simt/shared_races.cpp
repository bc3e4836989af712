#include "kernels/simt/shared_races.h"

#include "kernels/simt/reports.h"
#include "kernels/simt/shared_memory.h"
#include "kernels/simt/worker.h"

#include <cstdlib>
#include <new>
#include <type_traits>

namespace paged::simt {

void SharedRaces::Free::operator()(void* memory) const { std::free(memory); }

void SharedRaces::begin_launch(std::uintptr_t begin, std::size_t size) {
  static_assert(std::is_trivially_default_constructible_v<Cell>);
  first_cell_ = begin / kCellBytes;
  const std::size_t num_cells = (begin + size + kCellBytes - 1) / kCellBytes - first_cell_;
  if (num_cells == num_cells_) return;
  // Zeros from the system, which gives no memory to what is never touched.
  first_four_ = first_cell_ / kCellsOfFour;
  const std::size_t num_fours = (first_cell_ + num_cells) / kCellsOfFour + 1 - first_four_;
  static_assert(sizeof(Cell) == sizeof(Four) && alignof(Cell) == alignof(Four));
  std::size_t bytes = (num_cells + num_fours + 1) * sizeof(Cell);
  memory_.reset(std::calloc(1, bytes));
  if (memory_ == nullptr) throw std::bad_alloc();
  void* first = memory_.get();
  cells_ = static_cast<Cell*>(std::align(alignof(Cell), bytes - sizeof(Cell), first, bytes));
  fours_ = reinterpret_cast<Four*>(cells_ + num_cells);
  num_cells_ = num_cells;
}

void SharedRaces::open(Cell& cell) const {
  if (cell.race.epoch() < clocks_.first_epoch()) cell.initialised = 0;
}

void SharedRaces::see_cell(Worker& worker, const Access& access, Cell& cell, std::uint8_t bytes) {
  open(cell);
  const EarlierAccess racing =
      cell.race.see(clocks_, lane_reads_, worker.current->id, access.kind, bytes, access.pc);
  if (racing.thread >= 0) [[unlikely]]
    stop_at_race(worker, access, racing);
  if (access.kind != AccessKind::write && (cell.initialised & bytes) != bytes) [[unlikely]]
    report_uninitialised(worker, access);
  if (access.kind != AccessKind::read) cell.initialised |= bytes;
}

void SharedRaces::see(Worker& worker, const Access& access) {
  if (worker.async_copies.are_watched()) worker.async_copies.see(worker, access);
  if (access.size == kCellsOfFour * kCellBytes && see_as_four(worker, access)) return;
  for_each_cell(access, [&](std::uintptr_t index, std::uint8_t bytes) {
    break_four(index);
    see_cell(worker, access, cells_[index - first_cell_], bytes);
  });
}

bool SharedRaces::see_as_four(Worker& worker, const Access& access) {
  if (access.kind == AccessKind::atomic || access.address % access.size != 0) return false;
  const int thread = worker.current->id;
  Four& four = fours_[access.address / access.size - first_four_];
  if (four.race.see_quickly(clocks_, static_cast<unsigned>(thread), access.kind, kAll, access.pc))
    return true;
  Cell* const cells = &cells_[access.address / kCellBytes - first_cell_];
  for (std::size_t i = 0; i < kCellsOfFour; ++i) {
    if (cells[i].race.epoch() == clocks_.epoch()) return false;
    open(cells[i]);
    if (access.kind == AccessKind::read && cells[i].initialised != kAll) return false;
  }
  for (std::size_t i = 0; i < kCellsOfFour; ++i) {
    cells[i].race.go_elsewhere(clocks_.epoch());
    cells[i].initialised = kAll;
  }
  // The first in its epoch: it races with nobody.
  four.race.see(clocks_, lane_reads_, thread, access.kind, kAll, access.pc);
  return true;
}

void SharedRaces::break_four(std::uintptr_t cell) {
  if (!cells_[cell - first_cell_].race.is_elsewhere(clocks_.epoch())) return;
  Four& four = fours_[cell / kCellsOfFour - first_four_];
  const std::uintptr_t first = cell / kCellsOfFour * kCellsOfFour;
  for (std::size_t i = 0; i < kCellsOfFour; ++i) cells_[first + i - first_cell_].race = four.race;
  four.race.forget();
}

void SharedRaces::see_bulk_arrival(const Access& access, int actor, BlockClocks::Clock clock) {
  for_each_cell(access, [&](std::uintptr_t index, std::uint8_t bytes) {
    break_four(index);
    Cell& cell = cells_[index - first_cell_];
    open(cell);
    cell.race.note_bulk_arrival(clocks_, actor, clock, bytes, access.pc);
    cell.initialised |= bytes;
  });
}

void SharedRaces::stop_at_race(Worker& worker, const Access& access,
                               const EarlierAccess& racing) const {
  {
    const UncheckedScope unchecked;
    report_data_race(worker, access, racing, place_in_shared_memory(access.address));
  }
  stop_block(worker);
}

bool SharedRaces::is_written(const ThreadLocalExtent& variable) const {
  for (std::uintptr_t at = variable.begin; at < variable.begin + variable.size; at += kCellBytes) {
    const Cell& cell = cells_[at / kCellBytes - first_cell_];
    if (cell.race.epoch() >= clocks_.first_epoch() && cell.initialised != 0) return true;
  }
  return false;
}

// An index that is too large lands in another variable. Where the instances of one template have
// theirs side by side, it is that of another instance, of which this block has written nothing,
// beside one of which it has: no kernel that means what it reads does that.
std::optional<ThreadLocalExtent> SharedRaces::left_variable(std::uintptr_t address) const {
  if (is_written(thread_local_extent_at(address))) return std::nullopt;
  std::optional<ThreadLocalExtent> nearest;
  const auto distance = [&](const ThreadLocalExtent& variable) {
    return address < variable.begin ? variable.begin - address
                                    : address - variable.begin - variable.size;
  };
  for (const ThreadLocalExtent& other : same_variable_of_other_instances(address))
    if (is_written(other) && (!nearest || distance(other) < distance(*nearest))) nearest = other;
  return nearest;
}

void SharedRaces::report_uninitialised(Worker& worker, const Access& access) const {
  const UncheckedScope unchecked;
  const CodePlace place{access.pc, ""};
  // An instruction that was told of is counted before anything is looked up, which takes long.
  for (const FindingKind kind : {FindingKind::uninitialised_read, FindingKind::out_of_bounds_read})
    if (worker.findings.count_again(kind, place)) return;
  if (const auto left = left_variable(access.address)) {
    report(worker, FindingKind::out_of_bounds_read, place, *worker.current,
           describe_access(access) + " " + place_beside(*left, access.address));
    return;
  }
  report(worker, FindingKind::uninitialised_read, place, *worker.current,
         describe_access(access) + " of shared memory that nothing in this block has written, at " +
             place_in_shared_memory(access.address));
}

}  // namespace paged::simt
