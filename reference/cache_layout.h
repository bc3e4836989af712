// Where an element of a paged cache lives. Host and device code use these same functions.
//
// One physical block of one KV head is a page of block_size tokens x head_size elements. Keys and
// values arrange the page differently, because the two halves of attention read it differently:
//
//   key    [head_size / x][block_size][x]   x = 16 / sizeof(cache element)
//          a dot product runs along the head dimension of one token: x neighbours make 16 bytes,
//          and the same x-chunk of the next token follows directly
//   value  [head_size][block_size]
//          a weighted sum runs along the tokens of one head dimension
//
// The full tensors are key [num_blocks, num_kv_heads, head_size/x, block_size, x] and
// value [num_blocks, num_kv_heads, head_size, block_size], row-major.
#pragma once
#include "reference/host_device.h"

#include <cstdint>

namespace paged {

/// Strides of a cache in elements. Contiguous caches have head_stride = head_size * block_size and
/// block_stride = num_kv_heads * head_stride; larger ones leave gaps.
struct CacheStrides {
  std::int64_t block_stride;
  std::int64_t head_stride;
};

/// Strides of a cache without gaps.
PAGED_HOST_DEVICE constexpr CacheStrides contiguous_strides(int num_kv_heads, int head_size,
                                                            int block_size) {
  const std::int64_t page = static_cast<std::int64_t>(head_size) * block_size;
  return {num_kv_heads * page, page};
}

/// Number of neighbouring key elements that make one 16-byte vector.
PAGED_HOST_DEVICE constexpr int key_vector_width(int bytes_per_element) {
  return 16 / bytes_per_element;
}

// [page-address]
/// First element of the page of (physical_block, kv_head), in elements from the cache's start.
/// The block id is widened to 64 bits before it is multiplied: a large cache has more than 2^31
/// elements although every id fits in 32 bits.
PAGED_HOST_DEVICE constexpr std::int64_t page_offset(std::int64_t physical_block, int kv_head,
                                                     CacheStrides strides) {
  return physical_block * strides.block_stride + kv_head * strides.head_stride;
}
// [/page-address]

// [offsets-in-page]
/// Element (token_in_block, dim) of a key page, in elements from the page's start.
/// Valid: 0 <= token_in_block < block_size, 0 <= dim < head_size; x divides head_size.
PAGED_HOST_DEVICE constexpr int key_offset_in_page(int token_in_block, int dim, int block_size,
                                                   int x) {
  return (dim / x * block_size + token_in_block) * x + dim % x;
}

/// Element (token_in_block, dim) of a value page, in elements from the page's start.
PAGED_HOST_DEVICE constexpr int value_offset_in_page(int token_in_block, int dim, int block_size) {
  return dim * block_size + token_in_block;
}
// [/offsets-in-page]

/// Number of pages that hold seq_len tokens: ceil(seq_len / block_size), without overflow at the
/// largest length.
PAGED_HOST_DEVICE constexpr int num_pages(int seq_len, int block_size) {
  return seq_len / block_size + (seq_len % block_size != 0);
}

// [kv-head]
/// KV head that a query head reads. num_kv_heads divides num_heads.
PAGED_HOST_DEVICE constexpr int kv_head_of(int head, int num_heads, int num_kv_heads) {
  return head / (num_heads / num_kv_heads);
}
// [/kv-head]

}  // namespace paged
