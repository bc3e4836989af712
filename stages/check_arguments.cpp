// Refusing the arguments of a call before anything is launched with them.
#include "reference/cache_layout.h"
#include "reference/decode_problem.h"
#include "reference/input_error.h"
#include "stages/alignment_check.h"
#include "stages/stage.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace paged {
namespace {

void check_pointers(const paged_decode_args& args) {
  struct Pointer {
    const char* name;
    const void* address;
    bool optional;
  };
  for (const Pointer& pointer :
       {Pointer{"query", args.query, false}, Pointer{"key_cache", args.key_cache, false},
        Pointer{"value_cache", args.value_cache, false},
        Pointer{"block_tables", args.block_tables, false},
        Pointer{"seq_lens", args.seq_lens, false}, Pointer{"alibi_slopes", args.alibi_slopes, true},
        Pointer{"output", args.output, false}, Pointer{"lse", args.lse, true},
        Pointer{"maxima", args.maxima, true}, Pointer{"sums", args.sums, true},
        Pointer{"logits", args.logits, true}, Pointer{"workspace", args.workspace, true}}) {
    if (pointer.address != nullptr || !pointer.optional)
      check_pointer(pointer.name, pointer.address);
  }
}

/// A size or a stride, and the least that it can be.
struct Size {
  const char* name;
  std::int64_t value;
  std::int64_t least;
};

void check_size(const Size& size) {
  if (size.value < size.least)
    throw InputError(std::string(size.name) + " is " + std::to_string(size.value) +
                     "; it must be at least " + std::to_string(size.least));
}

void check_sizes(const paged_decode_args& args) {
  // First, since strides that are too small may only follow from it.
  if (args.num_heads > 0 && args.num_kv_heads > 0 && args.num_heads % args.num_kv_heads != 0)
    throw InputError(std::to_string(args.num_heads) + " query heads cannot be shared by " +
                     std::to_string(args.num_kv_heads) +
                     " KV heads: num_heads must be a multiple of num_kv_heads");
  const int pages = num_pages(std::max(args.max_seq_len, 0), std::max(args.block_size, 1));
  for (const Size& size :
       {Size{"num_seqs", args.num_seqs, 1}, Size{"num_heads", args.num_heads, 1},
        Size{"num_kv_heads", args.num_kv_heads, 1}, Size{"head_size", args.head_size, 1},
        Size{"block_size", args.block_size, 1}, Size{"num_blocks", args.num_blocks, 0},
        Size{"max_seq_len", args.max_seq_len, 0},
        Size{"max_num_blocks_per_seq", args.max_num_blocks_per_seq, pages},
        Size{"query_stride", args.query_stride,
             static_cast<std::int64_t>(args.num_heads) * args.head_size},
        Size{"logits_stride", args.logits == nullptr ? args.max_seq_len : args.logits_stride,
             args.max_seq_len},
        Size{"sparse_local_blocks", args.sparse_local_blocks, 0},
        Size{"sparse_vert_stride", args.sparse_vert_stride, 1},
        Size{"sparse_block_size", args.sparse_block_size, 1},
        Size{"tensor_parallel_rank", args.tensor_parallel_rank, 0},
        Size{"partition_size", args.variant == PAGED_V1 ? 1 : args.partition_size, 1}})
    check_size(size);
  if (args.sparse_vert_stride > 1 && args.sparse_block_size % args.block_size != 0)
    throw InputError("sparse_block_size is " + std::to_string(args.sparse_block_size) +
                     "; it must be a multiple of block_size " + std::to_string(args.block_size));
}

// ---- where the elements of a cache lie ----------------------------------------------------------
/// One of the strides that lead to an element, and how many steps of it there are in a block.
struct Step {
  const char* name;
  std::int64_t stride;
  std::int64_t count;
};

struct CacheSteps {
  std::vector<Step> within_block;   ///< the innermost first
  std::int64_t innermost_elements;  ///< that lie side by side below them
  const char* block_name;
  std::int64_t block_stride;
};

/// As the layout has them: heads of whole pages; heads of rows, then tokens; tokens, then heads.
CacheSteps steps_of(const paged_decode_args& args, Step heads, Step tokens, const char* block_name,
                    std::int64_t block_stride) {
  const std::int64_t row = args.head_size;
  if (args.cache_layout == PAGED_TOKENS_THEN_HEADS)
    return {{heads, tokens}, row, block_name, block_stride};
  if (args.cache_layout == PAGED_HEADS_THEN_TOKENS)
    return {{tokens, heads}, row, block_name, block_stride};
  if (tokens.stride != 0)
    throw InputError(std::string(tokens.name) + " is " + std::to_string(tokens.stride) +
                     "; it must be 0 in the classic layout");
  return {{heads}, row * args.block_size, block_name, block_stride};
}

/// Nothing may lie on something else, and vectors of 16 bytes are loaded from where a step leads.
void check_steps(const CacheSteps& steps, std::size_t bytes_per_element) {
  std::int64_t spanned = steps.innermost_elements;
  for (const Step& step : steps.within_block) {
    check_size({step.name, step.stride, spanned});
    check_stride_alignment(step.name, step.stride, bytes_per_element);
    std::int64_t before_last = 0;  // the last one needs no gap behind it
    if (__builtin_mul_overflow(step.count - 1, step.stride, &before_last) ||
        __builtin_add_overflow(spanned, before_last, &spanned))
      throw InputError(std::string(step.name) + " is " + std::to_string(step.stride) +
                       "; a block of that stride has more elements than 64 bits can count");
  }
  check_size({steps.block_name, steps.block_stride, spanned});
  check_stride_alignment(steps.block_name, steps.block_stride, bytes_per_element);
}

void check_strides(const paged_decode_args& args) {
  check_stride_alignment("query_stride", args.query_stride,
                         size_in_bytes(static_cast<ScalarType>(args.scalar)));
  const std::size_t bytes = size_in_bytes(static_cast<CacheType>(args.cache));
  check_steps(steps_of(args, {"key_head_stride", args.key_head_stride, args.num_kv_heads},
                       {"key_token_stride", args.key_token_stride, args.block_size},
                       "key_block_stride", args.key_block_stride),
              bytes);
  check_steps(steps_of(args, {"value_head_stride", args.value_head_stride, args.num_kv_heads},
                       {"value_token_stride", args.value_token_stride, args.block_size},
                       "value_block_stride", args.value_block_stride),
              bytes);
}

void check_types(const paged_decode_args& args) {
  if (args.scalar < PAGED_F32 || args.scalar > PAGED_BF16)
    throw InputError("scalar is " + std::to_string(args.scalar) +
                     "; it must be 0 (f32), 1 (f16) or 2 (bf16)");
  const bool fp8 = args.cache == PAGED_E4M3 || args.cache == PAGED_E5M2;
  if (!fp8 && args.cache != args.scalar)
    throw InputError("cache is " + std::to_string(args.cache) + "; beside scalar " +
                     std::to_string(args.scalar) + " it must be the same, 3 (e4m3) or 4 (e5m2)");
  if (args.variant < PAGED_AUTO || args.variant > PAGED_V060)
    throw InputError("variant is " + std::to_string(args.variant) +
                     "; it must be 0 (automatic), 1 (V1), 2 (V2) or 3 (the choice of v0.6.0)");
  if (args.probabilities != PAGED_F32 && args.probabilities != PAGED_F16)
    throw InputError("probabilities is " + std::to_string(args.probabilities) +
                     "; it must be 0 (f32) or 1 (f16)");
  check_probabilities(static_cast<ScalarType>(args.probabilities),
                      static_cast<ScalarType>(args.scalar), static_cast<CacheType>(args.cache));
}

void check_layout(const paged_decode_args& args, paged_cache_layout taken) {
  if (args.cache_layout == taken) return;
  const std::string given = "cache_layout is " + std::to_string(args.cache_layout);
  if (taken == PAGED_CLASSIC) throw InputError(given + "; stages take the classic one, 0");
  throw InputError(
      given + "; this kernel takes " + std::to_string(taken) +
      (taken == PAGED_TOKENS_THEN_HEADS ? ", tokens then heads" : ", heads then tokens"));
}

}  // namespace

void check_arguments(const paged_decode_args& args, paged_cache_layout taken) {
  if (args.version != PAGED_DECODE_VERSION)
    throw InputError("paged_decode_args has version " + std::to_string(args.version) +
                     "; this build knows version " + std::to_string(PAGED_DECODE_VERSION));
  check_layout(args, taken);
  check_types(args);
  check_pointers(args);
  check_sizes(args);
  check_strides(args);
}

}  // namespace paged
