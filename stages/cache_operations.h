// Moving keys and values in device memory: what happens to the caches between decode steps.
#pragma once
#include "kernels/device.h"
#include "reference/cache_layout.h"
#include "reference/scalar_type.h"
#include "reference/sequence_tables.h"
#include "stages/registry.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace paged {

/// Sizes and type of a key cache and the value cache beside it.
struct CacheShape {
  CacheType type = CacheType::f16;
  std::int64_t num_blocks = 0;  ///< >= 0
  int num_kv_heads = 0;         ///< >= 1
  int head_size = 0;   ///< a multiple of 16 / sizeof(element), so that 120 has no fp8 cache
  int block_size = 0;  ///< tokens, >= 1

  CacheStrides contiguous() const {
    return contiguous_strides(num_kv_heads, head_size, block_size);
  }
  /// Bytes of one cache (keys or values) without gaps.
  std::size_t bytes_of_one() const {
    return static_cast<std::size_t>(num_blocks * contiguous().block_stride) * size_in_bytes(type);
  }
};

/// The two caches of one layer, in device memory or, for swapped blocks, in host memory; not owned.
///
/// Both pointers are 16-byte aligned, and so is every page: strides, in elements, are multiples of
/// 16 bytes and at least those of a cache without gaps. What lies in gaps is never touched.
struct PagedCaches {
  CacheShape shape;
  void* key_cache = nullptr;    // [num_blocks, num_kv_heads, head_size/x, block_size, x]
  void* value_cache = nullptr;  // [num_blocks, num_kv_heads, head_size, block_size]
  CacheStrides key_strides{};
  CacheStrides value_strides{};
};

/// Two caches without gaps.
PagedCaches contiguous_caches(const CacheShape& shape, void* key_cache, void* value_cache);

/// One allocation [2, num_blocks, elements of a block] seen as two caches: all keys, then all
/// values. It has 2 * shape.bytes_of_one() bytes. Throws InputError as the operations below do.
PagedCaches split_view(const CacheShape& shape, void* allocation);

/// Keys and values of new tokens on the device. Strides count elements from token to token and are
/// at least num_kv_heads * head_size: more where the tensors are part of a fused projection.
struct TokenTensors {
  ScalarType type = ScalarType::f16;
  const void* keys = nullptr;    // [num_tokens, num_kv_heads, head_size], 16-byte aligned
  const void* values = nullptr;  // [num_tokens, num_kv_heads, head_size], 16-byte aligned
  std::int64_t key_stride = 0;
  std::int64_t value_stride = 0;
};

/// Arguments of the write kernel, checked: no two tokens have one slot.
struct TokenWrite {
  PagedCaches caches;
  TokenTensors tokens;
  const std::int64_t* slots;  // [num_tokens], device memory; negative ones are skipped
  unsigned num_tokens;        ///< >= 1
  float k_scale;
  float v_scale;
};

/// Arguments of the copy kernel, checked: no block is written that another copy reads or writes.
struct ConcurrentCopies {
  PagedCaches caches;
  const BlockCopy* copies;  // [num_copies], device memory
  unsigned num_copies;      ///< >= 1
};

/// The cache kernels as one compilation has them. They launch and return.
struct CacheKernels {
  void (*write_tokens)(const TokenWrite& write);
  void (*copy_blocks)(const ConcurrentCopies& copies);
};

/// The cache kernels of a backend. Throws DeviceError for cuda in a build without CUDA.
const CacheKernels& cache_kernels(Backend backend, Checking checking = Checking::checked);

/// The cache operations on one device. reference/cache_operations.h says the same for host tensors,
/// and results are equal to the bit (but for the code of a NaN in an fp8 cache).
///
/// Each operation is done when it returns, and what launches before it wrote is seen. It throws
/// InputError, with nothing launched and nothing written, for null or misaligned pointers, sizes
/// and strides out of range, slots and blocks outside the caches; the message is one line that
/// names the value and the limit. It throws DeviceError if the device fails.
class CacheOperations {
 public:
  explicit CacheOperations(Device& device, Checking checking = Checking::checked)
      : CacheOperations(device, cache_kernels(device.backend(), checking)) {}
  /// With kernels of one's own, to try them.
  CacheOperations(Device& device, const CacheKernels& kernels)
      : device_(device), kernels_(kernels) {}

  /// Writes the keys and values of new tokens at their slots.
  ///
  /// @param slots  [num_tokens], in host memory, so that they can be checked: physical block *
  ///   block_size + offset; -1 skips the token. Of several tokens with one slot the last one stays.
  /// @param k_scale,v_scale  finite, > 0; only fp8 caches use them
  ///
  /// A cache of the tokens' type stores their bits. An fp8 cache stores float(value) / scale,
  /// divided in f32 and rounded to the nearest element, ties to even; what is too large, infinity
  /// included, becomes the largest finite element, and NaN becomes 0x7F. Others are refused.
  void write_tokens(const PagedCaches& caches, const TokenTensors& tokens,
                    std::span<const std::int64_t> slots, float k_scale = 1.0F,
                    float v_scale = 1.0F);

  /// Copies whole blocks within the caches, bit for bit, as if one after the other. A copy reads
  /// all slots of a block, also those that hold no token.
  void copy_blocks(const PagedCaches& caches, std::span<const BlockCopy> copies);

  /// Copies whole blocks from the device to host memory (preemption), in order, bit for bit. The
  /// caches may differ in num_blocks and strides only.
  void swap_out(const PagedCaches& device, const PagedCaches& host,
                std::span<const BlockCopy> copies);
  /// Copies whole blocks from host memory back to the device.
  void swap_in(const PagedCaches& host, const PagedCaches& device,
               std::span<const BlockCopy> copies);

 private:
  Device& device_;
  const CacheKernels& kernels_;
};

}  // namespace paged
