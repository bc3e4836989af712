// The cache operations' kernels: new tokens to their slots, whole blocks to other blocks.
//
// They are written to be right and plain: a decode step writes one token a sequence, and copies a
// block only when a shared one diverges. cache_operations.cpp has checked every argument.
#include "kernels/conversion.cuh"
#include "stages/backend_stages.h"
#include "stages/cache_operations.h"
#include "stages/dispatch.cuh"

#include <type_traits>

namespace paged::PAGED_BACKEND {
namespace {

constexpr int kThreads = 128;

/// What a cache holds for a value. A NaN of the cache's own type keeps even its payload.
template <typename cache_t, typename scalar_t>
__device__ __forceinline__ cache_t stored(scalar_t value, float scale) {
  if constexpr (std::is_same_v<cache_t, scalar_t>)
    return value;
  else
    return from_float<cache_t>(to_float(value) / scale);
}

/// Grid (num_tokens, num_kv_heads): one CUDA block owns one head of one token.
template <typename scalar_t, typename cache_t>
__global__ void __launch_bounds__(kThreads) write_token(const TokenWrite write) {
  const std::int64_t token = blockIdx.x;
  const int kv_head = blockIdx.y;
  const std::int64_t slot = write.slots[token];
  if (slot < 0) return;  // padding of the batch

  const CacheShape& shape = write.caches.shape;
  const std::int64_t block = slot / shape.block_size;
  const int offset = static_cast<int>(slot % shape.block_size);
  const std::int64_t head_start = static_cast<std::int64_t>(kv_head) * shape.head_size;
  const scalar_t* keys = static_cast<const scalar_t*>(write.tokens.keys) +
                         token * write.tokens.key_stride + head_start;  // [head_size]
  const scalar_t* values = static_cast<const scalar_t*>(write.tokens.values) +
                           token * write.tokens.value_stride + head_start;  // [head_size]
  cache_t* key_page =
      static_cast<cache_t*>(write.caches.key_cache) +
      page_offset(block, kv_head, write.caches.key_strides);  // [head_size/x, block_size, x]
  cache_t* value_page =
      static_cast<cache_t*>(write.caches.value_cache) +
      page_offset(block, kv_head, write.caches.value_strides);  // [head_size, block_size]

  constexpr int kX = key_vector_width(sizeof(cache_t));  // of the cache's type, not the tokens'
  for (int dim = threadIdx.x; dim < shape.head_size; dim += kThreads) {
    key_page[key_offset_in_page(offset, dim, shape.block_size, kX)] =
        stored<cache_t>(keys[dim], write.k_scale);
    value_page[value_offset_in_page(offset, dim, shape.block_size)] =
        stored<cache_t>(values[dim], write.v_scale);
  }
}

/// Grid (num_copies, num_kv_heads, 2): one CUDA block copies one page, of keys or of values, in
/// words of 16 bytes (in_word elements); types do not matter.
__global__ void __launch_bounds__(kThreads) copy_page(const ConcurrentCopies c, int in_word) {
  const int kv_head = blockIdx.y;
  const bool of_keys = blockIdx.z == 0;
  const CacheStrides strides = of_keys ? c.caches.key_strides : c.caches.value_strides;
  void* cache = of_keys ? c.caches.key_cache : c.caches.value_cache;
  const CacheShape& shape = c.caches.shape;
  const auto page = [&](int block) {
    return static_cast<uint4*>(cache) + page_offset(block, kv_head, strides) / in_word;
  };
  const uint4* from = page(c.copies[blockIdx.x].from);  // [words]
  uint4* to = page(c.copies[blockIdx.x].to);            // [words]
  const int words = shape.head_size * shape.block_size / in_word;
  for (int i = threadIdx.x; i < words; i += kThreads) to[i] = from[i];
}

void launch_write(const TokenWrite& write) {
  paged_decode_args types{};  // what with_scalar_type() and with_cache_type() ask for
  types.scalar = static_cast<int>(write.tokens.type);
  types.cache = static_cast<int>(write.caches.shape.type);
  with_scalar_type(types, [&](auto scalar) {
    using scalar_t = typename decltype(scalar)::type;
    with_cache_type<scalar_t>(types, [&](auto cache) {
      using cache_t = typename decltype(cache)::type;
      launch(write_token<scalar_t, cache_t>,
             dim3(write.num_tokens, write.caches.shape.num_kv_heads), dim3(kThreads), 0, Stream{},
             write);
    });
  });
}

void launch_copies(const ConcurrentCopies& copies) {
  const CacheShape& shape = copies.caches.shape;
  launch(copy_page, dim3(copies.num_copies, shape.num_kv_heads, 2), dim3(kThreads), 0, Stream{},
         copies, key_vector_width(static_cast<int>(size_in_bytes(shape.type))));
}

}  // namespace

const CacheKernels& cache_kernels() {
  static constexpr CacheKernels kernels{launch_write, launch_copies};
  return kernels;
}

}  // namespace paged::PAGED_BACKEND
