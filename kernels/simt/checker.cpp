#include "kernels/simt/checker.h"

#include "kernels/simt/device_memory.h"
#include "kernels/simt/program_symbols.h"
#include "kernels/simt/reports.h"
#include "kernels/simt/shared_memory.h"
#include "kernels/simt/worker.h"
#include "kernels/simt/written_bits.h"

#include <algorithm>
#include <string>

namespace paged::simt {

thread_local IgnoredRange ignored_range;

namespace {

FindingKind out_of_bounds(const Access& access) {
  return access.kind == AccessKind::read ? FindingKind::out_of_bounds_read
                                         : FindingKind::out_of_bounds_write;
}

}  // namespace

void AccessChecker::begin_launch(const Worker& worker, GlobalLaunch& launch) {
  recent_.fill({});  // allocations may have come and gone
  preempts_ = worker.schedule.kind == ScheduleKind::preemptive;
  takes_shortcuts_ = !preempts_ && !worker.counter.on();
  global_.begin_launch(launch);
  if (worker.launch->checked) static_shared_.begin_launch(worker.launch->kernel);
  const ThreadLocalImage tls = thread_local_image();
  tls_begin_ = tls.begin;
  tls_size_ = tls.size;
  shared_.begin_launch(tls.begin, tls.size);
}

void AccessChecker::begin_block(Worker& worker) {
  if (!worker.launch->checked) return;
  clocks_.begin_block(worker.num_threads);
  global_.begin_block(worker);
  ignored_range = {worker.fibers.begin(), worker.fibers.size()};
}

void AccessChecker::end_block(Worker& worker) {
  ignored_range = {};
  if (worker.launch->checked) global_.end_block();
}

void AccessChecker::check_and_count(Worker& worker, std::uintptr_t address, std::size_t size,
                                    AccessKind kind, std::uintptr_t pc) {
  if (worker.counter.on()) worker.counter.see(*worker.current, address, size, kind, pc);
  check_instruction(worker, {address, size, kind, pc}, size);
}

void AccessChecker::check_thoroughly(Worker& worker, const Access& access, std::size_t alignment,
                                     std::uintptr_t instruction) {
  // Before the access is looked at: nothing may come between that and the access itself.
  if (preempts_ && worker.ready.gives_way()) give_way(worker);
  Region& region = recent(access.pc);
  if (!region.is_of(access.pc) || !region.holds(access.address, access.size)) {
    region = find_region(worker, access, instruction);
    region.instruction = static_cast<std::uint32_t>(access.pc);
  }
  if (region.size == 0) {
    report_out_of_bounds(worker, access);
    stop_block(worker);
  }
  if (access.address % alignment != 0) {
    report_misaligned(worker, access);
    stop_block(worker);
  }
  check_races(worker, region, access);
  if (region.written == nullptr) return;
  const std::size_t offset = access.address - region.begin;
  if (access.kind != AccessKind::write && count_unwritten(region.written, offset, access.size) != 0)
    report_uninitialised(worker, access);
  if (access.kind != AccessKind::read) mark_written(region.written, offset, access.size);
}

void AccessChecker::check_races(Worker& worker, Region& region, const Access& access) {
  switch (region.kind) {
    case Region::Kind::shared:
      shared_.see(worker, access);
      if (takes_shortcuts_) region.shortcut = Region::Shortcut::shared;
      return;
    case Region::Kind::allocation:
      if (access.kind != AccessKind::read || global_.watches_read_of(region.begin))
        return global_.see(worker, access, region.begin, region.written);
      break;
    case Region::Kind::program:
      if (access.kind != AccessKind::read) global_.see_lasting_write();
      break;
    case Region::Kind::arguments:
      break;
  }
  if (takes_shortcuts_ && access.kind == AccessKind::read)
    region.shortcut = Region::Shortcut::reads;
}

// Besides allocations a kernel may use its shared memory, its arguments and the program's
// constants.
Region AccessChecker::find_region(const Worker& worker, const Access& access,
                                  std::uintptr_t instruction) {
  const UncheckedScope unchecked;
  const Allocation* allocation = device_memory().find(access.address);
  if (allocation != nullptr && access.size <= allocation->end() - access.address)
    return {allocation->begin(), allocation->bytes,
            allocation->tracked ? allocation->written() : nullptr, Region::Kind::allocation};

  if (access.address - tls_begin_ < tls_size_)
    return find_shared_region(worker, access, instruction);

  const LaunchRequest& launch = *worker.launch;
  const ProgramImage& image = program_image();
  for (const Region& region : {Region{reinterpret_cast<std::uintptr_t>(launch.arguments),
                                      launch.argument_bytes, nullptr, Region::Kind::arguments},
                               Region{image.begin, image.size, nullptr, Region::Kind::program}})
    if (region.holds(access.address, access.size)) return region;
  return {};
}

Region AccessChecker::find_shared_region(const Worker& worker, const Access& access,
                                         std::uintptr_t instruction) {
  const auto dynamic = reinterpret_cast<std::uintptr_t>(dynamic_shared);
  Region region{dynamic, worker.launch->shared_bytes, nullptr, Region::Kind::shared};
  if (access.address - dynamic < kMaxSharedBytes) {
    const bool inside = region.holds(access.address, access.size);
    const bool meant = static_shared_.means_dynamic(instruction, {dynamic, region.size, 0, false});
    return inside && meant ? region : Region{};
  }
  const ThreadLocalExtent variable = static_shared_.find(instruction, access.address, access.size);
  region.begin = variable.begin;
  region.size = variable.size;
  return region;
}

std::string AccessChecker::describe_bad_address(const Worker& worker, const Access& access) const {
  const auto dynamic = reinterpret_cast<std::uintptr_t>(dynamic_shared);
  const bool around_dynamic =
      access.address - dynamic < kMaxSharedBytes || dynamic - access.address <= kGuardedSharedBytes;
  if (around_dynamic && !static_shared_.means_variable(access.pc))
    return "at " + place_in_shared_memory(access.address) + ", of which the launch asked for " +
           std::to_string(worker.launch->shared_bytes) + " bytes";
  constexpr std::uintptr_t kNear = 4096;  // past the last variable
  if (access.address - tls_begin_ < tls_size_ + kNear)
    if (std::string text = static_shared_.describe(access.pc, access.address); !text.empty())
      return text;
  const Allocation* allocation = device_memory().find(access.address);
  if (allocation == nullptr) return device_memory().describe(access.address);
  return "that ends " + std::to_string(access.address + access.size - allocation->end()) +
         " bytes past the end of '" + allocation->name + "' (" + std::to_string(allocation->bytes) +
         " bytes)";
}

void AccessChecker::report_out_of_bounds(Worker& worker, const Access& access) const {
  const UncheckedScope unchecked;
  report(worker, out_of_bounds(access), CodePlace{access.pc, ""}, *worker.current,
         describe_access(access) + " " + describe_bad_address(worker, access));
}

void AccessChecker::report_misaligned(Worker& worker, const Access& access) const {
  const UncheckedScope unchecked;
  report(worker, FindingKind::misaligned_access, CodePlace{access.pc, ""}, *worker.current,
         describe_access(access) + " at an address that is " +
             std::to_string(access.address % access.size) + " past a multiple of " +
             std::to_string(access.size) + " bytes");
}

void AccessChecker::report_uninitialised(Worker& worker, const Access& access) const {
  const UncheckedScope unchecked;
  const CodePlace place{access.pc, ""};
  if (worker.findings.count_again(FindingKind::uninitialised_read, place)) return;
  report(worker, FindingKind::uninitialised_read, place, *worker.current,
         describe_access(access) + " of memory that nothing has written, at " +
             place_in_allocation(access.address));
}

}  // namespace paged::simt
