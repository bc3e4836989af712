#include "reference/cache_layout.h"
#include "reference/cache_operations.h"
#include "tests/harness/device_caches.h"
#include "tests/harness/invariants/all.h"
#include "tests/harness/invariants/cases.h"
#include "tests/harness/invariants/worked_example.h"
#include "tests/harness/random.h"

#include <cmath>

namespace paged::parts_of_cache_write {
namespace {

std::vector<CaseSpec> cases(ScalarType scalar, std::uint64_t seed) {
  CaseSpec fp8 = make_case(scalar, {4, 2, 64, 16}, {35, 17}, "normal", seed);
  fp8.name += " cache e4m3";
  fp8.cache = CacheType::e4m3;
  fp8.k_scale = 0.25;
  fp8.v_scale = 0.5;
  return {make_case(scalar, {4, 2, 64, 16}, {35, 17}, "normal", seed),
          make_case(scalar, {3, 3, 128, 8}, {20}, "normal", seed), fp8};
}

/// New tokens on the host.
struct NewTokens {
  Tensor keys, values;              // [num_tokens, num_kv_heads, head_size]
  std::vector<std::int64_t> slots;  // [num_tokens]
};

/// Slots all over the cache, every fourth one -1, and one of them twice. Numbers of a spread that
/// makes an fp8 cache round, saturate and lose some of them.
NewTokens new_tokens(const DecodeProblem& problem, std::uint64_t seed) {
  constexpr int kTokens = 23;
  Random random(seed * 3 + 41);
  const std::vector<std::int64_t> shape = {kTokens, problem.num_kv_heads, problem.head_size};
  NewTokens tokens{{same_as(problem.scalar), shape}, {same_as(problem.scalar), shape}, {}};
  for (std::int64_t i = 0; i < tokens.keys.size(); ++i) {
    tokens.keys.write(i, 60 * random.normal());
    tokens.values.write(i, std::ldexp(random.normal(), static_cast<int>(random.below(16)) - 8));
  }
  const std::int64_t num_slots = problem.num_blocks() * problem.block_size;
  for (int token = 0; token < kTokens; ++token)
    tokens.slots.push_back(token % 4 == 1 ? -1 : random.below(num_slots));
  tokens.slots[kTokens - 1] = tokens.slots[0];  // of two tokens with one slot, the last one stays
  return tokens;
}

/// What the caches must hold afterwards.
DecodeProblem written_by_reference(const DecodeProblem& problem, const NewTokens& tokens) {
  DecodeProblem expected = problem;
  write_tokens({&expected.key_cache, &expected.value_cache}, tokens.keys, tokens.values,
               tokens.slots, problem.k_scale, problem.v_scale);
  return expected;
}

/// What they do hold. damage: "" or what was written outside.
DecodeProblem written_by_kernel(KernelUnderTest& kernel, const DecodeProblem& problem,
                                const NewTokens& tokens, std::string& damage) {
  DecodeProblem got = problem;
  const DeviceCaches caches(kernel.device(), problem);
  const DeviceTokens on_device(kernel.device(), problem.scalar, tokens.keys, tokens.values);
  kernel.operate_on_caches([&](CacheOperations& operations) {
    operations.write_tokens(caches.paged(), on_device.tensors(), tokens.slots, problem.k_scale,
                            problem.v_scale);
    caches.download(got);
  });
  damage = caches.damage();
  return got;
}

Verdict check(KernelUnderTest& kernel, const Case& c, std::uint64_t seed) {
  const NewTokens tokens = new_tokens(c.problem, seed);
  const DecodeProblem expected = written_by_reference(c.problem, tokens);
  std::string damage;
  const DecodeProblem got = written_by_kernel(kernel, c.problem, tokens, damage);
  if (!damage.empty()) return Verdict::fail(damage);
  const std::string difference = cache_difference(got, expected);
  if (difference.empty()) return {};
  const bool touched = !cache_difference(got, c.problem).empty();
  return Verdict::fail("after writing tokens to their slots, " + difference +
                       (touched ? "" : " (nothing was written)"));
}

std::string example(KernelUnderTest& kernel) {
  const DecodeProblem problem = example_problem();
  NewTokens tokens = new_tokens(problem, 1);
  std::string damage;
  const DecodeProblem got = written_by_kernel(kernel, problem, tokens, damage);
  const std::int64_t slot = tokens.slots[2];
  const std::int64_t block = slot / 16;
  const int offset = static_cast<int>(slot % 16);
  const std::int64_t key = key_index(problem, block, 0, offset, 9);
  return text("slot %lld of token 2: block %lld, offset %d\n", static_cast<long long>(slot),
              static_cast<long long>(block), offset) +
         text(
             "dimension 9 of its key goes to element %lld of the cache = ((%lld * 8 + 9 / 8) * 16 "
             "+ %d) * 8 + 9 %% 8\n",
             static_cast<long long>(key), static_cast<long long>(block), offset) +
         text("written %.4f, read back %.4f; the slot of token 1 is %lld: skipped\n",
              tokens.keys.read(2 * 64 + 9), got.key_cache.read(key),
              static_cast<long long>(tokens.slots[1]));
}

}  // namespace
}  // namespace paged::parts_of_cache_write

namespace paged {

Invariant cache_write() {
  using namespace parts_of_cache_write;
  return {
      "cache-write",
      "Keys and values of new tokens are found again at their slots, slot -1 is skipped, and "
      "nothing else changes.",
      "K[slot_t] = k_t, V[slot_t] = v_t (fp8: round(k_t / k_scale), to nearest, ties to even); "
      "all other bits of the caches stay",
      "tokens at random slots, some skipped, two with one slot; all bits of both caches compared",
      "a wrong index in the page, such as the x of the scalar type; block and offset swapped; "
      "padding written; a scale on the wrong side; truncation",
      "The first wrong element has its slot, head and dimension: one that should not have "
      "changed points at the index, one with a wrong number at scale and rounding.",
      cases,
      {},
      check,
      example,
      /*needs_watching=*/false,
      &StageFeatures::cache_operations};
}

}  // namespace paged
