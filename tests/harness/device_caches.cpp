#include "tests/harness/device_caches.h"

#include "tests/harness/coordinates.h"

#include <cstring>

namespace paged {
namespace {

CacheShape shape_of(const DecodeProblem& problem) {
  return {problem.cache(), problem.num_blocks(), problem.num_kv_heads, problem.head_size,
          problem.block_size};
}

using Index = std::int64_t (*)(const DecodeProblem&, std::int64_t, int, int, int);

bool same_bits(const Tensor& a, const Tensor& b, std::int64_t i) {
  const std::size_t width = size_in_bytes(a.type());
  return std::memcmp(a.data() + i * width, b.data() + i * width, width) == 0;
}

std::string difference(const DecodeProblem& problem, const Tensor& got, const Tensor& expected,
                       Index index, const char* name) {
  if (std::memcmp(got.data(), expected.data(), got.size_in_bytes()) == 0) return "";
  for (std::int64_t block = 0; block < problem.num_blocks(); ++block)
    for (int offset = 0; offset < problem.block_size; ++offset)
      for (int kv_head = 0; kv_head < problem.num_kv_heads; ++kv_head)
        for (int dim = 0; dim < problem.head_size; ++dim) {
          const std::int64_t i = index(problem, block, kv_head, offset, dim);
          if (!same_bits(got, expected, i))
            return "slot " + std::to_string(block * problem.block_size + offset) + " (block " +
                   std::to_string(block) + ", offset " + std::to_string(offset) + "), KV head " +
                   std::to_string(kv_head) + ", dimension " + std::to_string(dim) + " of the " +
                   name + " cache is " + number(got.read(i)) + " and should be " +
                   number(expected.read(i));
        }
  return "";
}

}  // namespace

DeviceCaches::DeviceCaches(Device& device, const DecodeProblem& problem)
    : shape_(shape_of(problem)),
      keys_(device, problem.key_cache.size_in_bytes(), "key_cache"),
      values_(device, problem.value_cache.size_in_bytes(), "value_cache") {
  keys_.upload(problem.key_cache.data());
  values_.upload(problem.value_cache.data());
}

PagedCaches DeviceCaches::paged() const {
  return contiguous_caches(shape_, keys_.data(), values_.data());
}

void DeviceCaches::download(DecodeProblem& problem) const {
  keys_.download(problem.key_cache.data());
  values_.download(problem.value_cache.data());
}

std::string DeviceCaches::damage() const {
  const std::string damage = keys_.damage();
  return damage.empty() ? values_.damage() : damage;
}

DeviceTokens::DeviceTokens(Device& device, ScalarType type, const Tensor& keys,
                           const Tensor& values)
    : type_(type),
      stride_(keys.shape()[1] * keys.shape()[2]),
      keys_(device, keys.size_in_bytes(), "new_keys"),
      values_(device, values.size_in_bytes(), "new_values") {
  keys_.upload(keys.data());
  values_.upload(values.data());
}

TokenTensors DeviceTokens::tensors() const {
  return {type_, keys_.data(), values_.data(), stride_, stride_};
}

std::string cache_difference(const DecodeProblem& got, const DecodeProblem& expected) {
  const std::string in_keys = difference(got, got.key_cache, expected.key_cache, key_index, "key");
  return in_keys.empty()
             ? difference(got, got.value_cache, expected.value_cache, value_index, "value")
             : in_keys;
}

}  // namespace paged
