// The typed view of a decode call that kernels work on, and the walk from token to page.
#pragma once
#include "kernels/cuda.h"
#include "kernels/paged_decode.h"
#include "reference/block_sparsity.h"
#include "reference/cache_layout.h"

#include <cstdint>

namespace paged::PAGED_BACKEND {

/// paged_decode_args with element types; passed to kernels by value. Shapes and strides are
/// documented there.
template <typename scalar_t, typename cache_t>
struct DecodeTensors {
  const scalar_t* query;       // [num_seqs, num_heads, head_size]
  const cache_t* key_cache;    // [num_blocks, num_kv_heads, head_size/x, block_size, x]
  const cache_t* value_cache;  // [num_blocks, num_kv_heads, head_size, block_size]
  const int* block_tables;     // [num_seqs, max_num_blocks_per_seq]
  const int* seq_lens;         // [num_seqs]
  const float* alibi_slopes;   // [num_heads] or null
  scalar_t* output;            // [num_seqs, num_heads, head_size]
  float* lse;                  // [num_seqs, num_heads] or null
  float* maxima;               // [num_seqs, num_heads] or null
  float* sums;                 // [num_seqs, num_heads] or null
  float* logits;               // [num_seqs, num_heads, logits_stride] or null

  int num_heads, num_kv_heads, head_size, block_size, max_num_blocks_per_seq;
  float scale, k_scale, v_scale;
  std::int64_t query_stride, logits_stride;
  CacheStrides key_strides, value_strides;
  BlockSparsity sparsity;

  /// x of the key layout: cache elements in 16 bytes.
  static constexpr int kKeyVector = key_vector_width(sizeof(cache_t));

  explicit DecodeTensors(const paged_decode_args& args)
      : query(static_cast<const scalar_t*>(args.query)),
        key_cache(static_cast<const cache_t*>(args.key_cache)),
        value_cache(static_cast<const cache_t*>(args.value_cache)),
        block_tables(args.block_tables),
        seq_lens(args.seq_lens),
        alibi_slopes(args.alibi_slopes),
        output(static_cast<scalar_t*>(args.output)),
        lse(args.lse),
        maxima(args.maxima),
        sums(args.sums),
        logits(args.logits),
        num_heads(args.num_heads),
        num_kv_heads(args.num_kv_heads),
        head_size(args.head_size),
        block_size(args.block_size),
        max_num_blocks_per_seq(args.max_num_blocks_per_seq),
        scale(args.scale),
        k_scale(args.k_scale),
        v_scale(args.v_scale),
        query_stride(args.query_stride),
        logits_stride(args.logits_stride),
        key_strides{args.key_block_stride, args.key_head_stride},
        value_strides{args.value_block_stride, args.value_head_stride},
        sparsity{args.sparse_local_blocks, args.sparse_vert_stride, args.sparse_block_size,
                 args.sparse_head_sliding_step, args.tensor_parallel_rank} {}

  __device__ int kv_head(int head) const { return kv_head_of(head, num_heads, num_kv_heads); }

  /// The query of (seq, head). [head_size]
  __device__ const scalar_t* query_of(int seq, int head) const {
    return query + seq * query_stride + static_cast<std::int64_t>(head) * head_size;
  }
  /// Where the output of (seq, head) goes. [head_size]
  __device__ scalar_t* output_of(int seq, int head) const {
    return output + (static_cast<std::int64_t>(seq) * num_heads + head) * head_size;
  }
  /// Where the logits of (seq, head) go. [seq_len]. Only if `logits` is not null.
  __device__ float* logits_of(int seq, int head) const {
    return logits + (static_cast<std::int64_t>(seq) * num_heads + head) * logits_stride;
  }
  /// The row of the block table that belongs to seq; only its first num_pages() entries are valid.
  __device__ const int* block_table_of(int seq) const {
    return block_tables + static_cast<std::int64_t>(seq) * max_num_blocks_per_seq;
  }
  /// One page of keys. [head_size/x, block_size, x]
  __device__ const cache_t* key_page(int physical_block, int kv) const {
    return key_cache + page_offset(physical_block, kv, key_strides);
  }
  /// One page of values. [head_size, block_size]
  __device__ const cache_t* value_page(int physical_block, int kv) const {
    return value_cache + page_offset(physical_block, kv, value_strides);
  }
  /// Position bias of a token: 0 at the last one, slope times the (negative) distance before it.
  __device__ float position_bias(int head, int token, int seq_len) const {
    return alibi_slopes == nullptr ? 0.0F
                                   : alibi_slopes[head] * static_cast<float>(token - (seq_len - 1));
  }
};

}  // namespace paged::PAGED_BACKEND
