#include "tests/harness_tests/plain_cache_kernels.h"

#include "reference/element_types.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace paged::testing {
namespace {

/// Element i of an array of floats of some type.
double load(ScalarType type, const void* base, std::int64_t i) {
  const auto read = [&]<typename Element>(Element element) {
    std::memcpy(&element, static_cast<const std::byte*>(base) + i * sizeof element, sizeof element);
    return to_double(element);
  };
  if (type == ScalarType::f32) return read(float{});
  return type == ScalarType::f16 ? read(f16{}) : read(bf16{});
}

template <typename Element>
void store(void* base, std::int64_t i, double value, [[maybe_unused]] bool truncated) {
  auto element = round_to<Element>(value);
  // The code below a number's is the one nearer to zero.
  if constexpr (sizeof element == 1)
    if (truncated && std::abs(to_double(element)) > std::abs(value)) --element.bits;
  std::memcpy(static_cast<std::byte*>(base) + i * sizeof element, &element, sizeof element);
}

void store(CacheType type, void* base, std::int64_t i, double value, bool truncated) {
  switch (type) {
    case CacheType::f32:
      return store<float>(base, i, value, false);
    case CacheType::f16:
      return store<f16>(base, i, value, false);
    case CacheType::bf16:
      return store<bf16>(base, i, value, false);
    case CacheType::e4m3:
      return store<e4m3>(base, i, value, truncated);
    case CacheType::e5m2:
      return store<e5m2>(base, i, value, truncated);
  }
}

template <CacheMistake mistake>
void write_one(const TokenWrite& write, unsigned token, std::int64_t slot, int kv_head, int dim) {
  const CacheShape& shape = write.caches.shape;
  std::int64_t block = slot / shape.block_size;
  int offset = static_cast<int>(slot % shape.block_size);
  if (mistake == CacheMistake::block_and_offset_swapped) {
    block = slot % shape.num_blocks;
    offset = static_cast<int>(slot / shape.num_blocks);
  }
  const int x = 16 / static_cast<int>(mistake == CacheMistake::x_of_token_type
                                          ? size_in_bytes(write.tokens.type)
                                          : size_in_bytes(shape.type));
  const int from_head = mistake == CacheMistake::heads_all_from_first ? 0 : kv_head;
  const std::int64_t from = std::int64_t{from_head} * shape.head_size + dim;
  const auto scaled = [&](double value, float scale) {
    if (!is_fp8(shape.type)) return value;
    const auto number = static_cast<float>(value);
    return static_cast<double>(mistake == CacheMistake::scale_on_the_wrong_side ? number * scale
                                                                                : number / scale);
  };
  constexpr bool kTruncated = mistake == CacheMistake::truncated;
  const float v_scale = mistake == CacheMistake::k_scale_for_both ? write.k_scale : write.v_scale;
  const double key =
      load(write.tokens.type, write.tokens.keys, token * write.tokens.key_stride + from);
  const double value =
      load(write.tokens.type, write.tokens.values, token * write.tokens.value_stride + from);
  store(shape.type, write.caches.key_cache,
        page_offset(block, kv_head, write.caches.key_strides) +
            key_offset_in_page(offset, dim, shape.block_size, x),
        scaled(key, write.k_scale), kTruncated);
  store(shape.type, write.caches.value_cache,
        page_offset(block, kv_head, write.caches.value_strides) +
            value_offset_in_page(offset, dim, shape.block_size),
        scaled(value, v_scale), kTruncated);
}

template <CacheMistake mistake>
void write_tokens(const TokenWrite& write) {
  for (unsigned token = 0; token < write.num_tokens; ++token) {
    std::int64_t slot = write.slots[token];
    if (slot < 0 && mistake != CacheMistake::padding_written) continue;
    slot = std::max<std::int64_t>(slot, 0);
    for (int kv_head = 0; kv_head < write.caches.shape.num_kv_heads; ++kv_head)
      for (int dim = 0; dim < write.caches.shape.head_size; ++dim)
        write_one<mistake>(write, token, slot, kv_head, dim);
  }
}

template <CacheMistake mistake>
void copy_blocks(const ConcurrentCopies& copies) {
  const CacheShape& shape = copies.caches.shape;
  const std::size_t element = size_in_bytes(shape.type);
  const auto copy_page = [&](void* cache, CacheStrides strides, BlockCopy copy, int kv_head) {
    auto* bytes = static_cast<std::byte*>(cache);
    if (mistake == CacheMistake::copied_backwards) std::swap(copy.from, copy.to);
    std::memcpy(bytes + page_offset(copy.to, kv_head, strides) * element,
                bytes + page_offset(copy.from, kv_head, strides) * element,
                shape.contiguous().head_stride * element);
  };
  if (mistake == CacheMistake::not_copied) return;
  const int heads = mistake == CacheMistake::only_first_head_copied ? 1 : shape.num_kv_heads;
  for (unsigned i = 0; i < copies.num_copies; ++i)
    for (int kv_head = 0; kv_head < heads; ++kv_head) {
      copy_page(copies.caches.key_cache, copies.caches.key_strides, copies.copies[i], kv_head);
      if (mistake != CacheMistake::only_keys_copied)
        copy_page(copies.caches.value_cache, copies.caches.value_strides, copies.copies[i],
                  kv_head);
    }
}

template <int... mistakes>
const CacheKernels& kernels_of(CacheMistake mistake, std::integer_sequence<int, mistakes...>) {
  static constexpr CacheKernels all[] = {{write_tokens<static_cast<CacheMistake>(mistakes)>,
                                          copy_blocks<static_cast<CacheMistake>(mistakes)>}...};
  return all[static_cast<int>(mistake)];
}

}  // namespace

const std::vector<CacheMistakeInfo>& cache_mistakes() {
  static const std::vector<CacheMistakeInfo> all = {
      {CacheMistake::x_of_token_type, "x_of_token_type", "cache-write"},
      {CacheMistake::padding_written, "padding_written", "cache-write"},
      {CacheMistake::block_and_offset_swapped, "block_and_offset_swapped", "cache-write"},
      {CacheMistake::heads_all_from_first, "heads_all_from_first", "cache-write"},
      {CacheMistake::scale_on_the_wrong_side, "scale_on_the_wrong_side", "cache-write"},
      {CacheMistake::truncated, "truncated", "cache-write"},
      {CacheMistake::k_scale_for_both, "k_scale_for_both", "cache-write"},
      {CacheMistake::only_keys_copied, "only_keys_copied", "copy-on-write"},
      {CacheMistake::only_first_head_copied, "only_first_head_copied", "copy-on-write"},
      {CacheMistake::copied_backwards, "copied_backwards", "copy-on-write"},
      {CacheMistake::not_copied, "not_copied", "copy-on-write"},
  };
  return all;
}

const CacheKernels& plain_cache_kernels(CacheMistake mistake) {
  constexpr int kCount = static_cast<int>(CacheMistake::not_copied) + 1;
  return kernels_of(mistake, std::make_integer_sequence<int, kCount>());
}

}  // namespace paged::testing
