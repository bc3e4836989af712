#include "stages/stage.h"

#include "reference/cache_layout.h"
#include "reference/input_error.h"

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
          "head-isolation", "strides", "wide-address",
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

}  // namespace paged
