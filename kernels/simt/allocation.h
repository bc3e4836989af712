// One allocation of the CPU device's memory.
#pragma once
#include "kernels/simt/guarded_pages.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace paged::simt {

/// `memory()` has `bytes` bytes, `written()` as many bits.
struct Allocation {
  std::string name;
  std::size_t bytes = 0;
  GuardedPages pages;   ///< of the data; more may be reserved than `bytes` need
  GuardedPages bits;    ///< what the host or a kernel wrote; see written_bits.h
  bool tracked = true;  ///< the bits are true to life: no unchecked kernel ran since allocation

  std::uint8_t* memory() const { return pages.data; }
  std::uint8_t* written() const { return bits.data; }
  std::uintptr_t begin() const { return reinterpret_cast<std::uintptr_t>(memory()); }
  std::uintptr_t end() const { return begin() + bytes; }
};

}  // namespace paged::simt
