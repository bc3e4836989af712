// The way of nearly all accesses: fine, like those before them by the same instruction, and done with
// after a few comparisons.
#pragma once
#include "kernels/simt/worker.h"
#include "kernels/simt/written_bits.h"

#include <cstddef>
#include <cstdint>

namespace paged::simt {

template <std::size_t kSize>
[[gnu::always_inline]] inline void AccessChecker::check(Worker& worker, std::uintptr_t address,
                                                        AccessKind kind, std::uintptr_t pc) {
  const Region& region = recent(pc);
  if (region.holds(address, kSize) && address % kSize == 0) [[likely]] {
    if (region.shortcut == Region::Shortcut::shared) {
      if (!worker.async_copies.are_watched() &&
          shared_.see_quickly<kSize>(worker.current->id, address, kind, pc)) [[likely]]
        return;
    } else if (region.shortcut == Region::Shortcut::reads && kind == AccessKind::read &&
               (region.written == nullptr ||
                all_written<kSize>(region.written, address - region.begin))) [[likely]] {
      return;
    }
  }
  check_and_count(worker, address, kSize, kind, pc);
}

}  // namespace paged::simt
