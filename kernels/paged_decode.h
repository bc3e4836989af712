/* One decode-attention call as plain C: pointers, sizes, strides. And what a shared library has to
 * export so that `paged check --kernel LIB.so` can try it.
 *
 * Every stage takes this struct, on host memory of the CPU machine or on CUDA device memory, and a
 * kernel of one's own takes it too: it is plain C, needs no other file, and carries a version.
 *
 * Strides count elements, not bytes; those of query and caches are multiples of 16 bytes, so that
 * vectors can be loaded. What lies in gaps between pages or queries must not be read. Tensors,
 * innermost dimension last:
 *   query        [num_seqs, num_heads, head_size]                          scalar
 *   key_cache    [num_blocks, num_kv_heads, head_size/x, block_size, x]    cache, x = 16 / sizeof
 *   value_cache  [num_blocks, num_kv_heads, head_size, block_size]         cache
 * (these two in the classic layout; others: paged_cache_layout)
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
#define PAGED_DECODE_VERSION 3

/** Element types. Query and output take the first three. */
enum paged_element_type {
  PAGED_F32 = 0,
  PAGED_F16 = 1,
  PAGED_BF16 = 2,
  PAGED_E4M3 = 3,
  PAGED_E5M2 = 4
};

/** How both caches are laid out. Stages take the classic one. */
enum paged_cache_layout {
  /** Keys [num_blocks, num_kv_heads, head_size/x, block_size, x] with x = 16 / sizeof(element),
   *  values [num_blocks, num_kv_heads, head_size, block_size]. */
  PAGED_CLASSIC = 0,
  /** Keys and values [num_blocks, block_size, num_kv_heads, head_size]. In this and the next one,
   *  element (block, token in the block, KV head, dimension) lies at
   *  block * block_stride + token * token_stride + head * head_stride + dimension. */
  PAGED_TOKENS_THEN_HEADS = 1,
  /** Keys and values [num_blocks, num_kv_heads, block_size, head_size]. */
  PAGED_HEADS_THEN_TOKENS = 2
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
  int32_t cache_layout;     /**< paged_cache_layout */
  int64_t key_token_stride; /**< from token to token of a block; 0 in the classic layout */
  int64_t value_token_stride;
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
  /** or NULL; -infinity for a token that block-sparse attention leaves out; entries past seq_len are
   *  not written */
  float* logits;
  int64_t logits_stride; /**< >= max_seq_len */

  void* workspace;        /**< as many bytes as the callee asks for; NULL if it asks for none */
  int32_t partition_size; /**< tokens per partition, a multiple of block_size; for V2 */
  int32_t variant;        /**< paged_kernel_variant */
  void* stream;           /**< cudaStream_t; NULL: the default stream. Ignored for host memory. */
} paged_decode_args;

/* ---- a kernel of one's own: what a shared library exports -------------------------------------- */

/** The pointers that a kernel takes. */
enum paged_kernel_memory {
  PAGED_HOST_MEMORY = 0, /**< ordinary memory; the call returns when the output is written */
  PAGED_CUDA_MEMORY = 1  /**< of the first CUDA device; the call may return after its launches */
};

/** What a kernel can do beside plain attention; bits of paged_kernel_description.features. What is
 *  not declared is not asked for: the pointer is NULL, the parameter has no effect. */
enum paged_kernel_feature {
  PAGED_TAKES_ALIBI = 1,        /**< alibi_slopes */
  PAGED_TAKES_BLOCK_SPARSE = 2, /**< the sparse_ parameters */
  PAGED_TAKES_PARTITIONS = 4,   /**< variant and partition_size */
  PAGED_GIVES_LSE = 8,          /**< lse */
  PAGED_GIVES_STATISTICS = 16,  /**< maxima and sums */
  PAGED_GIVES_LOGITS = 32       /**< logits */
};

/** A kernel's floating-point arithmetic, from which the error bounds are derived
 *  (docs/error_bounds.md). Sums are in f32, or better. All zeros are right for every kernel that adds
 *  in f32, in whatever order, subtracts the maximum, and divides by the bare sum; naming shorter
 *  chains of additions makes the bounds tighter. */
typedef struct paged_kernel_arithmetic {
  int32_t lanes_per_dot;    /**< partial sums of one q . k; 0: one chain */
  int32_t lanes_per_sum;    /**< partial sums of the softmax's denominator; 0: one chain */
  int32_t warps_per_output; /**< that take the pages of one output element in turn; 0: one chain */
  /** The exponential at x is wrong by (constant + slope * |x|) * 2^-23 of itself; both 0: 2 and
   *  1.173, which CUDA's __expf and any libm keep. */
  double exp_ulps_constant;
  double exp_ulps_slope;
  int32_t no_maximum;         /**< 1: exp() of the bare logit */
  int32_t guards_denominator; /**< 1: divides by sum + 1e-6, as vLLM's kernel does; 0: by the sum */
  /** 1: partial results, each with a maximum of its own, are rescaled and added, whoever chose them.
   *  Leave it 0 for an online softmax with one running maximum. The bounds do not count the roundings
   *  of its rescaling: a right one whose maximum rises at very many tokens could in theory miss them. */
  int32_t merges_partitions;
  /** 1: probabilities are rounded to the scalar type before they multiply values, as tensor cores
   *  need them; the products are added in f32 */
  int32_t rounds_probabilities;
} paged_kernel_arithmetic;

/** What a kernel says about itself. Zeros are the plainest kernel: host memory, the classic layout,
 *  caches of the scalar's own type, any size, no features. Only version, name and scalars must be
 *  set. */
typedef struct paged_kernel_description {
  int32_t version;        /**< PAGED_DECODE_VERSION that the library was compiled with */
  const char* name;       /**< for reports: 1 to 60 printable bytes of UTF-8 */
  int32_t memory;         /**< paged_kernel_memory */
  int32_t cache_layout;   /**< paged_cache_layout */
  uint32_t scalars;       /**< bits 1 << paged_element_type of query and output */
  uint32_t fp8_caches;    /**< bits of e4m3 and e5m2 caches that it takes beside them */
  int32_t head_sizes[16]; /**< up to the first 0; none: any that the harness has cases for */
  int32_t block_sizes[8]; /**< the same; 8, 16 and 32 are tried */
  uint32_t features;      /**< bits of paged_kernel_feature */
  paged_kernel_arithmetic arithmetic;
  /** Ids of the invariants that it keeps, "single-token,reference"; NULL: all that can be tried. */
  const char* promises;
  /** Ids of those that it knowingly breaks, which must then fail; or NULL. */
  const char* breaks;
} paged_kernel_description;

#if defined(__GNUC__)
#  define PAGED_EXPORT __attribute__((visibility("default")))
#else
#  define PAGED_EXPORT
#endif

/** Required. What it returns must stay valid as long as the library is loaded. */
PAGED_EXPORT const paged_kernel_description* paged_kernel_describe(void);
/** Required. Computes one decode step; returns 0, or an error code of its own. */
PAGED_EXPORT int32_t paged_kernel_run(const paged_decode_args* args);
/** Optional. Bytes that paged_kernel_run needs at args->workspace for a call of these sizes; all
 *  pointers are NULL here. */
PAGED_EXPORT int64_t paged_kernel_workspace(const paged_decode_args* args);
/** Optional. One line about an error code of paged_kernel_run, or NULL. */
PAGED_EXPORT const char* paged_kernel_error_text(int32_t error);

#ifdef __cplusplus
}
#endif
#endif
