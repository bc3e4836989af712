// A bound that is never used to a good part proves little, and one that is exceeded lies: over the
// whole grid, the largest share of each derived bound lies between 1/8 and 1.
#include "tests/harness/bound_shares.h"

#include "stages/registry.h"
#include "tests/harness/invariant.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <utility>

namespace paged {
namespace {

/// The cases of invariants that compare with the reference.
BoundShares shares_over_the_grid(const Stage& stage, Device& device) {
  KernelUnderTest kernel(stage, device);
  BoundShares shares;
  for (const char* id : {"reference", "partition-invariance", "alibi"})
    for (ScalarType scalar : stage.supports.scalars) {
      for (const CaseSpec& spec : find_invariant(id).cases(scalar, 1)) {
        DecodeProblem problem = build_case(spec).problem;
        if (!kernel.supports(problem)) continue;
        for (const KernelVariant variant : {KernelVariant::v1, KernelVariant::v2}) {
          if (variant == KernelVariant::v2 && !stage.arithmetic.partitions) continue;
          problem.variant = variant;
          if (variant == KernelVariant::v2) problem.partition_size = 32;
          const ReferenceAnswer answer = reference_answer(problem, stage.arithmetic);
          shares.include(
              shares_of(problem, kernel.run(problem, RunOptions::with_intermediates()), answer));
        }
      }
    }
  return shares;
}

void report(const std::string& what, const BoundShares& s) {
  std::printf(
      "%-24s output %.3f logits %.3f maximum %.3f sum %.3f LSE %.3f, partitions: maximum "
      "%.3f sum %.3f output %.3f\n",
      what.c_str(), s.output, s.logits, s.maximum, s.sum, s.lse, s.partition_maximum,
      s.partition_sum, s.partition_output);
}

TEST(BoundSharesTest, TheLargestLiesBetweenAnEighthAndOne) {
  const std::unique_ptr<Device> device = make_cpu_device();
  BoundShares all;
  for (const Stage& stage : stages(Backend::cpu, Checking::unchecked)) {
    const BoundShares shares = shares_over_the_grid(stage, *device);
    report(stage.name, shares);
    all.include(shares);
  }
  report("all", all);
  const std::pair<const char*, double> shares[] = {{"output", all.output},
                                                   {"logits", all.logits},
                                                   {"maximum", all.maximum},
                                                   {"sum", all.sum},
                                                   {"LSE", all.lse},
                                                   {"partition's maximum", all.partition_maximum},
                                                   {"partition's sum", all.partition_sum},
                                                   {"partition's output", all.partition_output}};
  for (const auto& [name, share] : shares) {
    EXPECT_GE(share, 0.125) << name;
    EXPECT_LE(share, 1) << name;
  }
}

}  // namespace
}  // namespace paged
