/* One decode-attention call as plain C: pointers, sizes, strides.
 *
 * Every stage takes this struct, on host memory of the CPU machine or on CUDA device memory, and a
 * kernel of one's own can take it too: it is plain C and carries a version.
 *
 * Strides count elements, not bytes; those of query and caches are multiples of 16 bytes, so that
 * vectors can be loaded. What lies in gaps between pages or queries must not be read. Tensors,
 * innermost dimension last:
 *   query        [num_seqs, num_heads, head_size]                          scalar
 *   key_cache    [num_blocks, num_kv_heads, head_size/x, block_size, x]    cache, x = 16 / sizeof
 *   value_cache  [num_blocks, num_kv_heads, head_size, block_size]         cache
 *   block_tables [num_seqs, max_num_blocks_per_seq]                        int32
 *   seq_lens     [num_seqs]                                                int32
 *   alibi_slopes [num_heads] or NULL                                       float
 *   output       [num_seqs, num_heads, head_size], contiguous              scalar
 *   lse          [num_seqs, num_heads] or NULL                             float
 *   maxima       [num_seqs, num_heads] or NULL                             float
 *   sums         [num_seqs, num_heads] or NULL                             float
 *   logits       [num_seqs, num_heads, logits_stride] or NULL              float
 */
#ifndef PAGED_DECODE_H
#define PAGED_DECODE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Rises when the struct changes; a callee must refuse versions that it does not know. */
#define PAGED_DECODE_VERSION 2

/** Element types. Query and output take the first three. */
enum paged_element_type {
  PAGED_F32 = 0,
  PAGED_F16 = 1,
  PAGED_BF16 = 2,
  PAGED_E4M3 = 3,
  PAGED_E5M2 = 4
};

/** Which kernel a callee that has both takes: its own choice, V1, V2, or what vLLM v0.6.0 chose. */
enum paged_kernel_variant { PAGED_AUTO = 0, PAGED_V1 = 1, PAGED_V2 = 2, PAGED_V060 = 3 };

/** Inputs and outputs of one decode step. All pointers are 16-byte aligned. */
typedef struct paged_decode_args {
  int32_t version; /**< PAGED_DECODE_VERSION */

  int32_t scalar; /**< paged_element_type of query and output */
  int32_t cache;  /**< paged_element_type of both caches */
  /** paged_element_type that probabilities have when they multiply values: PAGED_F32, or, beside
   *  scalar f16 and an f16 cache only, PAGED_F16, as the classic kernel of vLLM v0.6.0 has it: the
   *  probabilities and their products with values are rounded to f16. Its error grows with the
   *  context: docs/error_bounds.md. */
  int32_t probabilities;

  int32_t num_seqs;
  int32_t num_heads; /**< query heads; a multiple of num_kv_heads */
  int32_t num_kv_heads;
  int32_t head_size;
  int32_t block_size;             /**< tokens per block */
  int64_t num_blocks;             /**< blocks in each cache */
  int32_t max_num_blocks_per_seq; /**< width of a block-table row */
  int32_t max_seq_len;            /**< longest of seq_lens */

  const void* query;
  int64_t query_stride; /**< from sequence to sequence */
  const void* key_cache;
  const void* value_cache;
  int64_t key_block_stride;
  int64_t key_head_stride;
  int64_t value_block_stride;
  int64_t value_head_stride;
  const int32_t* block_tables; /**< only ceil(seq_len / block_size) entries of a row are valid */
  const int32_t* seq_lens;
  const float* alibi_slopes; /**< or NULL */

  float scale;   /**< multiplies q . k */
  float k_scale; /**< an fp8 key is stored * k_scale; 1 otherwise */
  float v_scale;

  /* block-sparse attention, active when vert_stride > 1 */
  int32_t sparse_local_blocks;
  int32_t sparse_vert_stride;
  int32_t sparse_block_size;
  int32_t sparse_head_sliding_step;
  int32_t tensor_parallel_rank;

  void* output;
  float* lse; /**< or NULL; log-sum-exp of the logits, -infinity for no token */
  /** or NULL; what is subtracted from the logits before the exponential: the greatest of those that
   *  take part, -infinity if none does; always 0 where a callee subtracts nothing */
  float* maxima;
  /** or NULL; sum of exp(logit - maximum) without any guard, 0 if no token takes part. lse =
   *  maximum + log(sum). */
  float* sums;
  float* logits;         /**< or NULL; entries past seq_len are not written */
  int64_t logits_stride; /**< >= max_seq_len */

  void* workspace;        /**< as many bytes as the callee asks for; NULL if it asks for none */
  int32_t partition_size; /**< tokens per partition, a multiple of block_size; for V2 */
  int32_t variant;        /**< paged_kernel_variant */
  void* stream;           /**< cudaStream_t; NULL: the default stream. Ignored for host memory. */
} paged_decode_args;

#ifdef __cplusplus
}
#endif
#endif
