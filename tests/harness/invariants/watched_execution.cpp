#include "tests/harness/invariants/watched_execution.h"

#include "tests/harness/alibi_slopes.h"
#include "tests/harness/invariants/cases.h"
#include "tests/harness/invariants/worked_example.h"

namespace paged {

std::vector<CaseSpec> watched_cases(ScalarType scalar, std::uint64_t seed) {
  CaseSpec options = make_case(scalar, {2, 1, 64, 16}, {100, 17}, "normal", seed);
  options.name += " alibi sparse";
  options.alibi_slopes = alibi_slopes(2);
  options.block_sparse = {1, 3, 16, 1, 0};
  CaseSpec fp8 = make_case(scalar, {4, 2, 128, 16}, {40}, "normal", seed);
  fp8.name += " cache e4m3";
  fp8.cache = CacheType::e4m3;
  return {make_case(scalar, {4, 2, 64, 16}, {35, 0, 16, 1}, "peaked", seed),
          make_case(scalar, {1, 1, 128, 16}, {600}, "normal", seed), options, fp8};
}

Verdict run_watched(const std::string& id, KernelUnderTest& kernel, const Case& c) {
  DecodeProblem problem = c.problem;
  RunOptions options = RunOptions::with_intermediates();
  options.compare_inputs = true;
  kernel.run(problem, options);
  if (kernel.stage().arithmetic.partitions) {
    problem.variant = KernelVariant::v2;
    kernel.run(problem, options);
  }
  for (const Fault& fault : kernel.take_attributed_faults()) {
    if (fault.breaks != id) continue;
    Verdict verdict = Verdict::fail(fault.text + advice_part(fault));
    verdict.faulty = true;
    verdict.broken_execution = id;
    verdict.finding = fault.kind;
    return verdict;
  }
  return {};
}

std::string watched_example(const std::string& id, KernelUnderTest& kernel) {
  const DecodeProblem problem = example_problem({19, 40}, {2, 1});
  const LaunchPlan plan = kernel.stage().plan(problem.shape());
  kernel.take_faults();
  kernel.run(problem, RunOptions::with_intermediates());
  int broken = 0;
  for (const Fault& fault : kernel.take_attributed_faults()) broken += fault.breaks == id ? 1 : 0;
  return text(
      "2 sequences, 2 query heads: %lld blocks of %d threads, %zu + %zu bytes of shared "
      "memory each, every access and barrier watched: %d findings\n",
      static_cast<long long>(plan.grid_x * plan.grid_y * plan.grid_z), plan.threads,
      plan.shared_bytes, plan.static_shared_bytes, broken);
}

}  // namespace paged
