// Block-sparse attention: which pages of a sequence take part.
#pragma once
#include "reference/host_device.h"

namespace paged {

/// Parameters of block-sparse attention as in vLLM v0.6.0; inactive unless vert_stride > 1.
///
/// The sequence is cut into sparse blocks of `block_size` tokens (a multiple of the cache's block
/// size). A page takes part if its sparse block is one of the last `local_blocks`, or if it lies on
/// this head's vertical stripe, every `vert_stride`-th sparse block.
struct BlockSparsity {
  int local_blocks = 0;          ///< >= 0
  int vert_stride = 1;           ///< >= 1; 1 means dense
  int block_size = 64;           ///< tokens per sparse block, a multiple of the cache's block size
  int head_sliding_step = 0;     ///< shift of the stripe from head to head; < 0: by KV head
  int tensor_parallel_rank = 0;  ///< >= 0: shifts heads as if this were one rank's share

  PAGED_HOST_DEVICE constexpr bool active() const { return vert_stride > 1; }

  /// Where the stripe of a query head starts.
  PAGED_HOST_DEVICE constexpr int stripe_offset(int head, int num_heads, int kv_head,
                                                int num_kv_heads) const {
    return head_sliding_step >= 0
               ? (tensor_parallel_rank * num_heads + head) * head_sliding_step + 1
               : (tensor_parallel_rank * num_kv_heads + kv_head) * -head_sliding_step + 1;
  }

  /// Whether a logical page takes part.
  /// @param page             logical page index, 0 <= page < num_pages(seq_len, cache_block_size)
  /// @param seq_len          tokens in the sequence, >= 1
  /// @param cache_block_size tokens per page
  /// @param offset           stripe_offset() of the head
  PAGED_HOST_DEVICE constexpr bool takes_part(int page, int seq_len, int cache_block_size,
                                              int offset) const {
    if (!active()) return true;
    const int sparse_block = page * cache_block_size / block_size;
    const int last = (seq_len - 1) / block_size;
    return (sparse_block + offset) % vert_stride == 0 || sparse_block > last - local_blocks;
  }
};

}  // namespace paged
