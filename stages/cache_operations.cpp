// What the host does for the cache operations: checks, order, and copies over the bus.
#include "stages/cache_operations.h"

#include "reference/cache_operations.h"
#include "reference/decode_problem.h"
#include "reference/input_error.h"
#include "stages/alignment_check.h"
#include "stages/backend_stages.h"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <vector>

#if !PAGED_HAS_CUDA
namespace paged::cuda {
const CacheKernels& cache_kernels() { throw DeviceError(why_no_cuda_device()); }
}  // namespace paged::cuda
#endif

namespace paged {
namespace {

void check_range(const std::string& name, std::int64_t value, std::int64_t least,
                 std::int64_t most) {
  if (value < least)
    throw InputError(name + " is " + std::to_string(value) + "; it must be at least " +
                     std::to_string(least));
  if (value > most)
    throw InputError(name + " is " + std::to_string(value) + "; it must be at most " +
                     std::to_string(most));
}
void check_at_least(const std::string& name, std::int64_t value, std::int64_t least) {
  check_range(name, value, least, INT64_MAX);
}

void check_shape(const CacheShape& shape) {
  check_at_least("num_blocks", shape.num_blocks, 0);
  check_at_least("num_kv_heads", shape.num_kv_heads, 1);
  check_at_least("head_size", shape.head_size, 1);
  check_at_least("block_size", shape.block_size, 1);
  // Refuses heads that are not whole vectors, and pages too large.
  key_cache_shape(shape.type, shape.num_blocks, shape.num_kv_heads, shape.head_size,
                  shape.block_size);
}

// owner: "", or "host " to tell two pairs of caches apart.
void check_caches(const PagedCaches& caches, const std::string& owner = "") {
  check_shape(caches.shape);
  check_pointer(owner + "key_cache", caches.key_cache);
  check_pointer(owner + "value_cache", caches.value_cache);
  const auto check_stride = [&](const std::string& name, std::int64_t stride, std::int64_t least) {
    check_at_least(owner + name, stride, least);
    check_stride_alignment(owner + name, stride, size_in_bytes(caches.shape.type));
  };
  const CacheStrides least = caches.shape.contiguous();
  check_stride("key_head_stride", caches.key_strides.head_stride, least.head_stride);
  check_stride("value_head_stride", caches.value_strides.head_stride, least.head_stride);
  check_stride("key_block_stride", caches.key_strides.block_stride, least.block_stride);
  check_stride("value_block_stride", caches.value_strides.block_stride, least.block_stride);
}

void check_tokens(const TokenTensors& tokens, const CacheShape& shape) {
  if (!is_fp8(shape.type) && shape.type != same_as(tokens.type))
    throw InputError("tokens of type " + std::string(name_of(tokens.type)) +
                     " cannot be written to a cache of type " + std::string(name_of(shape.type)) +
                     ": the cache must have their type, or e4m3 or e5m2");
  check_pointer("keys", tokens.keys);
  check_pointer("values", tokens.values);
  const std::int64_t elements = std::int64_t{shape.num_kv_heads} * shape.head_size;
  check_at_least("key_stride", tokens.key_stride, elements);
  check_at_least("value_stride", tokens.value_stride, elements);
}

void check_swap(const PagedCaches& device, const PagedCaches& host) {
  check_caches(device);
  check_caches(host, "host ");
  const auto text = [](const CacheShape& shape) {
    return "[" + std::to_string(shape.num_kv_heads) + ", " + std::to_string(shape.head_size) +
           ", " + std::to_string(shape.block_size) + "] of " + std::string(name_of(shape.type));
  };
  if (text(device.shape) != text(host.shape))
    throw InputError("blocks [num_kv_heads, head_size, block_size] are " + text(device.shape) +
                     " on the device and " + text(host.shape) + " on the host: they must be equal");
}

// A kernel writes all tokens at once: of those with one slot, all but the last become padding.
std::vector<std::int64_t> without_overwritten(std::span<const std::int64_t> slots) {
  std::vector<std::int64_t> kept(slots.begin(), slots.end());
  std::unordered_set<std::int64_t> taken;
  for (auto slot = kept.rbegin(); slot != kept.rend(); ++slot)
    if (*slot >= 0 && !taken.insert(*slot).second) *slot = -1;
  return kept;
}

// How many of the first copies can be made all at once with the result of one after the other.
std::size_t count_independent(std::span<const BlockCopy> copies) {
  std::unordered_set<std::int64_t> read, written;
  std::size_t count = 0;
  for (const BlockCopy& copy : copies) {
    if (written.contains(copy.from) || written.contains(copy.to) || read.contains(copy.to)) break;
    read.insert(copy.from);
    written.insert(copy.to);
    ++count;
  }
  return count;
}

// A stretch of memory that two caches both have in one piece: a block, or a head's page of it.
struct Piece {
  std::byte* from;
  std::byte* to;
  std::size_t bytes;
};

// Calls move(Piece) for every piece of a block of `from` that goes to a block of `to`.
template <typename Move>
void for_each_piece(const PagedCaches& from, const PagedCaches& to, const BlockCopy& copy,
                    Move move) {
  const CacheShape& shape = from.shape;
  const std::size_t element = size_in_bytes(shape.type);
  const CacheStrides whole = shape.contiguous();
  const auto each = [&](void* from_cache, CacheStrides from_strides, void* to_cache,
                        CacheStrides to_strides) {
    const bool in_one = from_strides.head_stride == whole.head_stride &&
                        to_strides.head_stride == whole.head_stride;
    const std::int64_t elements = in_one ? whole.block_stride : whole.head_stride;
    for (int kv_head = 0; kv_head < (in_one ? 1 : shape.num_kv_heads); ++kv_head)
      move(Piece{
          static_cast<std::byte*>(from_cache) +
              page_offset(copy.from, kv_head, from_strides) * element,
          static_cast<std::byte*>(to_cache) + page_offset(copy.to, kv_head, to_strides) * element,
          static_cast<std::size_t>(elements) * element});
  };
  each(from.key_cache, from.key_strides, to.key_cache, to.key_strides);
  each(from.value_cache, from.value_strides, to.value_cache, to.value_strides);
}

template <typename T>
DeviceBuffer on_device(Device& device, std::span<const T> host, const char* name) {
  DeviceBuffer buffer(device, host.size_bytes(), name);
  device.upload(buffer.data(), host.data(), host.size_bytes());
  return buffer;
}

}  // namespace

PagedCaches contiguous_caches(const CacheShape& shape, void* key_cache, void* value_cache) {
  return {shape, key_cache, value_cache, shape.contiguous(), shape.contiguous()};
}

PagedCaches split_view(const CacheShape& shape, void* allocation) {
  check_shape(shape);
  check_pointer("the allocation of both caches", allocation);
  return contiguous_caches(shape, allocation,
                           static_cast<std::byte*>(allocation) + shape.bytes_of_one());
}

const CacheKernels& cache_kernels(Backend backend, Checking checking) {
  if (backend == Backend::cuda) return cuda::cache_kernels();
  return checking == Checking::checked ? cpu_checked::cache_kernels()
                                       : cpu_unchecked::cache_kernels();
}

void CacheOperations::write_tokens(const PagedCaches& caches, const TokenTensors& tokens,
                                   std::span<const std::int64_t> slots, float k_scale,
                                   float v_scale) {
  check_caches(caches);
  check_tokens(tokens, caches.shape);
  check_range("num_tokens", static_cast<std::int64_t>(slots.size()), 0,
              device_.limits().max_grid_x);
  check_range("num_kv_heads", caches.shape.num_kv_heads, 1, device_.limits().max_grid_y);
  check_slots(slots, caches.shape.num_blocks, caches.shape.block_size);
  check_cache_scale("k_scale", k_scale);
  check_cache_scale("v_scale", v_scale);
  if (slots.empty()) return;

  const std::vector<std::int64_t> kept = without_overwritten(slots);
  const DeviceBuffer d_slots = on_device(device_, std::span(kept), "slots");
  kernels_.write_tokens({caches, tokens, static_cast<const std::int64_t*>(d_slots.data()),
                         static_cast<unsigned>(kept.size()), k_scale, v_scale});
  device_.finish();
}

void CacheOperations::copy_blocks(const PagedCaches& caches, std::span<const BlockCopy> copies) {
  check_caches(caches);
  check_copies(copies, caches.shape.num_blocks, caches.shape.num_blocks);
  check_range("the number of copies", static_cast<std::int64_t>(copies.size()), 0,
              device_.limits().max_grid_x);
  check_range("num_kv_heads", caches.shape.num_kv_heads, 1, device_.limits().max_grid_y);

  std::vector<BlockCopy> moves(copies.begin(), copies.end());
  std::erase_if(moves, [](const BlockCopy& copy) { return copy.from == copy.to; });
  if (moves.empty()) return;
  const DeviceBuffer d_moves = on_device(device_, std::span<const BlockCopy>(moves), "copies");
  const auto* next = static_cast<const BlockCopy*>(d_moves.data());
  for (std::span<const BlockCopy> left = moves; !left.empty();) {  // launches follow each other
    const std::size_t count = count_independent(left);
    kernels_.copy_blocks({caches, next, static_cast<unsigned>(count)});
    left = left.subspan(count);
    next += count;
  }
  device_.finish();
}

void CacheOperations::swap_out(const PagedCaches& device, const PagedCaches& host,
                               std::span<const BlockCopy> copies) {
  check_swap(device, host);
  check_copies(copies, device.shape.num_blocks, host.shape.num_blocks);
  device_.finish();
  for (const BlockCopy& copy : copies)
    for_each_piece(device, host, copy,
                   [&](const Piece& p) { device_.download(p.to, p.from, p.bytes); });
}

void CacheOperations::swap_in(const PagedCaches& host, const PagedCaches& device,
                              std::span<const BlockCopy> copies) {
  check_swap(device, host);
  check_copies(copies, host.shape.num_blocks, device.shape.num_blocks);
  device_.finish();
  for (const BlockCopy& copy : copies)
    for_each_piece(host, device, copy,
                   [&](const Piece& p) { device_.upload(p.to, p.from, p.bytes); });
}

}  // namespace paged
