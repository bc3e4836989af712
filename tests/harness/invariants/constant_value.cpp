#include "tests/harness/coordinates.h"
#include "tests/harness/invariants/all.h"
#include "tests/harness/invariants/cases.h"
#include "tests/harness/invariants/worked_example.h"
#include "tests/harness/replaced_values.h"

#include <algorithm>
#include <cmath>

namespace paged::parts_of_constant_value {
namespace {

std::vector<CaseSpec> cases(ScalarType scalar, std::uint64_t seed) {
  CaseSpec fp8 = make_case(scalar, {4, 2, 64, 16}, {40, 17}, "peaked", seed);
  fp8.name += " cache e4m3";
  fp8.cache = CacheType::e4m3;
  fp8.k_scale = 0.25;
  fp8.v_scale = 0.5;
  return {make_case(scalar, {4, 2, 64, 16}, {1, 15, 16, 17, 40}, "peaked", seed),
          make_case(scalar, {2, 1, 128, 16}, {9, 33}, "negative-logits", seed),
          make_case(scalar, {1, 1, 64, 16}, {511, 512, 513}, "normal", seed), fp8};
}

/// A constant of each dimension, exact in every type: 0.5, -1, 1.5, -2, ...
double constant_of(int dim) { return (dim % 2 == 0 ? 0.5 : -0.5) * (dim % 7 + 1); }

/// The constant in all tokens of sequences, the opposite wherever else a kernel might look.
DecodeProblem with_constant_values(const DecodeProblem& problem) {
  const std::vector<bool> used = slots_of(problem, all_seqs(problem));
  return with_values(problem, [&](std::int64_t block, int, int offset, int dim) {
    return used[block * problem.block_size + offset] ? constant_of(dim) : -constant_of(dim);
  });
}

Verdict check(KernelUnderTest& kernel, const Case& c, std::uint64_t) {
  const DecodeProblem problem = with_constant_values(c.problem);
  const ReferenceAnswer answer = reference_answer(problem, kernel.stage().arithmetic);
  const DecodeOutputs outputs = kernel.run(problem);
  const double scale = is_fp8(problem.cache()) ? static_cast<double>(problem.v_scale) : 1.0;
  Verdict verdict;
  for (std::size_t row = 0; row < answer.attention.size(); ++row) {
    // The closed form: the reference's weights do not enter.
    const double sum = answer.attention[row].sum;
    const double mass = sum == 0 ? 0 : sum / (sum + kDenominatorGuard);
    for (int dim = 0; dim < problem.head_size; ++dim) {
      const double expected = scale * constant_of(dim) * mass;
      const double bound = answer.bounds[row].output[dim];
      const double got =
          outputs.output.read(static_cast<std::int64_t>(row) * problem.head_size + dim);
      const double error = std::abs(got - expected);
      const int seq = static_cast<int>(row) / problem.num_heads;
      const int head = static_cast<int>(row) % problem.num_heads;
      if (!(error <= bound))
        return Verdict::fail_at(place(seq, head) + ", dimension " + std::to_string(dim) + " is " +
                                    number(got) + " where every value is " +
                                    number(scale * constant_of(dim)) + ": off by " + number(error) +
                                    ", and " + number(bound) + " is allowed",
                                problem, seq, head);
      verdict.max_abs_error = std::max(verdict.max_abs_error, error);
      if (error > 0) verdict.bound_used = std::max(verdict.bound_used, error / bound);
    }
  }
  return verdict;
}

std::string example(KernelUnderTest& kernel) {
  const DecodeProblem problem = with_constant_values(example_problem());
  const DecodeOutputs outputs = kernel.run(problem);
  const HeadAttention attention = attend(problem, gather(problem, 0, 0), 0, 0);
  std::string lines;
  for (const int dim : {0, 1, 2})
    lines += text("dimension %d: value of every token %.1f, output %.6f\n", dim, constant_of(dim),
                  outputs.output.read(dim));
  return lines + text(
                     "if the last token (weight %.4f) were lost from the values only, dimension 2 "
                     "would be %.4f\n",
                     attention.weights[18], 1.5 * (1 - attention.weights[18]));
}

}  // namespace
}  // namespace paged::parts_of_constant_value

namespace paged {

Invariant constant_value() {
  using namespace parts_of_constant_value;
  return {"constant-value",
          "If every token has the same value, that is the output.",
          "v_t = c for all t: |o - c S / (S + 1e-6)| <= bound",
          "a constant of each dimension in all valid tokens, its opposite in every other slot",
          "tokens lost or doubled between softmax and weighted sum; a wrong denominator; foreign "
          "tokens; a wrong v_scale",
          "The output divided by the constant is the weight that arrived: below 1, tokens or their "
          "values are lost; above 1, doubled or the denominator is too small.",
          cases,
          {},
          check,
          example};
}

}  // namespace paged
