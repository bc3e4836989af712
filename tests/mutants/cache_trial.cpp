#include "tests/mutants/cache_trial.h"

#include "tests/harness/gapped_caches.h"

namespace paged {
namespace {

/// Two kinds of caches with the same content: where they differ afterwards, a kernel is wrong.
struct Trial {
  Trial(Device& device, const CacheShape& shape)
      : host(shape), caches(device, host, {.in_keys = 16, .in_values = 48}) {}
  HostCaches host;
  GappedCaches caches;
};

/// New tokens as slices of a fused projection: keys and values of a token, then something else.
void write_tokens(CacheOperations& operations, Device& device, Trial& trial) {
  const CacheShape& shape = trial.host.shape;
  // Padding, the first and the last slot, one in the middle of a page; token 4 has what no slot
  // has.
  const std::vector<std::int64_t> slots = {-1, 5, -1,
                                           31, 0, shape.num_blocks * shape.block_size - 1};
  FusedTokens tokens = normal_tokens(ScalarType::f16, static_cast<int>(slots.size()), shape);
  const bool fp8 = is_fp8(shape.type);
  const float k_scale = fp8 ? 0.25F : 1.0F;
  const float v_scale = fp8 ? 0.5F : 1.0F;
  operations.write_tokens(trial.caches.paged(), tokens.upload(device), slots, k_scale, v_scale);
  paged::write_tokens(trial.host.pair(), tokens.keys, tokens.values, slots, k_scale, v_scale);
}

void copy_blocks(CacheOperations& operations, Device&, Trial& trial) {
  const std::vector<BlockCopy> copies = {{0, 1}, {0, 3}, {2, 4}};
  operations.copy_blocks(trial.caches.paged(), copies);
  paged::copy_blocks(trial.host.pair(), copies);
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
      const std::string difference = trial.caches.difference(trial.host);
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
