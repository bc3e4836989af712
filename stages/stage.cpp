#include "stages/stage.h"

#include "reference/cache_layout.h"
#include "reference/decode_problem.h"
#include "reference/input_error.h"
#include "stages/alignment_check.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>

namespace paged {
namespace {

template <typename T>
bool contains(const std::vector<T>& list, T value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

std::string list_of(const std::vector<int>& values) {
  std::string text;
  for (int value : values) text += (text.empty() ? "" : ", ") + std::to_string(value);
  return text;
}

template <typename Type>
std::string list_of(const std::vector<Type>& types) {
  std::string text;
  for (Type type : types) text += (text.empty() ? "" : ", ") + std::string(name_of(type));
  return text;
}

/// Why no build has a kernel for the types and the head size.
std::string why_impossible(const DecodeShape& shape) {
  const std::string cache(name_of(shape.cache));
  if (!is_fp8(shape.cache) && shape.cache != same_as(shape.scalar))
    return "a cache of " + cache + " cannot go with scalar type " +
           std::string(name_of(shape.scalar)) + ": it must be of that type, e4m3 or e5m2";
  return "head_size " + std::to_string(shape.head_size) + " cannot have a cache of " + cache +
         ": a key must be whole vectors of 16 bytes, so head_size a multiple of " +
         std::to_string(key_vector_width(static_cast<int>(size_in_bytes(shape.cache))));
}

void check_built(const Stage& stage, const DecodeShape& shape) {
  const StageSupport& supports = stage.supports;
  const auto refuse = [&](const std::string& what, const std::string& built) {
    throw InputError(title_of(stage) + " is not built for " + what + "; it is built for " + built);
  };
  if (!contains(supports.scalars, shape.scalar))
    refuse("scalar type " + std::string(name_of(shape.scalar)), list_of(supports.scalars));
  if (!contains(supports.caches, shape.cache))
    refuse("cache type " + std::string(name_of(shape.cache)), list_of(supports.caches));
  if (!contains(supports.head_sizes, shape.head_size))
    refuse("head_size " + std::to_string(shape.head_size), list_of(supports.head_sizes));
  if (!contains(supports.block_sizes, shape.block_size))
    refuse("block_size " + std::to_string(shape.block_size), list_of(supports.block_sizes));
  if (!can_exist(shape.scalar, shape.cache, shape.head_size))
    throw InputError(title_of(stage) + ": " + why_impossible(shape));
  if (!contains(supports.probabilities, shape.probabilities))
    throw InputError(
        title_of(stage) + " has no version with " + std::string(name_of(shape.probabilities)) +
        " probabilities; stages 4 and 5 have one, for they multiply 16-byte vectors of "
        "values as the historical kernel does");
  if (!is_in(supports.instances, shape.scalar, shape.cache, shape.head_size, shape.block_size))
    throw InputError(
        title_of(stage) + " is built for the instance list '" + name_of(supports.instances) +
        "', which lacks scalar " + std::string(name_of(shape.scalar)) + ", cache " +
        std::string(name_of(shape.cache)) + ", head_size " + std::to_string(shape.head_size) +
        ", block_size " + std::to_string(shape.block_size) +
        "; configure with -DPAGED_INSTANCES=all to have it");
}

void check_launch(const Stage& stage, const DecodeShape& shape, const DeviceLimits& limits) {
  const LaunchPlan plan = stage.plan(shape);
  const auto refuse = [&](const std::string& needs, const std::string& has) {
    throw InputError(title_of(stage) + " needs " + needs + ", but " + limits.name + " has " + has);
  };
  // Without partitions only one of no tokens is refused, for what a whole one would need.
  const bool partitioned = plan.partitions > 0 || shape.max_seq_len == 0;
  const std::string length =
      (partitioned ? "partition_size " + std::to_string(shape.partition_size) + " and " : "") +
      "max_seq_len " + std::to_string(shape.max_seq_len);
  const std::size_t shared_bytes = plan.shared_bytes + plan.static_shared_bytes;
  if (shared_bytes > limits.shared_bytes_per_block)
    refuse(std::to_string(shared_bytes) + " bytes of shared memory for " + length,
           std::to_string(limits.shared_bytes_per_block) + " per block");
  const auto check_grid = [&](std::int64_t asked, unsigned limit, const char* axis,
                              const std::string& source) {
    if (asked > limit)
      refuse("a grid of " + std::to_string(asked) + " blocks along " + axis + " for " + source,
             "at most " + std::to_string(limit));
  };
  check_grid(plan.grid_x, limits.max_grid_x, "x", std::to_string(shape.num_heads) + " query heads");
  check_grid(plan.grid_y, limits.max_grid_y, "y", std::to_string(shape.num_seqs) + " sequences");
  check_grid(plan.grid_z, limits.max_grid_z, "z", length);
}

}  // namespace

std::string title_of(const Stage& stage) {
  if (stage.number == 0) return "kernel " + stage.name;
  return "stage " + std::to_string(stage.number) + " (" + stage.name + ")";
}

StageSupport every_type_and_size(InstanceList instances) {
  return {{ScalarType::f32, ScalarType::f16, ScalarType::bf16},
          {CacheType::f32, CacheType::f16, CacheType::bf16, CacheType::e4m3, CacheType::e5m2},
          {std::begin(kHeadSizes), std::end(kHeadSizes)},
          {std::begin(kBlockSizes), std::end(kBlockSizes)},
          instances,
          {ScalarType::f32}};
}

std::vector<std::string> promises_of_every_stage() {
  return {// what attention is
          "single-token", "reference", "empty-sequence", "probability-mass", "constant-value",
          "convexity", "value-linearity",
          // where tokens lie
          "block-permutation", "token-order", "table-padding", "tail-isolation", "block-isolation",
          "head-isolation", "wide-address",
          // what a result may depend on
          "batch-independence", "determinism", "writes-only-output",
          // options
          "alibi", "block-sparse", "fp8-scale",
          // the cache operations beside it
          "cache-write", "copy-on-write",
          // the execution itself
          "in-bounds", "no-uninitialised", "no-race", "no-barrier-divergence"};
}

void check_supported(const Stage& stage, const DecodeShape& shape, const DeviceLimits& limits) {
  check_built(stage, shape);
  check_launch(stage, shape, limits);
}

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

void check_sizes(const paged_decode_args& args) {
  struct Size {
    const char* name;
    std::int64_t value;
    std::int64_t least;
  };
  // First, since strides that are too small may only follow from it.
  if (args.num_heads > 0 && args.num_kv_heads > 0 && args.num_heads % args.num_kv_heads != 0)
    throw InputError(std::to_string(args.num_heads) + " query heads cannot be shared by " +
                     std::to_string(args.num_kv_heads) +
                     " KV heads: num_heads must be a multiple of num_kv_heads");
  const std::int64_t page = static_cast<std::int64_t>(args.head_size) * args.block_size;
  const int pages = num_pages(std::max(args.max_seq_len, 0), std::max(args.block_size, 1));
  for (const Size& size :
       {Size{"num_seqs", args.num_seqs, 1}, Size{"num_heads", args.num_heads, 1},
        Size{"num_kv_heads", args.num_kv_heads, 1}, Size{"head_size", args.head_size, 1},
        Size{"block_size", args.block_size, 1}, Size{"num_blocks", args.num_blocks, 0},
        Size{"max_seq_len", args.max_seq_len, 0},
        Size{"max_num_blocks_per_seq", args.max_num_blocks_per_seq, pages},
        Size{"query_stride", args.query_stride,
             static_cast<std::int64_t>(args.num_heads) * args.head_size},
        Size{"key_head_stride", args.key_head_stride, page},
        Size{"value_head_stride", args.value_head_stride, page},
        Size{"key_block_stride", args.key_block_stride, args.num_kv_heads * page},
        Size{"value_block_stride", args.value_block_stride, args.num_kv_heads * page},
        Size{"logits_stride", args.logits == nullptr ? args.max_seq_len : args.logits_stride,
             args.max_seq_len},
        Size{"sparse_local_blocks", args.sparse_local_blocks, 0},
        Size{"sparse_vert_stride", args.sparse_vert_stride, 1},
        Size{"sparse_block_size", args.sparse_block_size, 1},
        Size{"tensor_parallel_rank", args.tensor_parallel_rank, 0},
        Size{"partition_size", args.variant == PAGED_V1 ? 1 : args.partition_size, 1}})
    if (size.value < size.least)
      throw InputError(std::string(size.name) + " is " + std::to_string(size.value) +
                       "; it must be at least " + std::to_string(size.least));
  if (args.sparse_vert_stride > 1 && args.sparse_block_size % args.block_size != 0)
    throw InputError("sparse_block_size is " + std::to_string(args.sparse_block_size) +
                     "; it must be a multiple of block_size " + std::to_string(args.block_size));
}

/// Kernels load queries and pages in vectors of up to 16 bytes.
void check_strides(const paged_decode_args& args) {
  const std::size_t scalar = size_in_bytes(static_cast<ScalarType>(args.scalar));
  const std::size_t cache = size_in_bytes(static_cast<CacheType>(args.cache));
  check_stride_alignment("query_stride", args.query_stride, scalar);
  check_stride_alignment("key_head_stride", args.key_head_stride, cache);
  check_stride_alignment("value_head_stride", args.value_head_stride, cache);
  check_stride_alignment("key_block_stride", args.key_block_stride, cache);
  check_stride_alignment("value_block_stride", args.value_block_stride, cache);
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

}  // namespace

void check_arguments(const paged_decode_args& args) {
  if (args.version != PAGED_DECODE_VERSION)
    throw InputError("paged_decode_args has version " + std::to_string(args.version) +
                     "; this build knows version " + std::to_string(PAGED_DECODE_VERSION));
  if (args.cache_layout != PAGED_CLASSIC)
    throw InputError("cache_layout is " + std::to_string(args.cache_layout) +
                     "; stages take the classic one, 0");
  check_types(args);
  check_pointers(args);
  check_sizes(args);
  check_strides(args);
}

}  // namespace paged
