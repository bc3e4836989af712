#include "tests/mutants/cache_trial.h"

#include "reference/cache_operations.h"
#include "reference/decode_problem.h"
#include "tests/harness/guarded_buffer.h"
#include "tests/harness/random.h"

#include <cstring>
#include <optional>

namespace paged {
namespace {

using Bytes = std::vector<std::byte>;

Bytes random_bytes(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  Bytes bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.bits() & 255U);
  return bytes;
}

/// A cache on the host and on the device, there with a gap after each page, and another gap for
/// values than for keys: what lies in gaps must stay.
class TrialCache {
 public:
  TrialCache(Device& device, const CacheShape& shape, Tensor content, int gap, const char* name)
      : host(std::move(content)),
        shape_(shape),
        strides_{(shape.contiguous().head_stride + gap) * shape.num_kv_heads,
                 shape.contiguous().head_stride + gap},
        gaps_(random_bytes(strides_.block_stride * shape.num_blocks * element(), 99)),
        buffer_(device, gaps_.size(), name) {
    const Bytes random = random_bytes(host.size_in_bytes(), 5 + gap);
    std::memcpy(host.data(), random.data(), random.size());
    buffer_.upload(image().data());
  }
  void* data() const { return buffer_.data(); }
  CacheStrides strides() const { return strides_; }

  /// "" or that the device holds something else than the host.
  std::string difference(const std::string& name) const {
    if (const std::string damage = buffer_.damage(); !damage.empty()) return damage;
    return buffer_.differs_from(image().data())
               ? "the " + name + " cache differs from the reference's"
               : "";
  }

  Tensor host;

 private:
  std::size_t element() const { return size_in_bytes(shape_.type); }
  Bytes image() const {
    Bytes bytes = gaps_;
    const CacheStrides whole = shape_.contiguous();
    for (std::int64_t block = 0; block < shape_.num_blocks; ++block)
      for (int kv_head = 0; kv_head < shape_.num_kv_heads; ++kv_head)
        std::memcpy(bytes.data() + page_offset(block, kv_head, strides_) * element(),
                    host.data() + page_offset(block, kv_head, whole) * element(),
                    whole.head_stride * element());
    return bytes;
  }

  CacheShape shape_;
  CacheStrides strides_;
  Bytes gaps_;
  GuardedBuffer buffer_;
};

/// Both caches of a trial.
struct Trial {
  Trial(Device& device, const CacheShape& shape_of_both)
      : shape(shape_of_both),
        keys(device, shape,
             make_key_cache(shape.type, shape.num_blocks, shape.num_kv_heads, shape.head_size,
                            shape.block_size),
             16, "key_cache"),
        values(device, shape,
               make_value_cache(shape.type, shape.num_blocks, shape.num_kv_heads, shape.head_size,
                                shape.block_size),
               48, "value_cache") {}
  PagedCaches paged() const {
    return {shape, keys.data(), values.data(), keys.strides(), values.strides()};
  }
  CachePair pair() { return {&keys.host, &values.host}; }
  std::string difference() const {
    const std::string of_keys = keys.difference("key");
    return of_keys.empty() ? values.difference("value") : of_keys;
  }

  CacheShape shape;
  TrialCache keys, values;
};

/// New tokens as slices of a fused projection: keys and values of a token, then something else.
void write_tokens(CacheOperations& operations, Device& device, Trial& trial) {
  const CacheShape& shape = trial.shape;
  // Padding, the first and the last slot, one in the middle of a page; token 4 has what no slot has.
  const std::vector<std::int64_t> slots = {-1, 5, -1,
                                           31, 0, shape.num_blocks * shape.block_size - 1};
  const auto num_tokens = static_cast<std::int64_t>(slots.size());
  Tensor keys(CacheType::f16, {num_tokens, shape.num_kv_heads, shape.head_size});
  Tensor values = keys;
  Random random(7);
  for (std::int64_t i = 0; i < keys.size(); ++i) {
    keys.write(i, 100 * random.normal());
    values.write(i, random.normal());
  }
  const std::size_t row = keys.size_in_bytes() / slots.size();
  const std::size_t pitch = 2 * row + 16;
  Bytes rows = random_bytes(pitch * slots.size(), 11);
  for (std::size_t token = 0; token < slots.size(); ++token) {
    std::memcpy(rows.data() + token * pitch, keys.data() + token * row, row);
    std::memcpy(rows.data() + token * pitch + row, values.data() + token * row, row);
  }
  const DeviceBuffer tokens(device, rows.size(), "tokens");
  device.upload(tokens.data(), rows.data(), rows.size());
  const auto stride = static_cast<std::int64_t>(pitch / 2);
  const bool fp8 = is_fp8(shape.type);
  const float k_scale = fp8 ? 0.25F : 1.0F;
  const float v_scale = fp8 ? 0.5F : 1.0F;
  operations.write_tokens(trial.paged(),
                          {ScalarType::f16, tokens.data(),
                           static_cast<std::byte*>(tokens.data()) + row, stride, stride},
                          slots, k_scale, v_scale);
  paged::write_tokens(trial.pair(), keys, values, slots, k_scale, v_scale);
}

void copy_blocks(CacheOperations& operations, Device&, Trial& trial) {
  const std::vector<BlockCopy> copies = {{0, 1}, {0, 3}, {2, 4}};
  operations.copy_blocks(trial.paged(), copies);
  paged::copy_blocks(trial.pair(), copies);
}

}  // namespace

Catch try_cache_kernels(const CacheKernels& kernels, Device& device, const std::string& only) {
  struct Statement {
    const char* id;
    void (*run)(CacheOperations& operations, Device& device, Trial& trial);
  };
  Catch result;
  for (const Statement& statement :
       {Statement{"cache-write", write_tokens}, Statement{"copy-on-write", copy_blocks}}) {
    if (!only.empty() && only != statement.id) continue;
    for (const CacheType type : {CacheType::f16, CacheType::e4m3}) {
      ++result.cases;
      device.take_findings();
      CacheOperations operations(device, kernels);
      Trial trial(device, {type, 6, 3, 32, 16});
      statement.run(operations, device, trial);
      const std::vector<Finding> findings = device.take_findings();
      const std::string difference = trial.difference();
      device.take_findings();
      if (findings.empty() && difference.empty()) continue;
      result.message = findings.empty() ? difference : to_string(findings.front());
      result.caught_by = findings.empty() ? statement.id : finding_id(result.message);
      result.invariant = statement.id;
      result.case_name = "f16 tokens, cache " + std::string(name_of(type));
      result.family = "normal";
      return result;
    }
  }
  return result;
}

}  // namespace paged
