// A problem's caches on a device, for cache operations.
#pragma once
#include "reference/decode_problem.h"
#include "stages/cache_operations.h"
#include "tests/harness/guarded_buffer.h"

#include <cstdint>
#include <string>
#include <vector>

namespace paged {

/// Both caches of a problem in device memory between guard zones, and back.
class DeviceCaches {
 public:
  /// Uploads the problem's caches.
  DeviceCaches(Device& device, const DecodeProblem& problem);

  PagedCaches paged() const;
  /// Copies the device's content into the problem's caches, which must have the same shape.
  void download(DecodeProblem& problem) const;
  /// "" or what was written outside them.
  std::string damage() const;

 private:
  CacheShape shape_;
  GuardedBuffer keys_, values_;
};

/// New tokens on a device.
class DeviceTokens {
 public:
  /// keys, values: [num_tokens, num_kv_heads, head_size] of the same scalar type.
  DeviceTokens(Device& device, ScalarType type, const Tensor& keys, const Tensor& values);
  TokenTensors tensors() const;

 private:
  ScalarType type_;
  std::int64_t stride_;
  GuardedBuffer keys_, values_;
};

/// "" or the first element in which two problems' caches differ: "slot 37 (block 2, offset 5), KV
/// head 1, dimension 3 of the key cache is 0.5 and should be 0.25".
std::string cache_difference(const DecodeProblem& got, const DecodeProblem& expected);

}  // namespace paged
