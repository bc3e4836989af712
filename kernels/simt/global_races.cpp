#include "kernels/simt/global_races.h"

#include "kernels/simt/reports.h"
#include "kernels/simt/worker.h"

#include <algorithm>
#include <iterator>

namespace paged::simt {

// ---- the launch ---------------------------------------------------------------------------------

void GlobalLaunch::note_read(std::uintptr_t allocation) {
  const std::lock_guard lock(mutex_);
  read_.insert(allocation);
}

void GlobalLaunch::note_write(std::uintptr_t allocation) {
  const std::lock_guard lock(mutex_);
  written_.insert(allocation);
}

void GlobalLaunch::note_lasting_write() {
  const std::lock_guard lock(mutex_);
  is_final_ = true;
}

void GlobalLaunch::add(BlockLog log) {
  if (log.accesses.empty() && log.atomics.empty()) return;
  const std::lock_guard lock(mutex_);
  logs_.push_back(std::move(log));
}

GlobalLaunch::Allocations GlobalLaunch::read_and_written() const {
  Allocations both;
  if (!is_final_)
    std::set_intersection(read_.begin(), read_.end(), written_.begin(), written_.end(),
                          std::inserter(both, both.end()));
  return both;
}

std::vector<BlockLog> GlobalLaunch::logs_up_to(std::uint64_t position) {
  std::erase_if(logs_, [&](const BlockLog& log) { return log.position > position; });
  std::sort(logs_.begin(), logs_.end(),
            [](const BlockLog& a, const BlockLog& b) { return a.position < b.position; });
  return std::move(logs_);
}

// ---- the cells of a block -----------------------------------------------------------------------

GlobalRaces::Cells::Slot& GlobalRaces::Cells::slot_of(std::uintptr_t cell) {
  const std::size_t last = slots_.size() - 1;
  std::size_t i = cell * 0x9E3779B97F4A7C15U >> 20 & last;
  while (slots_[i].generation == generation_ && slots_[i].cell != cell) i = (i + 1) & last;
  return slots_[i];
}

GlobalRaces::Cell& GlobalRaces::Cells::operator[](std::uintptr_t cell) {
  Slot& slot = slot_of(cell);
  if (slot.generation == generation_) return cells_[slot.index];
  slot = {cell, generation_, static_cast<std::uint32_t>(cells_.size())};
  cells_.emplace_back();  // zeros
  if (2 * cells_.size() > slots_.size()) grow();
  return cells_.back();
}

void GlobalRaces::Cells::grow() {
  std::vector<Slot> old(2 * slots_.size());
  old.swap(slots_);
  for (const Slot& slot : old)
    if (slot.generation == generation_) slot_of(slot.cell) = slot;
}

void GlobalRaces::Cells::clear() {
  cells_.clear();
  if (++generation_ != 0) return;
  std::fill(slots_.begin(), slots_.end(), Slot{});
  generation_ = 1;
}

// ---- a worker -----------------------------------------------------------------------------------

void GlobalRaces::begin_launch(GlobalLaunch& launch) {
  launch_ = &launch;
  latest_read_ = latest_written_ = 0;
  saved_.fill(0);
}

void GlobalRaces::begin_block(const Worker& worker) {
  cells_.clear();
  log_ = {};
  log_.position = worker.position;
  log_.block = worker.block;
}

void GlobalRaces::end_block() { launch_->add(std::move(log_)); }

bool GlobalRaces::watches_read_of(std::uintptr_t allocation) {
  const UncheckedScope unchecked;
  if (launch_->watches_reads_of(allocation)) return true;
  if (launch_->may_run_again() && allocation != latest_read_) launch_->note_read(allocation);
  latest_read_ = allocation;
  return false;
}

void GlobalRaces::see(Worker& worker, const Access& access, std::uintptr_t allocation,
                      std::uint8_t* written) {
  const UncheckedScope unchecked;
  if (access.kind != AccessKind::read && launch_->may_run_again()) {
    if (allocation != latest_written_) launch_->note_write(allocation);
    latest_written_ = allocation;
    save_pages(access, allocation, written);
  }
  for_each_cell(access, [&](std::uintptr_t cell, std::uint8_t bytes) {
    see_cell(worker, access, cell, bytes);
  });
}

void GlobalRaces::save_pages(const Access& access, std::uintptr_t allocation,
                             std::uint8_t* written) {
  constexpr std::uintptr_t kPage = SavedPages::kPage;
  const std::uintptr_t end = access.address + access.size;
  for (std::uintptr_t page = access.address / kPage * kPage; page < end; page += kPage) {
    std::uintptr_t& saved = saved_[page / kPage % saved_.size()];
    if (saved == page) continue;
    launch_->saved_pages().save(
        page, written == nullptr ? nullptr : written + (page - allocation) / kBytesPerBits);
    saved = page;
  }
}

void GlobalRaces::see_cell(Worker& worker, const Access& access, std::uintptr_t index,
                           std::uint8_t bytes) {
  Cell& cell = cells_[index];
  const Fiber& self = *worker.current;
  const EarlierAccess racing =
      cell.race.see(clocks_, lane_reads_, self.id, access.kind, bytes, access.pc);
  if (racing.thread >= 0) {
    report_data_race(worker, access, racing, place_in_allocation(access.address));
    stop_block(worker);
  }
  if (!launch_->has_several_blocks()) return;
  const auto num_atomics = static_cast<std::uint32_t>(log_.atomics.size());
  if (cell.atomics != num_atomics) {
    cell.atomics = num_atomics;
    cell.logged = {};
  }
  std::uint8_t& logged = cell.logged[static_cast<std::size_t>(access.kind)];
  const auto fresh = static_cast<std::uint8_t>(bytes & ~logged);
  if (fresh == 0) return;
  logged |= fresh;
  log_.accesses.push_back(
      {index, access.pc, num_atomics, static_cast<std::uint16_t>(self.id),
       static_cast<std::uint8_t>(std::min<std::size_t>(access.size, 255)), fresh, access.kind,
       static_cast<std::int8_t>(self.phase ? static_cast<int>(*self.phase) : -1)});
}

}  // namespace paged::simt
