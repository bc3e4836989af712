#include "tests/harness/comparison.h"
#include "tests/harness/invariants/all.h"
#include "tests/harness/invariants/cases.h"
#include "tests/harness/invariants/worked_example.h"

namespace paged::parts_of_strides {
namespace {

std::vector<CaseSpec> cases(ScalarType scalar, std::uint64_t seed) {
  CaseSpec fp8 = make_case(scalar, {4, 2, 64, 16}, {35, 16, 1}, "peaked", seed);
  fp8.name += " cache e4m3";
  fp8.cache = CacheType::e4m3;
  return {make_case(scalar, {4, 2, 64, 16}, {35, 16, 1}, "peaked", seed),
          make_case(scalar, {2, 1, 128, 16}, {17, 40}, "normal", seed), fp8};
}

struct Placing {
  std::string what;
  InputLayout layout;
  RunOptions options() const { return {.compare_inputs = true, .layout = layout}; }
};

/// One gap at a time, so that a failure names the stride; the last has both caches in one
/// allocation. Heads of a block have gaps in the classic layout alone.
std::vector<Placing> placings(paged_cache_layout cache_layout) {
  std::vector<Placing> all = {{"a gap between two sequences' queries", {.query_gap = 48}},
                              {"a gap between two blocks of keys", {.key_gaps = {0, 64}}},
                              {"a gap between two blocks of values", {.value_gaps = {0, 192}}}};
  if (cache_layout != PAGED_CLASSIC) return all;
  all.push_back({"a gap between a block's KV heads of keys", {.key_gaps = {64, 0}}});
  all.push_back({"a gap between a block's KV heads of values", {.value_gaps = {128, 0}}});
  all.push_back({"each block's values behind its keys, in one allocation",
                 {.arrangement = CacheArrangement::interleaved}});
  return all;
}

Verdict check(KernelUnderTest& kernel, const Case& c, std::uint64_t) {
  const DecodeOutputs together = kernel.run(c.problem);
  for (const Placing& placing : placings(kernel.stage().cache_layout)) {
    const std::string difference =
        bit_difference(together, kernel.run(c.problem, placing.options()));
    if (!difference.empty()) return Verdict::fail("with " + placing.what + ", " + difference);
  }
  return {};
}

std::string example(KernelUnderTest& kernel) {
  const DecodeProblem problem = example_problem();
  std::string lines = "no gaps: output[0] " + bits_of(kernel.run(problem).output, 0) + "\n";
  for (const Placing& placing : placings(kernel.stage().cache_layout))
    lines += placing.what + ": output[0] " +
             bits_of(kernel.run(problem, placing.options()).output, 0) + "\n";
  return lines;
}

}  // namespace
}  // namespace paged::parts_of_strides

namespace paged {

Invariant strides() {
  using namespace parts_of_strides;
  return {
      "strides",
      "Queries, blocks and KV heads are found by the strides that are given.",
      "stride' = stride + gap, NaN in the gaps  =>  o' = o, bit for bit",
      "gaps between queries, blocks and KV heads, one at a time, those of keys unlike those of "
      "values; keys and values in one allocation",
      "an address made of sizes alone; the strides of keys taken for values",
      "The gap that makes it fail names the stride that is not used: query_stride, or the block "
      "or head stride of keys or of values.",
      cases,
      {},
      check,
      example};
}

}  // namespace paged
