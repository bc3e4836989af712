// Physical blocks: which are free, and how many sequences share each.
#pragma once
#include <cstdint>
#include <vector>

namespace paged {

/// Hands out physical block ids with reference counts.
///
/// Freed blocks are reused last-in first-out, so that a recently used block is still warm in a
/// cache. All operations are O(1). Misuse (freeing a free block, an id out of range, allocating
/// when nothing is free) throws InputError and changes nothing.
class BlockAllocator {
 public:
  using BlockId = std::int32_t;

  explicit BlockAllocator(int num_blocks);  ///< num_blocks >= 0, all free; ids 0 ... num_blocks-1

  int num_blocks() const { return static_cast<int>(ref_counts_.size()); }
  int num_free() const { return static_cast<int>(free_.size()); }
  int ref_count(BlockId block) const;  ///< 0 for a free block

  BlockId allocate();           ///< a free block, its count set to 1
  void share(BlockId block);    ///< one more reference to a block in use
  void release(BlockId block);  ///< one reference fewer; at 0 the block is free again

 private:
  void check_in_use(BlockId block, const char* what) const;

  std::vector<int> ref_counts_;
  std::vector<BlockId> free_;
};

}  // namespace paged
