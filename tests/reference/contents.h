// What things hold, to compare before and after.
#pragma once
#include "reference/block_allocator.h"
#include "reference/tensor.h"

#include <cstddef>
#include <vector>

namespace paged::testing {

/// The reference count of every block.
inline std::vector<int> counts_of(const BlockAllocator& allocator) {
  std::vector<int> counts;
  for (int block = 0; block < allocator.num_blocks(); ++block)
    counts.push_back(allocator.ref_count(block));
  return counts;
}

inline std::vector<std::byte> bytes_of(const Tensor& tensor) {
  return {tensor.data(), tensor.data() + tensor.size_in_bytes()};
}

}  // namespace paged::testing
