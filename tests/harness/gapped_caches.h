// The caches of a layer with gaps on a device, beside those of the reference: what lies in the gaps
// must stay.
#pragma once
#include "reference/cache_operations.h"
#include "reference/tensor.h"
#include "stages/cache_operations.h"
#include "tests/harness/guarded_buffer.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace paged {

/// Fills a tensor with any bits, NaN among them.
void fill_with_random_bits(Tensor& tensor, std::uint64_t seed);

/// The caches of the reference: tensors without gaps, random bits at first.
struct HostCaches {
  explicit HostCaches(const CacheShape& shape_of_both, std::uint64_t seed = 1);
  CachePair pair() { return {&keys, &values}; }
  PagedCaches paged() { return contiguous_caches(shape, keys.data(), values.data()); }

  CacheShape shape;
  Tensor keys, values;
};

/// Elements that nobody uses, behind each page and once more behind each block. A multiple of 16
/// bytes each.
struct GapsOfCaches {
  int in_keys = 0;
  int in_values = 0;
};

/// One cache on a device. Its gaps are of random bits.
class GappedCache {
 public:
  GappedCache(Device& device, const CacheShape& shape, const Tensor& content, int gap,
              const std::string& name);
  void* data() const { return buffer_.data(); }
  CacheStrides strides() const { return strides_; }
  /// "" if pages hold what `content` holds, gaps what they held, and nothing was written beside it.
  std::string difference(const Tensor& content) const;

 private:
  std::vector<std::byte> with_pages_of(const Tensor& content, std::vector<std::byte> image) const;

  CacheShape shape_;
  std::string name_;
  CacheStrides strides_;
  std::vector<std::byte> image_;  ///< at first
  GuardedBuffer buffer_;
};

/// Both caches on a device, which begin as those of the host.
struct GappedCaches {
  GappedCaches(Device& device, const HostCaches& host, GapsOfCaches gaps = {});
  PagedCaches paged() const {
    return {shape, keys.data(), values.data(), keys.strides(), values.strides()};
  }
  /// Of the first cache that has one.
  std::string difference(const HostCaches& host) const;

  CacheShape shape;
  GappedCache keys, values;
};

/// New tokens on host and device; there each row holds keys, values and 8 elements of something
/// else, as the output of a fused projection does.
struct FusedTokens {
  FusedTokens(ScalarType type_of_both, int num_tokens, const CacheShape& shape);
  /// They stay on the device for as long as this object lives, or until the next call.
  TokenTensors upload(Device& device);

  ScalarType type;
  Tensor keys, values;  // [num_tokens, num_kv_heads, head_size]
  DeviceBuffer buffer;
};

/// Normal values of a spread that makes some keys too large for e4m3.
FusedTokens normal_tokens(ScalarType type, int num_tokens, const CacheShape& shape);

}  // namespace paged
