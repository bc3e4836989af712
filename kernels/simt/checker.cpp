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
  constexpr const char* names[] = {"read", "write", "atomic"};
  return std::to_string(access.size) + "-byte " + names[static_cast<int>(access.kind)];
}

FindingKind out_of_bounds(const Access& access) {
  return access.kind == AccessKind::read ? FindingKind::out_of_bounds_read
                                         : FindingKind::out_of_bounds_write;
}

// Thread-local memory, arguments and constants: no named allocation, but a kernel may use it.
Region program_region(const Worker& worker, std::uintptr_t tls_begin, std::size_t tls_size,
                      const Access& access) {
  const auto dynamic = reinterpret_cast<std::uintptr_t>(dynamic_shared);
  const std::uintptr_t dynamic_end = dynamic + kMaxSharedBytes;
  const ProgramImage& image = program_image();
  for (const Region& region : {Region{dynamic, worker.launch->shared_bytes, nullptr},
                               Region{tls_begin, dynamic - tls_begin, nullptr},
                               Region{dynamic_end, tls_begin + tls_size - dynamic_end, nullptr},
                               Region{reinterpret_cast<std::uintptr_t>(worker.launch->arguments),
                                      worker.launch->argument_bytes, nullptr},
                               Region{image.begin, image.size, nullptr}})
    if (region.holds(access.address, access.size)) return region;
  return {};
}

}  // namespace

void AccessChecker::begin_block(Worker& worker) {
  if (launch_ != worker.launch) {
    launch_ = worker.launch;
    recent_.fill({});
    const ThreadLocalImage tls = thread_local_image();
    tls_begin_ = tls.begin;
    tls_size_ = tls.size;
  }
  if (worker.launch->checked) ignored_range = {worker.fibers.begin(), worker.fibers.size()};
}

void AccessChecker::end_block(Worker&) { ignored_range = {}; }

Region AccessChecker::find_region(Worker& worker, const Access& access) {
  {
    const UncheckedScope unchecked;
    const Allocation* allocation = device_memory().find(access.address);
    if (allocation != nullptr && access.size <= allocation->end() - access.address)
      return {allocation->begin(), allocation->bytes,
              allocation->tracked ? allocation->written : nullptr};
    const Region region = program_region(worker, tls_begin_, tls_size_, access);
    if (region.size != 0) return region;

    const auto dynamic = reinterpret_cast<std::uintptr_t>(dynamic_shared);
    std::string where;
    if (access.address - dynamic < kMaxSharedBytes)
      where = "at byte " + std::to_string(access.address - dynamic) +
              " of the dynamic shared memory, of which the launch asked for " +
              std::to_string(worker.launch->shared_bytes) + " bytes";
    else if (allocation != nullptr)
      where = "that ends " + std::to_string(access.address + access.size - allocation->end()) +
              " bytes past the end of '" + allocation->name + "' (" +
              std::to_string(allocation->bytes) + " bytes)";
    else
      where = device_memory().describe(access.address);
    report(worker, out_of_bounds(access), CodePlace{access.pc, ""}, *worker.current,
           what_access(access) + " " + where);
  }
  stop_block(worker);
}

void AccessChecker::refuse_misaligned(Worker& worker, const Access& access) {
  {
    const UncheckedScope unchecked;
    report(worker, FindingKind::misaligned_access, CodePlace{access.pc, ""}, *worker.current,
           what_access(access) + " at an address that is " +
               std::to_string(access.address % access.size) + " past a multiple of " +
               std::to_string(access.size) + " bytes");
  }
  stop_block(worker);
}

void AccessChecker::note_uninitialised(Worker& worker, const Region& region, const Access& access) {
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
