#include "tests/harness/comparison.h"
#include "tests/harness/invariants/all.h"
#include "tests/harness/invariants/cases.h"
#include "tests/harness/invariants/worked_example.h"

#include <cstring>

namespace paged::parts_of_writes_only_output {
namespace {

std::vector<CaseSpec> cases(ScalarType scalar, std::uint64_t seed) {
  std::vector<CaseSpec> specs;
  // Head sizes that are no multiple of a warp or a vector leave rows unwritten most easily.
  for (int head_size : {32, 80, 120, 128, 256})
    specs.push_back(make_case(scalar, {2, 1, head_size, 16}, {35, 0, 16}, "normal", seed));
  return specs;
}

Verdict check(KernelUnderTest& kernel, const Case& c, std::uint64_t) {
  RunOptions options;
  options.compare_inputs = true;
  const DecodeOutputs over_nan = kernel.run(c.problem, options);
  options.output_fill = 0x3C;
  const DecodeOutputs over_numbers = kernel.run(c.problem, options);
  // What was not written still shows what was there before, and that differs.
  const std::string difference = bit_difference(over_nan, over_numbers);
  if (!difference.empty())
    return Verdict::fail("the output depends on what it held before the run (not written?): " +
                         difference);
  return {};
}

std::string example(KernelUnderTest& kernel) {
  const DecodeProblem problem = example_problem();
  std::string lines;
  for (const int fill : {0xFF, 0x3C}) {
    RunOptions options;
    options.output_fill = static_cast<std::uint8_t>(fill);
    lines += text("output full of bytes 0x%02X before: output[63] afterwards ", fill) +
             bits_of(kernel.run(problem, options).output, 63) + "\n";
  }
  return lines;
}

}  // namespace
}  // namespace paged::parts_of_writes_only_output

namespace paged {

Invariant writes_only_output() {
  using namespace parts_of_writes_only_output;
  return {"writes-only-output",
          "Every element of the output is written, and nothing else is.",
          "o doesn't depend on its old content; inputs and guard zones are unchanged",
          "two runs over different old contents; guard zones; inputs compared afterwards",
          "unwritten rows; out-of-bounds writes; caches changed in place",
          "Where the output depends on its old content, the elements named were not written, or "
          "added to. Damage names the buffer and how far outside the write was.",
          cases,
          {},
          check,
          example};
}

}  // namespace paged
