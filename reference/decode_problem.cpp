#include "reference/decode_problem.h"

#include "reference/cache_layout.h"
#include "reference/input_error.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>

namespace paged {
namespace {

std::string text(float value) {
  if (std::isnan(value)) return "nan";  // printf may show a sign
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.9g", static_cast<double>(value));
  return digits;
}

void check_at_least(const char* name, std::int64_t value, std::int64_t least) {
  if (value < least)
    throw InputError(std::string(name) + " is " + std::to_string(value) + ": it must be at least " +
                     std::to_string(least));
}

void check_sizes(const DecodeProblem& problem) {
  check_at_least("num_heads", problem.num_heads, 1);
  check_at_least("num_kv_heads", problem.num_kv_heads, 1);
  check_at_least("head_size", problem.head_size, 1);
  check_at_least("block_size", problem.block_size, 1);
  check_at_least("max_num_blocks_per_seq", problem.max_num_blocks_per_seq, 0);
  if (problem.num_heads % problem.num_kv_heads != 0)
    throw InputError(std::to_string(problem.num_heads) + " query heads cannot be shared by " +
                     std::to_string(problem.num_kv_heads) +
                     " KV heads: num_heads must be a multiple of num_kv_heads");
  if (problem.seq_lens.size() > INT_MAX)
    throw InputError("seq_lens has " + std::to_string(problem.seq_lens.size()) +
                     " entries: at most " + std::to_string(INT_MAX) + " sequences");
}

void check_types(const DecodeProblem& problem) {
  const CacheType cache = problem.cache();
  const CacheType own = same_as(problem.scalar);
  if (problem.query.type() != own)
    throw InputError("query has type " + std::string(name_of(problem.query.type())) +
                     ": expected the scalar type " + std::string(name_of(own)));
  if (problem.value_cache.type() != cache)
    throw InputError("value_cache has type " + std::string(name_of(problem.value_cache.type())) +
                     ": expected " + std::string(name_of(cache)) + ", the type of key_cache");
  if (cache != own && !is_fp8(cache))
    throw InputError("key_cache and value_cache have type " + std::string(name_of(cache)) +
                     ": with scalar type " + std::string(name_of(own)) + " they must be " +
                     std::string(name_of(own)) + ", e4m3 or e5m2");
}

void check_shape(const char* name, const Tensor& tensor,
                 const std::vector<std::int64_t>& expected) {
  if (tensor.shape() != expected)
    throw InputError(std::string(name) + " has shape " + to_string(tensor.shape()) + ": expected " +
                     to_string(expected));
}

void check_shapes(const DecodeProblem& problem) {
  check_shape("query", problem.query, {problem.num_seqs(), problem.num_heads, problem.head_size});
  // The caches themselves say how many blocks there are; they have to agree on it.
  check_shape("key_cache", problem.key_cache,
              key_cache_shape(problem.cache(), problem.num_blocks(), problem.num_kv_heads,
                              problem.head_size, problem.block_size));
  check_shape("value_cache", problem.value_cache,
              value_cache_shape(problem.num_blocks(), problem.num_kv_heads, problem.head_size,
                                problem.block_size));
}

void check_scale_of(const char* name, float scale, CacheType cache) {
  check_cache_scale(name, scale);
  if (!is_fp8(cache) && scale != 1)
    throw InputError(std::string(name) + " is " + text(scale) + ", but " + with_article(cache) +
                     " cache has no scales: it must be 1 (only fp8 caches have scales)");
}

void check_scales(const DecodeProblem& problem) {
  if (!std::isfinite(problem.scale))
    throw InputError("scale is " + text(problem.scale) + ": it must be finite");
  check_scale_of("k_scale", problem.k_scale, problem.cache());
  check_scale_of("v_scale", problem.v_scale, problem.cache());
}

void check_alibi_slopes(const DecodeProblem& problem) {
  const std::vector<float>& slopes = problem.alibi_slopes;
  if (slopes.empty()) return;
  if (slopes.size() != static_cast<std::size_t>(problem.num_heads))
    throw InputError("alibi_slopes has " + std::to_string(slopes.size()) + " entries: expected " +
                     std::to_string(problem.num_heads) + ", one for each query head, or none");
  // A bias is slope * (token - last token), a 32-bit float.
  const double farthest = std::max(problem.shape().max_seq_len - 1.0, 0.0);
  constexpr float kGreatest = std::numeric_limits<float>::max();
  for (std::size_t head = 0; head < slopes.size(); ++head) {
    const std::string name = "alibi_slopes of query head " + std::to_string(head) + " is ";
    if (!std::isfinite(slopes[head]))
      throw InputError(name + text(slopes[head]) + ": it must be finite");
    if (std::abs(double{slopes[head]}) * farthest > double{kGreatest})
      throw InputError(name + text(slopes[head]) + ": times " +
                       std::to_string(static_cast<std::int64_t>(farthest)) +
                       ", the greatest distance of a token from the last, it exceeds " +
                       text(kGreatest) + ", the greatest 32-bit float");
  }
}

// Whether BlockSparsity, which computes with int, can add the offset of any head's stripe to the
// index of any sparse block.
void check_stripes_fit(const DecodeProblem& problem) {
  const BlockSparsity& sparsity = problem.sparsity;
  const std::int64_t heads_per_rank =
      sparsity.head_sliding_step >= 0 ? problem.num_heads : problem.num_kv_heads;
  const std::int64_t heads = (sparsity.tensor_parallel_rank + std::int64_t{1}) * heads_per_rank;
  const std::int64_t last_block = problem.shape().max_seq_len / sparsity.block_size;
  const std::int64_t step = std::abs(std::int64_t{sparsity.head_sliding_step});
  // step <= 2^31, so that the product fits once the number of heads does.
  if (heads > INT_MAX || (heads - 1) * step + 1 + last_block > INT_MAX)
    throw InputError("block_sparse: head_sliding_step " +
                     std::to_string(sparsity.head_sliding_step) + " with tensor_parallel_rank " +
                     std::to_string(sparsity.tensor_parallel_rank) + " and " +
                     std::to_string(heads_per_rank) + " heads shifts stripes by more than " +
                     std::to_string(INT_MAX) + " sparse blocks");
}

void check_sparsity(const DecodeProblem& problem) {
  const BlockSparsity& sparsity = problem.sparsity;
  check_at_least("block_sparse: vert_stride", sparsity.vert_stride, 1);
  check_at_least("block_sparse: local_blocks", sparsity.local_blocks, 0);
  check_at_least("block_sparse: block_size", sparsity.block_size, 1);
  check_at_least("block_sparse: tensor_parallel_rank", sparsity.tensor_parallel_rank, 0);
  if (sparsity.active() && sparsity.block_size % problem.block_size != 0)
    throw InputError("block_sparse: block_size " + std::to_string(sparsity.block_size) +
                     " must be a multiple of the cache's block_size " +
                     std::to_string(problem.block_size));
  check_stripes_fit(problem);
}

void check_length(const DecodeProblem& problem, int seq) {
  const int seq_len = problem.seq_lens[static_cast<std::size_t>(seq)];
  const int width = problem.max_num_blocks_per_seq;
  if (seq_len < 0)
    throw InputError("sequence " + std::to_string(seq) + " has " + std::to_string(seq_len) +
                     " tokens: a length must be at least 0");
  if (num_pages(seq_len, problem.block_size) > width)
    throw InputError("sequence " + std::to_string(seq) + " has " + std::to_string(seq_len) +
                     " tokens, but its table row has " + std::to_string(width) + " entries of " +
                     std::to_string(problem.block_size) + " tokens (at most " +
                     std::to_string(std::int64_t{width} * problem.block_size) + ")");
}

void check_row(const DecodeProblem& problem, int seq) {
  const std::int64_t num_blocks = problem.num_blocks();
  const int valid = num_pages(problem.seq_lens[static_cast<std::size_t>(seq)], problem.block_size);
  for (int entry = 0; entry < valid; ++entry) {
    const std::int32_t block = problem.block_table(seq)[entry];
    if (block < 0 || block >= num_blocks)
      throw InputError("sequence " + std::to_string(seq) + ", entry " + std::to_string(entry) +
                       " of the block table is block " + std::to_string(block) +
                       ", but the cache has " + text_of_block_count(num_blocks));
  }
}

void check_block_tables(const DecodeProblem& problem) {
  const std::int64_t expected = std::int64_t{problem.num_seqs()} * problem.max_num_blocks_per_seq;
  if (static_cast<std::int64_t>(problem.block_tables.size()) != expected)
    throw InputError("block_tables has " + std::to_string(problem.block_tables.size()) +
                     " entries: expected " + std::to_string(expected) + ", " +
                     std::to_string(problem.max_num_blocks_per_seq) + " for each of " +
                     std::to_string(problem.num_seqs()) + " sequences");
  for (int seq = 0; seq < problem.num_seqs(); ++seq) {
    check_length(problem, seq);
    check_row(problem, seq);
  }
}

}  // namespace

DecodeShape DecodeProblem::shape() const {
  DecodeShape sizes;
  sizes.num_seqs = num_seqs();
  sizes.num_heads = num_heads;
  sizes.num_kv_heads = num_kv_heads;
  sizes.head_size = head_size;
  sizes.block_size = block_size;
  sizes.num_blocks = num_blocks();
  sizes.max_num_blocks_per_seq = max_num_blocks_per_seq;
  sizes.max_seq_len = seq_lens.empty() ? 0 : *std::max_element(seq_lens.begin(), seq_lens.end());
  sizes.scalar = scalar;
  sizes.cache = cache();
  sizes.probabilities = probabilities;
  sizes.partition_size = partition_size;
  sizes.variant = variant;
  return sizes;
}

// Each check relies on what the ones before it have established.
void DecodeProblem::validate() const {
  check_sizes(*this);
  check_types(*this);
  check_probabilities(probabilities, scalar, cache());
  check_shapes(*this);
  check_scales(*this);
  check_alibi_slopes(*this);
  check_block_tables(*this);
  check_sparsity(*this);
  check_at_least("partition_size", partition_size, 1);
}

void check_cache_scale(const char* name, float scale) {
  if (!std::isfinite(scale) || scale <= 0)
    throw InputError(std::string(name) + " is " + text(scale) + ": it must be finite and positive");
}

void check_probabilities(ScalarType probabilities, ScalarType scalar, CacheType cache) {
  if (probabilities == ScalarType::f32) return;
  if (probabilities != ScalarType::f16)
    throw InputError("probabilities are " + std::string(name_of(probabilities)) +
                     ": they must be f32 or f16");
  if (scalar != ScalarType::f16 || cache != CacheType::f16)
    throw InputError(
        "probabilities are f16 beside scalar " + std::string(name_of(scalar)) + " and " +
        with_article(cache) +
        " cache: they multiply values in f16, which takes scalar f16 and an f16 cache");
}

std::string with_article(CacheType type) {
  return (type == CacheType::bf16 ? "a " : "an ") + std::string(name_of(type));
}

std::string text_of_block_count(std::int64_t num_blocks) {
  if (num_blocks == 0) return "no blocks";
  if (num_blocks == 1) return "1 block (0)";
  return std::to_string(num_blocks) + " blocks (0 to " + std::to_string(num_blocks - 1) + ")";
}

std::vector<std::int64_t> key_cache_shape(CacheType type, std::int64_t num_blocks, int num_kv_heads,
                                          int head_size, int block_size) {
  const int x = key_vector_width(static_cast<int>(size_in_bytes(type)));
  if (head_size < 1 || head_size % x != 0)
    throw InputError("head_size " + std::to_string(head_size) + " cannot be stored in " +
                     with_article(type) + " cache: it must be a multiple of " + std::to_string(x) +
                     " (16 bytes of cache elements)");
  const std::int64_t page = std::int64_t{head_size} * block_size;
  if (page > INT_MAX)  // what cache_layout.h can address
    throw InputError("head_size " + std::to_string(head_size) + " times block_size " +
                     std::to_string(block_size) + " makes pages of " + std::to_string(page) +
                     " elements: at most " + std::to_string(INT_MAX));
  return {num_blocks, num_kv_heads, head_size / x, block_size, x};
}

std::vector<std::int64_t> value_cache_shape(std::int64_t num_blocks, int num_kv_heads,
                                            int head_size, int block_size) {
  return {num_blocks, num_kv_heads, head_size, block_size};
}

Tensor make_key_cache(CacheType type, std::int64_t num_blocks, int num_kv_heads, int head_size,
                      int block_size) {
  return {type, key_cache_shape(type, num_blocks, num_kv_heads, head_size, block_size)};
}

Tensor make_value_cache(CacheType type, std::int64_t num_blocks, int num_kv_heads, int head_size,
                        int block_size) {
  return {type, value_cache_shape(num_blocks, num_kv_heads, head_size, block_size)};
}

std::int64_t key_index(const DecodeProblem& problem, std::int64_t physical_block, int kv_head,
                       int token_in_block, int dim) {
  const CacheStrides strides =
      contiguous_strides(problem.num_kv_heads, problem.head_size, problem.block_size);
  const int x = key_vector_width(static_cast<int>(size_in_bytes(problem.cache())));
  return page_offset(physical_block, kv_head, strides) +
         key_offset_in_page(token_in_block, dim, problem.block_size, x);
}

std::int64_t value_index(const DecodeProblem& problem, std::int64_t physical_block, int kv_head,
                         int token_in_block, int dim) {
  const CacheStrides strides =
      contiguous_strides(problem.num_kv_heads, problem.head_size, problem.block_size);
  return page_offset(physical_block, kv_head, strides) +
         value_offset_in_page(token_in_block, dim, problem.block_size);
}

ElementRuns key_elements(const DecodeProblem& problem, std::int64_t physical_block, int kv_head,
                         int token_in_block) {
  const int x = key_vector_width(static_cast<int>(size_in_bytes(problem.cache())));
  return {key_index(problem, physical_block, kv_head, token_in_block, 0), x,
          std::int64_t{problem.block_size} * x};
}

ElementRuns value_elements(const DecodeProblem& problem, std::int64_t physical_block, int kv_head,
                           int token_in_block) {
  return {value_index(problem, physical_block, kv_head, token_in_block, 0), 1, problem.block_size};
}

}  // namespace paged
