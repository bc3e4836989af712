// One decode step, validated: everything that attention needs, in host memory.
#pragma once
#include "reference/block_sparsity.h"
#include "reference/decode_shape.h"
#include "reference/tensor.h"

#include <cstdint>
#include <string>
#include <vector>

namespace paged {

/// The inputs of one paged decode-attention step. Build one, fill it, then validate() it; every
/// consumer (reference, stages, harness) expects a validated problem.
struct DecodeProblem {
  int num_heads = 0;
  int num_kv_heads = 0;
  int head_size = 0;
  int block_size = 0;
  ScalarType scalar = ScalarType::f16;

  float scale = 1.0F;  ///< multiplies q . k, finite; usually 1 / sqrt(head_size)
  /// Dequantises an fp8 key cache: value = stored * k_scale; finite, > 0. Other caches need 1.
  float k_scale = 1.0F;
  float v_scale = 1.0F;  ///< the same for values

  Tensor query;        // [num_seqs, num_heads, head_size]                     scalar
  Tensor key_cache;    // [num_blocks, num_kv_heads, head_size/x, block_size, x]  cache
  Tensor value_cache;  // [num_blocks, num_kv_heads, head_size, block_size]       cache

  std::vector<std::int32_t> block_tables;  // [num_seqs, max_num_blocks_per_seq]
  int max_num_blocks_per_seq = 0;
  std::vector<std::int32_t> seq_lens;  // [num_seqs], tokens, >= 0
  std::vector<float> alibi_slopes;     // [num_heads], or empty: no position bias
  BlockSparsity sparsity;

  // How a stage may compute it; the result does not depend on these.
  int partition_size = 512;  ///< tokens, a multiple of block_size
  KernelVariant variant = KernelVariant::automatic;
  /// Type that probabilities have when they multiply values, and their products with them: f32, or,
  /// beside scalar f16 and an f16 cache, f16. The reference knows no rounding; the bounds do.
  ScalarType probabilities = ScalarType::f32;

  int num_seqs() const { return static_cast<int>(seq_lens.size()); }
  std::int64_t num_blocks() const { return key_cache.shape().empty() ? 0 : key_cache.shape()[0]; }
  CacheType cache() const { return key_cache.type(); }
  /// The row of the block table that belongs to a sequence: max_num_blocks_per_seq entries, of
  /// which only the first num_pages(seq_len, block_size) mean anything.
  const std::int32_t* block_table(int seq) const {
    return block_tables.data() + static_cast<std::int64_t>(seq) * max_num_blocks_per_seq;
  }
  DecodeShape shape() const;

  /// Checks sizes, types, lengths, block ids and scales against each other. What the tensors hold
  /// is checked by check_finite_answer (finite_answer.h).
  /// Throws InputError naming the value, the limit, and the sequence and entry. Table entries past
  /// ceil(seq_len / block_size) are padding and may hold anything.
  void validate() const;
};

/// Shape of a key cache: [num_blocks, num_kv_heads, head_size/x, block_size, x]. Throws InputError
/// unless head_size is a positive multiple of x = 16 / sizeof(cache element) and a page has at most
/// 2^31 - 1 elements (offsets within a page are 32 bits wide).
std::vector<std::int64_t> key_cache_shape(CacheType type, std::int64_t num_blocks, int num_kv_heads,
                                          int head_size, int block_size);
/// Shape of a value cache: [num_blocks, num_kv_heads, head_size, block_size].
std::vector<std::int64_t> value_cache_shape(std::int64_t num_blocks, int num_kv_heads,
                                            int head_size, int block_size);

/// A key or value cache of the right shape and type, all zeros.
Tensor make_key_cache(CacheType type, std::int64_t num_blocks, int num_kv_heads, int head_size,
                      int block_size);
Tensor make_value_cache(CacheType type, std::int64_t num_blocks, int num_kv_heads, int head_size,
                        int block_size);

/// Throws InputError unless a k_scale or v_scale is finite and positive. `name` begins the message.
void check_cache_scale(const char* name, float scale);
/// Throws InputError unless probabilities are f32, or f16 beside scalar f16 and an f16 cache.
void check_probabilities(ScalarType probabilities, ScalarType scalar, CacheType cache);
/// "an f16", "a bf16".
std::string with_article(CacheType type);
/// "12 blocks (0 to 11)": how every error about a block id names its limit.
std::string text_of_block_count(std::int64_t num_blocks);

/// Linear index of (physical_block, kv_head, token_in_block, dim) in a contiguous key cache.
std::int64_t key_index(const DecodeProblem& problem, std::int64_t physical_block, int kv_head,
                       int token_in_block, int dim);
/// The same for the value cache.
std::int64_t value_index(const DecodeProblem& problem, std::int64_t physical_block, int kv_head,
                         int token_in_block, int dim);

/// Where all head_size elements of (physical_block, kv_head, token_in_block) lie, dimension 0 first.
ElementRuns key_elements(const DecodeProblem& problem, std::int64_t physical_block, int kv_head,
                         int token_in_block);
ElementRuns value_elements(const DecodeProblem& problem, std::int64_t physical_block, int kv_head,
                           int token_in_block);

}  // namespace paged
