#include "reference/block_allocator.h"

#include "reference/input_error.h"

#include <numeric>
#include <string>

namespace paged {
namespace {

std::size_t checked_count(int num_blocks) {
  if (num_blocks < 0)
    throw InputError("an allocator of " + std::to_string(num_blocks) +
                     " blocks cannot be: the number must be at least 0");
  return static_cast<std::size_t>(num_blocks);
}

}  // namespace

BlockAllocator::BlockAllocator(int num_blocks)
    : ref_counts_(checked_count(num_blocks), 0), free_(ref_counts_.size()) {
  // The free list is taken from its end: block 0 goes out first.
  std::iota(free_.rbegin(), free_.rend(), 0);
}

int BlockAllocator::ref_count(BlockId block) const {
  if (block < 0 || block >= num_blocks())
    throw InputError("block " + std::to_string(block) + " is outside the allocator's " +
                     std::to_string(num_blocks()) + " blocks");
  return ref_counts_[static_cast<std::size_t>(block)];
}

BlockAllocator::BlockId BlockAllocator::allocate() {
  if (free_.empty())
    throw InputError("no block is free: all " + std::to_string(num_blocks()) + " are in use");
  const BlockId block = free_.back();
  free_.pop_back();
  ref_counts_[static_cast<std::size_t>(block)] = 1;
  return block;
}

void BlockAllocator::share(BlockId block) {
  check_in_use(block, "shared");
  ++ref_counts_[static_cast<std::size_t>(block)];
}

void BlockAllocator::release(BlockId block) {
  check_in_use(block, "released");
  if (--ref_counts_[static_cast<std::size_t>(block)] == 0) free_.push_back(block);
}

void BlockAllocator::check_in_use(BlockId block, const char* what) const {
  if (ref_count(block) == 0)
    throw InputError("block " + std::to_string(block) + " is free: it cannot be " + what);
}

}  // namespace paged
