#include "tests/harness/comparison.h"
#include "tests/harness/invariants/all.h"
#include "tests/harness/invariants/cases.h"

namespace paged {
namespace {

std::vector<CaseSpec> cases(ScalarType scalar, std::uint64_t seed) {
  std::vector<CaseSpec> specs;
  for (int block_size : kBlockSizes)
    specs.push_back(make_case(scalar, {4, 2, 64, block_size}, {130, 17, 33, 64}, "peaked", seed));
  return specs;
}

Verdict check(KernelUnderTest& kernel, const Case& c, std::uint64_t) {
  // A GPU schedules warps differently each time; repetition there costs little.
  const int repetitions = kernel.device().backend() == Backend::cuda ? 50 : 3;
  const DecodeOutputs first = kernel.run(c.problem);
  for (int run = 1; run < repetitions; ++run) {
    const std::string difference = bit_difference(first, kernel.run(c.problem));
    if (!difference.empty())
      return Verdict::fail("in run " + std::to_string(run + 1) + " of the same problem, " +
                           difference);
  }
  return {};
}

}  // namespace

Invariant determinism() {
  return {"determinism",
          "Two runs of the same problem give the same bits.",
          "o(run 1) = o(run 2), bit for bit",
          "3 runs on the CPU machine, 50 on a GPU",
          "races; floating-point atomics; reads of memory that nothing wrote",
          cases,
          {},
          check};
}

}  // namespace paged
