// What one CUDA block computes: one query head of one sequence, over a range of pages.
#pragma once
#include "kernels/decode_tensors.cuh"

namespace paged::PAGED_BACKEND {

/// One (sequence, query head) and the tokens [first_token, end_token) of it. Unpartitioned, these
/// are all tokens; the pages of a partition start at a page boundary.
struct HeadTask {
  int seq, head, kv_head;
  int seq_len;
  int first_page, end_page;
  int first_token, end_token;
  int stripe;  ///< of block-sparse attention

  __device__ int tokens() const { return end_token - first_token; }
};

/// The task of (seq, head) over all of its tokens.
template <typename scalar_t, typename cache_t>
__device__ HeadTask whole_head(const DecodeTensors<scalar_t, cache_t>& t, int seq, int head,
                               int block_size) {
  HeadTask task;
  task.seq = seq;
  task.head = head;
  task.kv_head = t.kv_head(head);
  task.seq_len = t.seq_lens[seq];
  task.first_page = 0;
  task.end_page = num_pages(task.seq_len, block_size);
  task.first_token = 0;
  task.end_token = task.seq_len;
  task.stripe = t.sparsity.stripe_offset(head, t.num_heads, task.kv_head, t.num_kv_heads);
  return task;
}

/// The task of one partition of (seq, head): partition_size tokens, a multiple of block_size, or
/// what is left. Without tokens if the partition starts at or past the sequence's end.
template <typename scalar_t, typename cache_t>
__device__ HeadTask partition_of_head(const DecodeTensors<scalar_t, cache_t>& t, int seq, int head,
                                      int partition, int partition_size, int block_size) {
  HeadTask task = whole_head(t, seq, head, block_size);
  // [partition]
  task.first_token = min(partition * partition_size, task.seq_len);
  task.end_token = min(task.first_token + partition_size, task.seq_len);
  task.first_page = task.first_token / block_size;
  task.end_page = num_pages(task.end_token, block_size);
  // [/partition]
  return task;
}

}  // namespace paged::PAGED_BACKEND
