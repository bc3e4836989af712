#include "kernels/simt/counting.h"

#include "kernels/simt/program_symbols.h"
#include "kernels/simt/source_lines.h"
#include "kernels/simt/wavefronts.h"
#include "kernels/simt/worker.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <string>
#include <utility>

namespace paged::simt {

namespace {

constexpr std::uintptr_t kBankRowBytes = 128;  // a word of each bank

/// The different values among the first `count`; sorts them.
template <std::size_t kSize>
std::uint64_t num_different(std::array<std::uintptr_t, kSize>& values, std::size_t count) {
  std::sort(values.begin(), values.begin() + count);
  return static_cast<std::uint64_t>(std::unique(values.begin(), values.begin() + count) -
                                    values.begin());
}

/// Sectors that a request touches.
std::uint64_t num_sectors(const WarpAccess& access, int bytes) {
  std::uint64_t sectors = 0;
  std::uintptr_t counted_up_to = 0;  // the first sector that has not been counted
  std::array<std::uintptr_t, 32> addresses;
  std::size_t count = 0;
  access.for_each([&](int, std::uintptr_t address) { addresses[count++] = address; });
  std::sort(addresses.begin(), addresses.begin() + count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uintptr_t first = std::max(addresses[i] / kSectorBytes, counted_up_to);
    const std::uintptr_t end =
        (addresses[i] + static_cast<std::uintptr_t>(bytes) - 1) / kSectorBytes + 1;
    if (end <= first) continue;
    sectors += end - first;
    counted_up_to = end;
  }
  return sectors;
}

/// Different bytes that lanes ask for: aligned accesses of one size are the same or apart.
std::uint64_t num_useful_bytes(const WarpAccess& access, int bytes) {
  std::array<std::uintptr_t, 32> addresses;
  std::size_t count = 0;
  access.for_each([&](int, std::uintptr_t address) { addresses[count++] = address; });
  return num_different(addresses, count) * static_cast<std::uint64_t>(bytes);
}

/// What an event is to the memory that it goes to.
AccessKind kind_of(CountedEvent event) {
  switch (event) {
    case CountedEvent::global_store:
    case CountedEvent::shared_store:
    case CountedEvent::bulk_store:
      return AccessKind::write;
    case CountedEvent::atomic:
      return AccessKind::atomic;
    default:
      return AccessKind::read;
  }
}

Counts counts_of(const CountedSite& site, const WarpAccess& access) {
  Counts counts;
  switch (site.event) {
    case CountedEvent::global_load:
      counts.global_load_requests = 1;
      counts.global_load_sectors = num_sectors(access, site.bytes);
      counts.global_load_useful_bytes = num_useful_bytes(access, site.bytes);
      break;
    case CountedEvent::global_store:
      counts.global_store_requests = 1;
      counts.global_store_sectors = num_sectors(access, site.bytes);
      counts.global_store_useful_bytes = num_useful_bytes(access, site.bytes);
      break;
    case CountedEvent::shared_load:
      counts.shared_load_requests = 1;
      counts.shared_load_wavefronts =
          static_cast<std::uint64_t>(shared_wavefronts(access, site.bytes));
      break;
    case CountedEvent::shared_store:
      counts.shared_store_requests = 1;
      counts.shared_store_wavefronts =
          static_cast<std::uint64_t>(shared_wavefronts(access, site.bytes));
      break;
    case CountedEvent::bulk_load:  // each lane's copy is one of its own
      access.for_each([&](int, std::uintptr_t address) {
        const std::uintptr_t end = address + static_cast<std::uintptr_t>(site.bytes);
        ++counts.global_load_requests;
        counts.global_load_sectors += (end - 1) / kSectorBytes - address / kSectorBytes + 1;
        counts.global_load_useful_bytes += end - address;
      });
      break;
    case CountedEvent::bulk_store:  // row by row of the banks
      access.for_each([&](int, std::uintptr_t address) {
        const std::uintptr_t end = address + static_cast<std::uintptr_t>(site.bytes);
        ++counts.shared_store_requests;
        counts.shared_store_wavefronts += (end - 1) / kBankRowBytes - address / kBankRowBytes + 1;
      });
      break;
    case CountedEvent::atomic:
      counts.atomics = 1;
      break;
    case CountedEvent::barrier:
    case CountedEvent::shuffle:
    case CountedEvent::meeting:
      break;  // no accesses
  }
  return counts;
}

}  // namespace

// ---- all launches -------------------------------------------------------------------------------
CountLog& count_log() {
  static CountLog log;
  return log;
}

void CountLog::switch_counting(bool on) {
  const std::lock_guard lock(mutex_);
  on_ = on;
}

bool CountLog::is_on() const {
  const std::lock_guard lock(mutex_);
  return on_;
}

void CountLog::add(const CountsOfLaunch& launch, bool stopped) {
  const std::lock_guard lock(mutex_);
  if (!on_) return;
  for (const auto& [site, of_site] : launch.all()) counts_[site] += of_site;
  request_trace().add_launch(launch.trace());
  if (stopped) complete_ = false;
}

LaunchCounts CountLog::take() {
  CountsBySite counts;
  LaunchCounts taken;
  {
    const std::lock_guard lock(mutex_);
    counts.swap(counts_);
    taken.complete = std::exchange(complete_, true);
  }
  std::vector<std::uintptr_t> pcs;
  for (const auto& [site, of_site] : counts) pcs.push_back(site.pc);
  const SourceLines lines = look_up_lines_of_accesses(pcs);
  // The compiler may have made several copies of one line, and a line may do several things.
  std::map<std::pair<std::string, CountedPhase>, Counts> by_line;
  for (const auto& [site, of_site] : counts) {
    taken.phases[site.phase] += of_site;
    by_line[{lines.at(site.pc), site.phase}] += of_site;
  }
  for (const auto& [place, of_line] : by_line)
    taken.lines.push_back({place.first, place.second, of_line});
  return taken;
}

void CountsOfLaunch::add(const CountsBySite& counts, std::vector<TracedRequest> trace) {
  const std::lock_guard lock(mutex_);
  for (const auto& [site, of_site] : counts) counts_[site] += of_site;
  std::move(trace.begin(), trace.end(), std::back_inserter(trace_));
}

// ---- one worker ---------------------------------------------------------------------------------
void AccessCounter::begin_launch(const LaunchRequest& request) {
  on_ = request.checked && count_log().is_on();
  if (!on_) return;
  const ThreadLocalImage tls = thread_local_image();
  tls_begin_ = tls.begin;
  tls_size_ = tls.size;
  arguments_begin_ = reinterpret_cast<std::uintptr_t>(request.arguments);
  arguments_size_ = request.argument_bytes;
  recorder_.begin_launch();
}

void AccessCounter::end_launch(CountsOfLaunch& launch) {
  if (!on_) return;
  CountsBySite counts;
  for (std::size_t i = 0; i < sites_.size(); ++i)
    if (sites_[i].event != CountedEvent::meeting && counts_[i] != Counts{})
      counts.emplace(sites_[i], std::exchange(counts_[i], {}));
  launch.add(counts, recorder_.end_launch());
  // Long logs are not kept for launches that may never come.
  for (std::vector<LaneAccess>& lane : lanes_) lane = {};
}

void AccessCounter::end_block(Worker& worker) {
  if (!on_) return;
  if (worker.stopped) {
    for (std::vector<LaneAccess>& lane : lanes_) lane.clear();
  } else {
    count_all_warps(worker.num_warps);
  }
  if (recorder_.on()) recorder_.end_block(worker.block, worker.stopped);
}

bool AccessCounter::event_of(std::uintptr_t address, AccessKind kind, CountedEvent& event) const {
  const ProgramImage& image = program_image();
  const bool shared = address - tls_begin_ < tls_size_;
  if (!shared &&
      (address - arguments_begin_ < arguments_size_ || address - image.begin < image.size))
    return false;
  const bool load = kind == AccessKind::read;
  event = kind == AccessKind::atomic ? CountedEvent::atomic
          : shared ? (load ? CountedEvent::shared_load : CountedEvent::shared_store)
                   : (load ? CountedEvent::global_load : CountedEvent::global_store);
  return true;
}

std::uint32_t AccessCounter::number_of(const CountedSite& site) {
  Recent& recent = recent_[(site.pc ^ site.pc >> 10) % kNumRecent];
  if (recent.number != ~0U && recent.site == site) return recent.number;
  const auto [known, is_new] = numbers_.emplace(site, static_cast<std::uint32_t>(sites_.size()));
  if (is_new) {
    sites_.push_back(site);
    counts_.emplace_back();
  }
  recent = {site, known->second};
  return known->second;
}

void AccessCounter::see(const Fiber& fiber, std::uintptr_t address, std::size_t bytes,
                        AccessKind kind, std::uintptr_t pc) {
  const UncheckedScope unchecked;
  CountedEvent event;
  if (event_of(address, kind, event)) log(fiber, event, address, bytes, pc);
}

void AccessCounter::log(const Fiber& thread, CountedEvent event, std::uintptr_t address,
                        std::size_t bytes, std::uintptr_t pc) {
  const std::uint32_t site = number_of({pc, thread.phase, event, static_cast<int>(bytes)});
  lanes_[static_cast<std::size_t>(thread.id)].push_back({address, site});
  if (recorder_.on()) recorder_.see(thread.id, address, bytes, kind_of(event));
}

// Lanes that copy fewer bytes and fill up with zeros are in the same request as the others; no copy
// of up to 16 bytes leaves a sector. Those that fill up with nothing but zeros read nothing.
void AccessCounter::see_async_copy(const Fiber& thread, const AsyncCopy& copy) {
  if (!on_) return;
  const UncheckedScope unchecked;
  if (copy.source_bytes != 0)
    log(thread, CountedEvent::global_load, copy.source, copy.bytes, copy.pc);
  log(thread, CountedEvent::shared_store, copy.destination, copy.bytes, copy.pc);
}

void AccessCounter::see_bulk_copy(const Fiber& thread, const AsyncCopy& copy) {
  if (!on_) return;
  const UncheckedScope unchecked;
  log(thread, CountedEvent::bulk_load, copy.source, copy.bytes, copy.pc);
  log(thread, CountedEvent::bulk_store, copy.destination, copy.bytes, copy.pc);
}

void AccessCounter::see_matrices(const Fiber& one, const LaneOperands* rows, int num_rows,
                                 std::uintptr_t pc) {
  if (!on_) return;
  const UncheckedScope unchecked;
  constexpr int kRowBytes = 16;
  constexpr int kRowsOfMatrix = 8;
  Counts& counts = counts_[number_of({pc, one.phase, CountedEvent::shared_load, kRowBytes})];
  ++counts.shared_load_requests;
  for (int first = 0; first < num_rows; first += kRowsOfMatrix) {
    WarpAccess matrix;  // served by itself, like a quarter of a warp
    for (int row = 0; row < kRowsOfMatrix; ++row) matrix.add(row, rows[first + row].row);
    counts.shared_load_wavefronts +=
        static_cast<std::uint64_t>(shared_wavefronts(matrix, kRowBytes));
  }
}

void AccessCounter::at_barrier(Worker& worker, const Fiber& one) {
  if (!on_) return;
  const UncheckedScope unchecked;
  ++counts_[number_of({one.pc, one.phase, CountedEvent::barrier, 0})].barriers;
  count_all_warps(worker.num_warps);
  recorder_.at_barrier();
}

void AccessCounter::at_warp_operation(Worker& worker, const Fiber& one, unsigned lanes,
                                      bool is_shuffle) {
  if (!on_) return;
  const UncheckedScope unchecked;
  if (is_shuffle) ++counts_[number_of({one.pc, one.phase, CountedEvent::shuffle, 0})].shuffles;
  // Lanes that have exited did not meet the others here: what they did last may belong with what
  // the others are still to do.
  if (lanes == worker.warps[static_cast<std::size_t>(one.warp)].existing)
    return count_warp(one.warp);
  const std::uint32_t meeting = number_of({one.pc, one.phase, CountedEvent::meeting, 0});
  for (int lane = 0; lane < kWarpSize; ++lane)
    if ((lanes >> lane & 1U) != 0)
      lanes_[static_cast<std::size_t>(one.warp * kWarpSize + lane)].push_back({0, meeting});
}

void AccessCounter::count_all_warps(int num_warps) {
  for (int warp = 0; warp < num_warps; ++warp) count_warp(warp);
}

void AccessCounter::count_warp(int warp) {
  const std::span<std::vector<LaneAccess>> lanes =
      std::span(lanes_).subspan(static_cast<std::size_t>(warp) * kWarpSize, kWarpSize);
  grouping_.group(lanes, [&](std::uint32_t site, const WarpAccess& access) {
    const Counts counts = counts_of(sites_[site], access);
    counts_[site] += counts;
    if (recorder_.on()) trace(warp, sites_[site], access, counts);
  });
  for (std::vector<LaneAccess>& lane : lanes) lane.clear();
  if (recorder_.on()) recorder_.forget_warp(warp);
}

void AccessCounter::trace(int warp, const CountedSite& site, const WarpAccess& access,
                          const Counts& counts) {
  if (site.event == CountedEvent::meeting) return;
  TracedRequest request;
  request.warp = warp;
  request.phase = site.phase;
  access.for_each(
      [&](int, std::uintptr_t address) { request.shared = address - tls_begin_ < tls_size_; });
  request.kind = kind_of(site.event);
  request.bytes = site.bytes;
  request.pc = site.pc;
  request.counts = counts;
  recorder_.record(std::move(request), access);
}

}  // namespace paged::simt
