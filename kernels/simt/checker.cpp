#include "kernels/simt/checker.h"

#include "kernels/simt/device_memory.h"
#include "kernels/simt/program_symbols.h"
#include "kernels/simt/reports.h"
#include "kernels/simt/shared_memory.h"
#include "kernels/simt/worker.h"

#include <algorithm>
#include <string>

namespace paged::simt {

thread_local IgnoredRange ignored_range;

namespace {

std::string what_access(const Access& access) {
  return std::to_string(access.size) + "-byte " + name_of(access.kind);
}

FindingKind out_of_bounds(const Access& access) {
  return access.kind == AccessKind::read ? FindingKind::out_of_bounds_read
                                         : FindingKind::out_of_bounds_write;
}

// "right past the end of 'keys' (4096 bytes)", for an access that lies in no region.
std::string describe_bad_address(const Worker& worker, const Access& access) {
  const auto dynamic = reinterpret_cast<std::uintptr_t>(dynamic_shared);
  if (access.address - dynamic < kMaxSharedBytes)
    return "at byte " + std::to_string(access.address - dynamic) +
           " of the dynamic shared memory, of which the launch asked for " +
           std::to_string(worker.launch->shared_bytes) + " bytes";
  const Allocation* allocation = device_memory().find(access.address);
  if (allocation == nullptr) return device_memory().describe(access.address);
  return "that ends " + std::to_string(access.address + access.size - allocation->end()) +
         " bytes past the end of '" + allocation->name + "' (" + std::to_string(allocation->bytes) +
         " bytes)";
}

}  // namespace

void AccessChecker::begin_launch() {
  recent_.fill({});  // allocations may have come and gone
  const ThreadLocalImage tls = thread_local_image();
  tls_begin_ = tls.begin;
  tls_size_ = tls.size;
  shared_.begin_launch(tls.begin, tls.size);
}

void AccessChecker::begin_block(Worker& worker) {
  if (!worker.launch->checked) return;
  shared_.begin_block(worker.num_threads);
  ignored_range = {worker.fibers.begin(), worker.fibers.size()};
}

void AccessChecker::end_block(Worker&) { ignored_range = {}; }

void AccessChecker::check_thoroughly(Worker& worker, const Access& access, std::size_t alignment) {
  Region& region = recent(access.pc);
  if (!region.holds(access.address, access.size)) region = find_region(worker, access);
  if (region.size == 0) {
    report_out_of_bounds(worker, access);
    stop_block(worker);
  }
  if (access.address % alignment != 0) {
    report_misaligned(worker, access);
    stop_block(worker);
  }
  if (region.shared) shared_.see(worker, access);
  if (region.written == nullptr) return;
  std::uint8_t* const written = region.written + (access.address - region.begin);
  if (access.kind != AccessKind::write && std::memchr(written, 0, access.size) != nullptr)
    report_uninitialised(worker, region, access);
  if (access.kind != AccessKind::read) std::memset(written, 1, access.size);
}

// Besides allocations a kernel may use its shared memory, its arguments and the program's
// constants.
Region AccessChecker::find_region(const Worker& worker, const Access& access) const {
  const UncheckedScope unchecked;
  const Allocation* allocation = device_memory().find(access.address);
  if (allocation != nullptr && access.size <= allocation->end() - access.address)
    return {allocation->begin(), allocation->bytes,
            allocation->tracked ? allocation->written : nullptr};

  const auto dynamic = reinterpret_cast<std::uintptr_t>(dynamic_shared);
  const std::uintptr_t dynamic_end = dynamic + kMaxSharedBytes;
  const LaunchRequest& launch = *worker.launch;
  const ProgramImage& image = program_image();
  for (const Region& region :
       {Region{dynamic, launch.shared_bytes, nullptr, true},
        Region{tls_begin_, dynamic - tls_begin_, nullptr, true},  // static shared memory,
        Region{dynamic_end, tls_begin_ + tls_size_ - dynamic_end, nullptr, true},  // on both sides
        Region{reinterpret_cast<std::uintptr_t>(launch.arguments), launch.argument_bytes, nullptr},
        Region{image.begin, image.size, nullptr}})
    if (region.holds(access.address, access.size)) return region;
  return {};
}

void AccessChecker::report_out_of_bounds(Worker& worker, const Access& access) const {
  const UncheckedScope unchecked;
  report(worker, out_of_bounds(access), CodePlace{access.pc, ""}, *worker.current,
         what_access(access) + " " + describe_bad_address(worker, access));
}

void AccessChecker::report_misaligned(Worker& worker, const Access& access) const {
  const UncheckedScope unchecked;
  report(worker, FindingKind::misaligned_access, CodePlace{access.pc, ""}, *worker.current,
         what_access(access) + " at an address that is " +
             std::to_string(access.address % access.size) + " past a multiple of " +
             std::to_string(access.size) + " bytes");
}

void AccessChecker::report_uninitialised(Worker& worker, const Region& region,
                                         const Access& access) const {
  const UncheckedScope unchecked;
  const CodePlace place{access.pc, ""};
  if (worker.findings.count_again(FindingKind::uninitialised_read, place)) return;
  const Allocation* allocation = device_memory().find(region.begin);
  report(worker, FindingKind::uninitialised_read, place, *worker.current,
         what_access(access) + " of memory that nothing has written, at byte " +
             std::to_string(access.address - region.begin) + " of '" + allocation->name + "' (" +
             std::to_string(allocation->bytes) + " bytes)");
}

}  // namespace paged::simt
