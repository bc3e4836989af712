#include "reference/cache_operations.h"

#include "reference/cache_layout.h"
#include "reference/decode_problem.h"
#include "reference/element_types.h"
#include "reference/input_error.h"

#include <climits>
#include <cstring>
#include <string>

namespace paged {
namespace {

// The sizes of a pair of caches that fit each other.
struct CacheGeometry {
  CacheType type;
  std::int64_t num_blocks;
  int num_kv_heads;
  int head_size;
  int block_size;

  CacheStrides strides() const { return contiguous_strides(num_kv_heads, head_size, block_size); }
  std::size_t bytes_per_block() const {
    return static_cast<std::size_t>(strides().block_stride) * size_in_bytes(type);
  }
};

int extent_of_value_cache(const Tensor& value_cache, std::size_t axis) {
  const std::int64_t extent = value_cache.shape()[axis];
  if (extent < 1 || extent > INT_MAX)
    throw InputError("value_cache has shape " + to_string(value_cache.shape()) + ": extent " +
                     std::to_string(extent) + " must be 1 to " + std::to_string(INT_MAX));
  return static_cast<int>(extent);
}

CacheGeometry geometry_of(CachePair caches) {
  const Tensor& values = *caches.value_cache;
  const Tensor& keys = *caches.key_cache;
  if (values.shape().size() != 4)
    throw InputError("value_cache has shape " + to_string(values.shape()) +
                     ": expected [num_blocks, num_kv_heads, head_size, block_size]");
  const CacheGeometry geometry{values.type(), values.shape()[0], extent_of_value_cache(values, 1),
                               extent_of_value_cache(values, 2), extent_of_value_cache(values, 3)};
  if (keys.type() != geometry.type)
    throw InputError("key_cache has type " + std::string(name_of(keys.type())) + ": expected " +
                     std::string(name_of(geometry.type)) + ", the type of value_cache");
  const std::vector<std::int64_t> expected =
      key_cache_shape(geometry.type, geometry.num_blocks, geometry.num_kv_heads, geometry.head_size,
                      geometry.block_size);
  if (keys.shape() != expected)
    throw InputError("key_cache has shape " + to_string(keys.shape()) + ": expected " +
                     to_string(expected) + " beside value_cache " + to_string(values.shape()));
  return geometry;
}

void check_tokens(const char* name, const Tensor& tokens, std::size_t num_slots,
                  const CacheGeometry& geometry) {
  const std::vector<std::int64_t> expected = {static_cast<std::int64_t>(num_slots),
                                              geometry.num_kv_heads, geometry.head_size};
  if (tokens.shape() != expected)
    throw InputError(std::string(name) + " has shape " + to_string(tokens.shape()) + ": expected " +
                     to_string(expected) + " for " + std::to_string(num_slots) + " slots");
}

// Stores element `from` of `tokens` as element `to` of the cache.
void store(Tensor& cache, std::int64_t to, const Tensor& tokens, std::int64_t from, float scale) {
  if (is_fp8(cache.type())) {
    // Every float type is exact in f32, where the division happens, as it does in a kernel.
    const float quotient = static_cast<float>(tokens.read(from)) / scale;
    cache.write(to, quotient);
  } else if (cache.type() == tokens.type()) {
    cache.copy_element(to, tokens, from);  // keeps even the payload of a NaN
  } else {
    cache.write(to, tokens.read(from));
  }
}

// Calls visit(dim, from, page) for every element of one token: `from` is its index in
// [num_tokens, num_kv_heads, head_size], `page` the start of its page in either cache.
template <typename Visitor>
void for_each_element(const CacheGeometry& geometry, std::int64_t token, std::int64_t block,
                      Visitor visit) {
  for (int kv_head = 0; kv_head < geometry.num_kv_heads; ++kv_head) {
    const std::int64_t first = (token * geometry.num_kv_heads + kv_head) * geometry.head_size;
    const std::int64_t page = page_offset(block, kv_head, geometry.strides());
    for (int dim = 0; dim < geometry.head_size; ++dim) visit(dim, first + dim, page);
  }
}

void check_equal_blocks(const CacheGeometry& from, const CacheGeometry& to) {
  const auto text = [](const CacheGeometry& geometry) {
    return to_string({geometry.num_kv_heads, geometry.head_size, geometry.block_size}) + " of " +
           std::string(name_of(geometry.type));
  };
  if (text(from) != text(to))
    throw InputError("blocks [num_kv_heads, head_size, block_size] are " + text(from) +
                     " in the cache to read and " + text(to) +
                     " in the cache to write: they must be equal");
}

void copy_block(Tensor& to, const Tensor& from, const BlockCopy& copy, std::size_t bytes) {
  // memmove, because a block may be copied onto itself.
  std::memmove(to.data() + static_cast<std::size_t>(copy.to) * bytes,
               from.data() + static_cast<std::size_t>(copy.from) * bytes, bytes);
}

}  // namespace

void check_slots(std::span<const std::int64_t> slots, std::int64_t num_blocks, int block_size) {
  const std::int64_t num_slots = num_blocks * block_size;
  for (std::size_t token = 0; token < slots.size(); ++token)
    if (slots[token] < -1 || slots[token] >= num_slots)
      throw InputError("the slot of token " + std::to_string(token) + " is " +
                       std::to_string(slots[token]) + ", but the cache has " +
                       text_of_block_count(num_blocks) + " of " + std::to_string(block_size) +
                       " slots: it must be below " + std::to_string(num_slots) +
                       ", or -1 to skip the token");
}

void check_copies(std::span<const BlockCopy> copies, std::int64_t blocks_read,
                  std::int64_t blocks_written) {
  const auto check = [](std::size_t i, const char* verb, std::int64_t block, std::int64_t limit) {
    if (block < 0 || block >= limit)
      throw InputError("copy " + std::to_string(i) + " " + verb + " block " +
                       std::to_string(block) + ", but the cache has " + text_of_block_count(limit));
  };
  for (std::size_t i = 0; i < copies.size(); ++i) {
    check(i, "reads", copies[i].from, blocks_read);
    check(i, "writes", copies[i].to, blocks_written);
  }
}

void write_tokens(CachePair caches, const Tensor& keys, const Tensor& values,
                  std::span<const std::int64_t> slots, float k_scale, float v_scale) {
  const CacheGeometry geometry = geometry_of(caches);
  check_tokens("keys", keys, slots.size(), geometry);
  check_tokens("values", values, slots.size(), geometry);
  check_slots(slots, geometry.num_blocks, geometry.block_size);
  check_cache_scale("k_scale", k_scale);
  check_cache_scale("v_scale", v_scale);

  const int x = key_vector_width(static_cast<int>(size_in_bytes(geometry.type)));
  for (std::size_t token = 0; token < slots.size(); ++token) {
    if (slots[token] == -1) continue;
    const std::int64_t block = slots[token] / geometry.block_size;
    const int offset = static_cast<int>(slots[token] % geometry.block_size);
    for_each_element(
        geometry, static_cast<std::int64_t>(token), block,
        [&](int dim, std::int64_t from, std::int64_t page) {
          const int in_key_page = key_offset_in_page(offset, dim, geometry.block_size, x);
          const int in_value_page = value_offset_in_page(offset, dim, geometry.block_size);
          store(*caches.key_cache, page + in_key_page, keys, from, k_scale);
          store(*caches.value_cache, page + in_value_page, values, from, v_scale);
        });
  }
}

void copy_blocks(CachePair caches, std::span<const BlockCopy> copies) {
  swap_blocks(caches, caches, copies);
}

void swap_blocks(CachePair from, CachePair to, std::span<const BlockCopy> copies) {
  const CacheGeometry source = geometry_of(from);
  const CacheGeometry target = geometry_of(to);
  check_equal_blocks(source, target);
  check_copies(copies, source.num_blocks, target.num_blocks);

  for (const BlockCopy& copy : copies) {
    copy_block(*to.key_cache, *from.key_cache, copy, source.bytes_per_block());
    copy_block(*to.value_cache, *from.value_cache, copy, source.bytes_per_block());
  }
}

}  // namespace paged
