#include "tests/harness/comparison.h"
#include "tests/harness/invariants/all.h"
#include "tests/harness/invariants/cases.h"
#include "tests/harness/invariants/worked_example.h"

namespace paged::parts_of_wide_address {
namespace {

std::vector<CaseSpec> cases(ScalarType scalar, std::uint64_t seed) {
  CaseSpec fp8 = make_case(scalar, {2, 1, 64, 16}, {35, 16}, "peaked", seed);
  fp8.name += " cache e4m3";
  fp8.cache = CacheType::e4m3;
  return {make_case(scalar, {2, 1, 64, 16}, {35, 16}, "peaked", seed), fp8};
}

/// Blocks in front so that the problem's own begin at an element.
std::int64_t blocks_before(const DecodeProblem& problem, std::int64_t element) {
  const std::int64_t per_block =
      std::int64_t{problem.num_kv_heads} * problem.head_size * problem.block_size;
  return (element + per_block - 1) / per_block;
}

constexpr std::int64_t kSigned = std::int64_t{1} << 31;    // where a signed index ends
constexpr std::int64_t kUnsigned = std::int64_t{1} << 32;  // where an unsigned one ends

Verdict check(KernelUnderTest& kernel, const Case& c, std::uint64_t) {
  const DecodeOutputs near = kernel.run(c.problem);
  // In bytes an fp8 cache of 2^32 elements is no larger than one of 2^31 of f16.
  for (const std::int64_t element : {kSigned, kUnsigned}) {
    if (element == kUnsigned && !is_fp8(c.problem.cache())) continue;
    RunOptions options;
    options.layout.blocks_before = blocks_before(c.problem, element);
    const std::string difference = bit_difference(near, kernel.run(c.problem, options));
    if (!difference.empty())
      return Verdict::fail("with the blocks moved to ids from " +
                           std::to_string(options.layout.blocks_before) + " on, past element " +
                           std::to_string(element) + ", " + difference);
  }
  return {};
}

std::string example(KernelUnderTest& kernel) {
  const DecodeProblem problem = example_problem();
  RunOptions options;
  options.layout.blocks_before = blocks_before(problem, kSigned);
  const std::int64_t block = options.layout.blocks_before + problem.block_table(0)[0];
  const auto index = static_cast<std::uint32_t>(block * 1024);
  return text("block %lld starts at element %lld * 1024 = %lld\n", static_cast<long long>(block),
              static_cast<long long>(block), static_cast<long long>(block * 1024)) +
         text("in 32 bits that is %d: an address before the cache\n",
              static_cast<std::int32_t>(index)) +
         "output[0] from there: " + bits_of(kernel.run(problem, options).output, 0) +
         ", from a small cache: " + bits_of(kernel.run(problem).output, 0) + "\n";
}

}  // namespace
}  // namespace paged::parts_of_wide_address

namespace paged {

Invariant wide_address() {
  using namespace parts_of_wide_address;
  return {"wide-address",
          "Blocks whose addresses exceed 2^31 elements are read as others are.",
          "table' = table + n, block_stride * n >= 2^31 (fp8: 2^32, too)  =>  o' = o, bit for bit",
          "the same blocks behind 2^31 elements: address space on the CPU machine, memory on a GPU",
          "a block id multiplied by a stride in 32 bits",
          "An access outside the allocation, far before or behind it, is the product that wrapped; "
          "widen the block id before it is multiplied.",
          cases,
          {},
          check,
          example};
}

}  // namespace paged
