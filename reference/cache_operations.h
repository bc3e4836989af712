// Moving keys and values between caches: the CPU reference of the cache kernels.
#pragma once
#include "reference/sequence_tables.h"
#include "reference/tensor.h"

#include <cstdint>
#include <span>

namespace paged {

/// The two caches of one layer, not owned. They have the same type and belong together in shape.
struct CachePair {
  Tensor* key_cache;    // [num_blocks, num_kv_heads, head_size/x, block_size, x]
  Tensor* value_cache;  // [num_blocks, num_kv_heads, head_size, block_size]
};

/// Writes the keys and values of new tokens at their slots.
///
/// @param keys,values  [num_tokens, num_kv_heads, head_size], any float type
/// @param slots        [num_tokens], physical block * block_size + offset; -1 skips the token
/// @param k_scale,v_scale  finite, > 0; only fp8 caches use them
///
/// An fp8 cache stores round_to(float(value) / scale) with the division in f32, as kernels do it,
/// so that a kernel can match every bit. Any other cache stores the nearest element, or the same
/// bits where the tokens have its type. Of several tokens with one slot the last one stays.
///
/// Throws InputError for shapes that do not fit, for slots outside the cache and for scales out of
/// range; then nothing is written.
void write_tokens(CachePair caches, const Tensor& keys, const Tensor& values,
                  std::span<const std::int64_t> slots, float k_scale = 1.0F, float v_scale = 1.0F);

/// Copies whole blocks within one pair of caches, in order, bit for bit. Throws InputError for a
/// block id outside the cache; then nothing is written. So does swap_blocks.
void copy_blocks(CachePair caches, std::span<const BlockCopy> copies);

/// Copies whole blocks from one pair of caches to another (device to host or back), in order, bit
/// for bit. The pairs may differ in num_blocks only.
void swap_blocks(CachePair from, CachePair to, std::span<const BlockCopy> copies);

/// Throws InputError for a slot that is neither -1 nor in a cache of num_blocks blocks.
void check_slots(std::span<const std::int64_t> slots, std::int64_t num_blocks, int block_size);

/// Throws InputError for a copy from or to a block that is not in its cache.
void check_copies(std::span<const BlockCopy> copies, std::int64_t blocks_read,
                  std::int64_t blocks_written);

}  // namespace paged
