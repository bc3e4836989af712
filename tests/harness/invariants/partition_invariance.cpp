#include "tests/harness/comparison.h"
#include "tests/harness/invariants/all.h"
#include "tests/harness/invariants/cases.h"
#include "tests/harness/invariants/worked_example.h"

#include <algorithm>
#include <cmath>

namespace paged::parts_of_partition_invariance {
namespace {

std::vector<CaseSpec> cases(ScalarType scalar, std::uint64_t seed) {
  // Partitions of one page of which block-sparse attention leaves whole ones out.
  CaseSpec sparse = make_case(scalar, {2, 1, 64, 16}, {150, 40}, "normal", seed);
  sparse.name += " block-sparse";
  sparse.block_sparse = {1, 3, 16, 1, 0};
  // Partitions and their merge must each scale, or not, what fp8 stores.
  CaseSpec fp8 = make_case(scalar, {2, 1, 64, 16}, {40, 17}, "peaked", seed);
  fp8.name += " cache e4m3";
  fp8.cache = CacheType::e4m3;
  fp8.k_scale = 0.25;
  fp8.v_scale = 0.5;
  return {make_case(scalar, {1, 1, 64, 16}, {1, 15, 16, 17, 511, 512, 513}, "peaked", seed),
          make_case(scalar, {1, 1, 64, 16}, {1023, 1024, 1025, 1100}, "peaked", seed),
          make_case(scalar, {2, 1, 128, 16}, {1100}, "needle", seed),
          make_case(scalar, {2, 1, 64, 8}, {0, 100}, "normal", seed),
          make_case(scalar, {2, 1, 64, 32}, {100, 33}, "negative-logits", seed),
          sparse,
          fp8};
}

Verdict check(KernelUnderTest& kernel, const Case& c, std::uint64_t) {
  const int block_size = c.problem.block_size;
  Verdict verdict;
  for (const int partition_size : {0, block_size, 2 * block_size, 512, 1024}) {
    DecodeProblem problem = c.problem;
    problem.variant = partition_size == 0 ? KernelVariant::v1 : KernelVariant::v2;
    if (partition_size > 0) problem.partition_size = partition_size;
    const ReferenceAnswer answer = reference_answer(problem, kernel.stage().arithmetic);
    const Comparison comparison =
        compare(problem, kernel.run(problem, RunOptions::with_intermediates()), answer);
    if (!comparison.passed) {
      verdict = Verdict::of(comparison, problem);
      verdict.message =
          (partition_size == 0 ? "unpartitioned, "
                               : "in partitions of " + std::to_string(partition_size) + ", ") +
          comparison.message;
      return verdict;
    }
    verdict.bound_used = std::max(verdict.bound_used, comparison.bound_used);
    verdict.max_abs_error = std::max(verdict.max_abs_error, comparison.max_abs_error);
  }
  return verdict;
}

std::string example(KernelUnderTest& kernel) {
  DecodeProblem problem = example_problem({40});
  problem.variant = KernelVariant::v1;
  const DecodeOutputs whole = kernel.run(problem, {.statistics = true});
  problem.variant = KernelVariant::v2;
  problem.partition_size = 16;
  const DecodeOutputs parts = kernel.run(problem, RunOptions::with_intermediates());
  std::string lines;
  double sum = 0;
  for (int j = 0; j < parts.partitions.partitions; ++j) {
    const double rescale = std::exp(double{parts.partitions.maxima[j]} - parts.maxima[0]);
    lines += text("partition %d: maximum %.4f, sum %.4f, to be multiplied by %.4f\n", j,
                  parts.partitions.maxima[j], parts.partitions.sums[j], rescale);
    sum += parts.partitions.sums[j] * rescale;
  }
  return lines +
         text("together: maximum %.4f, sum %.4f, output[0] %.5f\n", parts.maxima[0], sum,
              parts.output.read(0)) +
         text("without partitions: maximum %.4f, sum %.4f, output[0] %.5f\n", whole.maxima[0],
              whole.sums[0], whole.output.read(0));
}

}  // namespace
}  // namespace paged::parts_of_partition_invariance

namespace paged {

Invariant partition_invariance() {
  using namespace parts_of_partition_invariance;
  return {"partition-invariance",
          "Any partition size gives the same result, and so does none.",
          "|o(P) - o_ref| <= bound for P = B, 2B, 512, 1024 and unpartitioned; likewise maximum, "
          "sum and output of each partition",
          "V1 and V2 at lengths around one and two partitions, partitions of one page, empty "
          "sequences beside long ones",
          "a forgotten rescale; boundary tokens lost or counted twice; empty partitions; a wrong "
          "partition whose error the merge hides",
          "If only partitioned runs fail, compare what each partition left (maximum, sum, "
          "output) before the merge; if the edge tokens are wrong, look at where a partition "
          "begins and ends.",
          cases,
          {},
          check,
          example,
          /*needs_watching=*/false,
          &StageFeatures::partitions};
}

}  // namespace paged
