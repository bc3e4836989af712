#include "tests/harness/gapped_caches.h"

#include "reference/decode_problem.h"
#include "tests/harness/random.h"

#include <cstring>
#include <utility>

namespace paged {
namespace {

using Bytes = std::vector<std::byte>;

Bytes random_bytes(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  Bytes bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.bits() & 255U);
  return bytes;
}

CacheStrides strides_with(const CacheShape& shape, int gap) {
  const std::int64_t head_stride = shape.contiguous().head_stride + gap;
  return {head_stride * shape.num_kv_heads + gap, head_stride};
}

}  // namespace

void fill_with_random_bits(Tensor& tensor, std::uint64_t seed) {
  const Bytes bytes = random_bytes(tensor.size_in_bytes(), seed);
  std::memcpy(tensor.data(), bytes.data(), bytes.size());
}

HostCaches::HostCaches(const CacheShape& s, std::uint64_t seed)
    : shape(s),
      keys(make_key_cache(s.type, s.num_blocks, s.num_kv_heads, s.head_size, s.block_size)),
      values(make_value_cache(s.type, s.num_blocks, s.num_kv_heads, s.head_size, s.block_size)) {
  fill_with_random_bits(keys, seed);
  fill_with_random_bits(values, seed + 1);
}

GappedCache::GappedCache(Device& device, const CacheShape& shape, const Tensor& content, int gap,
                         const std::string& name)
    : shape_(shape),
      name_(name),
      strides_(strides_with(shape, gap)),
      image_(with_pages_of(
          content,
          random_bytes(strides_.block_stride * shape.num_blocks * size_in_bytes(shape.type), 99))),
      buffer_(device, image_.size(), name) {
  buffer_.upload(image_.data());
}

Bytes GappedCache::with_pages_of(const Tensor& content, Bytes image) const {
  const std::size_t element = size_in_bytes(shape_.type);
  const CacheStrides whole = shape_.contiguous();
  for (std::int64_t block = 0; block < shape_.num_blocks; ++block)
    for (int kv_head = 0; kv_head < shape_.num_kv_heads; ++kv_head)
      std::memcpy(image.data() + page_offset(block, kv_head, strides_) * element,
                  content.data() + page_offset(block, kv_head, whole) * element,
                  whole.head_stride * element);
  return image;
}

std::string GappedCache::difference(const Tensor& content) const {
  if (const std::string damage = buffer_.damage(); !damage.empty()) return damage;
  return buffer_.differs_from(with_pages_of(content, image_).data())
             ? "the " + name_ + " differs from the reference's"
             : "";
}

GappedCaches::GappedCaches(Device& device, const HostCaches& host, GapsOfCaches gaps)
    : shape(host.shape),
      keys(device, host.shape, host.keys, gaps.in_keys, "key_cache"),
      values(device, host.shape, host.values, gaps.in_values, "value_cache") {}

std::string GappedCaches::difference(const HostCaches& host) const {
  std::string of_keys = keys.difference(host.keys);
  return of_keys.empty() ? values.difference(host.values) : of_keys;
}

FusedTokens::FusedTokens(ScalarType type_of_both, int num_tokens, const CacheShape& shape)
    : type(type_of_both),
      keys(same_as(type_of_both), {num_tokens, shape.num_kv_heads, shape.head_size}),
      values(keys) {}

TokenTensors FusedTokens::upload(Device& device) {
  const std::int64_t num_tokens = keys.shape()[0];
  const std::size_t row = keys.shape()[1] * keys.shape()[2] * size_in_bytes(type);
  const std::size_t pitch = 2 * row + 8 * size_in_bytes(type);
  Bytes rows = random_bytes(pitch * num_tokens, 11);
  for (std::int64_t token = 0; token < num_tokens; ++token) {
    std::memcpy(rows.data() + token * pitch, keys.data() + token * row, row);
    std::memcpy(rows.data() + token * pitch + row, values.data() + token * row, row);
  }
  buffer = DeviceBuffer(device, rows.size(), "tokens");
  device.upload(buffer.data(), rows.data(), rows.size());
  const auto stride = static_cast<std::int64_t>(pitch / size_in_bytes(type));
  return {type, buffer.data(), static_cast<std::byte*>(buffer.data()) + row, stride, stride};
}

FusedTokens normal_tokens(ScalarType type, int num_tokens, const CacheShape& shape) {
  FusedTokens tokens(type, num_tokens, shape);
  Random random(7);
  for (std::int64_t i = 0; i < tokens.keys.size(); ++i) {
    tokens.keys.write(i, 100 * random.normal());
    tokens.values.write(i, random.normal());
  }
  return tokens;
}

}  // namespace paged
