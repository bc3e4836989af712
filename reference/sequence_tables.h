// Sequences as lists of blocks: append, fork with copy-on-write, free, swap.
#pragma once
#include "reference/block_allocator.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace paged {

/// A copy of one whole block's keys and values that the caller must carry out, in the order given.
struct BlockCopy {
  BlockAllocator::BlockId from;
  BlockAllocator::BlockId to;
  friend bool operator==(const BlockCopy&, const BlockCopy&) = default;
};

/// What appending a token asks for: where it goes, and the copy to make before writing there.
struct AppendedToken {
  std::int64_t slot;              ///< physical block * block_size + offset within it
  std::vector<BlockCopy> copies;  ///< empty, or the one copy-on-write copy
};

/// The block tables of all live sequences over one device allocator and one host (swap) allocator.
///
/// Every operation either succeeds or throws InputError and changes nothing. Only bookkeeping
/// happens here; data moves by the copies that are returned (see cache_operations.h), which must be
/// carried out before those of a later operation: a block that one gives up the next may take.
class SequenceTables {
 public:
  using SequenceId = int;
  using BlockId = BlockAllocator::BlockId;

  /// block_size >= 1 tokens per block; block counts >= 0.
  SequenceTables(int block_size, int num_device_blocks, int num_host_blocks = 0);

  SequenceId create();  ///< a new, empty sequence on the device
  /// A new sequence with the same tokens that shares every block, and so needs no free one. A fork
  /// of a sequence that is swapped out is swapped out too: it shares the blocks on the host.
  SequenceId fork(SequenceId parent);
  /// Makes room for one more token. Takes a new block at a block boundary; copies a shared last
  /// block first (copy-on-write), so that other sequences keep theirs. The sequence must be on the
  /// device.
  AppendedToken append(SequenceId sequence);
  void free(SequenceId sequence);

  /// Moves a sequence's blocks to the host (preemption). Blocks shared with other sequences are
  /// copied, not taken away. Returns device -> host copies.
  std::vector<BlockCopy> swap_out(SequenceId sequence);
  /// Moves it back to newly allocated device blocks. Blocks on the host that a fork shares stay
  /// there for it. Returns host -> device copies.
  std::vector<BlockCopy> swap_in(SequenceId sequence);

  bool on_device(SequenceId sequence) const;
  int length(SequenceId sequence) const;  ///< tokens
  const std::vector<BlockId>& blocks(SequenceId sequence) const;
  /// Physical slot of a token, 0 <= token < length; of the host cache if the sequence is there.
  std::int64_t slot(SequenceId sequence, int token) const;

  /// The rows of several sequences as one table, [sequences, width], padded with `padding`.
  /// width >= the longest row; every sequence must be on the device.
  std::vector<std::int32_t> block_table(const std::vector<SequenceId>& sequences, int width,
                                        std::int32_t padding) const;

  int block_size() const { return block_size_; }
  const BlockAllocator& device_blocks() const { return device_; }
  const BlockAllocator& host_blocks() const { return host_; }

 private:
  struct Sequence {
    std::vector<BlockId> blocks;
    int length = 0;
    bool on_device = true;
  };
  const Sequence& find(SequenceId sequence) const;
  Sequence& find(SequenceId sequence);

  int block_size_;
  BlockAllocator device_;
  BlockAllocator host_;
  std::map<SequenceId, Sequence> sequences_;
  SequenceId next_id_ = 0;
};

}  // namespace paged
