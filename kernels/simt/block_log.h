// What one block did to global memory, as far as other blocks of the launch may race with it.
#pragma once
#include "kernels/simt/access.h"

#include <cstdint>
#include <vector>

namespace paged::simt {

/// The first access of its kind of a block to these bytes of a cell (race_cell.h), since the
/// block's last atomic.
struct LoggedAccess {
  std::uintptr_t cell;    ///< address / kCellBytes
  std::uintptr_t pc;      ///< return address, as in Access
  std::uint32_t atomics;  ///< how many atomics the block had done before
  std::uint16_t thread;   ///< in the block
  std::uint8_t size;      ///< of the whole access, in bytes; at most 255
  std::uint8_t bytes;     ///< which of the cell's
  AccessKind kind;
  std::int8_t phase;  ///< a Phase, or -1
};

/// An atomic operation on global memory.
struct LoggedAtomic {
  std::uintptr_t address;
  std::uint64_t turn;  ///< its place among all atomics of the launch
};

struct BlockLog {
  std::uint64_t position = 0;  ///< in the order in which the launch hands out blocks
  std::uint64_t block = 0;     ///< linear index in the grid
  std::vector<LoggedAccess> accesses;
  std::vector<LoggedAtomic> atomics;
};

}  // namespace paged::simt
