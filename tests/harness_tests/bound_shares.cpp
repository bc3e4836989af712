// bound_shares: how much of each derived bound the stages use on the CPU machine. A bound that is
// never used to a good part proves little, and one that is exceeded lies: fails unless, over the
// whole grid and for each stage, the largest share of each bound lies between 1/8 and 1.
// docs/error_bounds.md shows what it prints.
#include "tests/harness/bound_shares.h"

#include "stages/registry.h"
#include "tests/harness/case_builder.h"
#include "tests/harness/invariant.h"

#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <vector>

namespace paged {
namespace {

/// The cases of invariants that compare with the reference, of one scalar type.
BoundShares shares_over_the_grid(const Stage& stage, ScalarType scalar, Device& device) {
  KernelUnderTest kernel(stage, device);
  BoundShares shares;
  for (const char* id : {"reference", "partition-invariance", "alibi"})
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
  return shares;
}

void print_heading() {
  std::string line = "stage  type";
  for (const BoundShareName& one : bound_share_names()) line += "  " + std::string(one.name);
  std::printf("%s\n", line.c_str());
}

void print_row(int stage, ScalarType scalar, const BoundShares& shares,
               const StageArithmetic& arithmetic) {
  std::string line = std::to_string(stage);
  line.append(std::string("stage  ").size() - line.size(), ' ');
  line += name_of(scalar);
  line.append(std::string("stage  type").size() - line.size(), ' ');
  for (const BoundShareName& one : bound_share_names()) {
    char text[32] = "-";
    if (has_errors_in(one, arithmetic)) std::snprintf(text, sizeof text, "%.2f", shares.*one.share);
    line.append(2 + std::string(one.name).size() - std::string(text).size(), ' ');
    line += text;
  }
  std::printf("%s\n", line.c_str());
}

int run() {
  const std::unique_ptr<Device> device = make_cpu_device();
  print_heading();
  bool all_right = true;
  for (const Stage& stage : stages(Backend::cpu, Checking::unchecked)) {
    BoundShares of_all_types;
    for (const ScalarType scalar : stage.supports.scalars) {
      const BoundShares shares = shares_over_the_grid(stage, scalar, *device);
      print_row(stage.number, scalar, shares, stage.arithmetic);
      of_all_types.include(shares);
    }
    for (const std::string& complaint : complaints_about(of_all_types, stage.arithmetic)) {
      std::printf("stage %d: %s\n", stage.number, complaint.c_str());
      all_right = false;
    }
  }
  return all_right ? 0 : 1;
}

}  // namespace
}  // namespace paged

int main() {
  try {
    return paged::run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bound_shares: %s\n", error.what());
    return 1;
  }
}
