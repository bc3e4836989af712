// The way of nearly all accesses: fine, like those before them by the same instruction, and done
// with after a few comparisons.
#pragma once
#include "kernels/simt/worker.h"
#include "kernels/simt/written_bits.h"

#include <cstddef>
#include <cstdint>

namespace paged::simt {

// Not in line: the other way needs no register to be saved.
template <std::size_t kSize>
[[gnu::noinline]] void AccessChecker::check_otherwise(Worker& worker, std::uintptr_t address,
                                                      AccessKind kind, std::uintptr_t pc) {
  const Region& region = recent(pc);
  if (region.shortcut == Region::Shortcut::shared && region.is_of(pc) &&
      region.holds(address, kSize) && address % kSize == 0 && !worker.async_copies.are_watched() &&
      shared_.see_quickly<kSize>(worker.current->id, address, kind, pc)) [[likely]]
    return;
  check_and_count(worker, address, kSize, kind, pc);
}

template <std::size_t kSize>
[[gnu::always_inline]] inline void AccessChecker::check(Worker& worker, std::uintptr_t address,
                                                        AccessKind kind, std::uintptr_t pc) {
  const Region& region = recent(pc);
  if (kind == AccessKind::read && region.shortcut == Region::Shortcut::reads && region.is_of(pc) &&
      region.holds(address, kSize) && address % kSize == 0 &&
      (region.written == nullptr || all_written<kSize>(region.written, address - region.begin)))
      [[likely]]
    return;
  check_otherwise<kSize>(worker, address, kind, pc);
}

}  // namespace paged::simt
