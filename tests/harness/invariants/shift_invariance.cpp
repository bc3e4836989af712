#include "tests/harness/invariants/all.h"
#include "tests/harness/invariants/cases.h"
#include "tests/harness/invariants/moved_problem.h"
#include "tests/harness/invariants/worked_example.h"
#include "tests/harness/replaced_values.h"

#include <cmath>
#include <iterator>

namespace paged::parts_of_shift_invariance {
namespace {

std::vector<CaseSpec> cases(ScalarType scalar, std::uint64_t seed) {
  return {make_case(scalar, {4, 2, 64, 16}, {17, 40, 1}, "peaked", seed),
          make_case(scalar, {2, 1, 128, 16}, {100}, "normal", seed)};
}

/// Dimension 0 of every query is this, so that keys there move all logits of a head alike, exactly.
constexpr double kQueryZero = 8;

/// The problem with keys of `stored` in dimension 0.
DecodeProblem with_logits_moved(const DecodeProblem& problem, double stored) {
  DecodeProblem moved = problem;
  for (std::int64_t row = 0; row < problem.query.size(); row += problem.head_size)
    moved.query.write(row, kQueryZero);
  for (std::int64_t block = 0; block < problem.num_blocks(); ++block)
    for (int kv_head = 0; kv_head < problem.num_kv_heads; ++kv_head)
      for (int offset = 0; offset < problem.block_size; ++offset)
        moved.key_cache.write(key_index(problem, block, kv_head, offset, 0), stored);
  return moved;
}

/// The key that moves logits by about `shift`.
double key_for(const DecodeProblem& problem, double shift) {
  return shift / (kQueryZero * problem.scale * problem.k_scale);
}

std::string refuses(const DecodeProblem& problem) {
  return problem.scale == 0 ? "its scale is 0, so that no key moves a logit" : "";
}

Verdict check(KernelUnderTest& kernel, const Case& c, std::uint64_t) {
  // Some within the range of exp() in f32, some beyond it.
  constexpr double kShifts[] = {-40, 40, -200, 200};
  return try_moved_problems(
      kernel, with_logits_moved(c.problem, 0), std::size(kShifts), [&](int i) {
        return MovedProblem{"with all logits moved by about " +
                                std::to_string(std::lround(kShifts[i])) +
                                " (the output without that stands for the reference)",
                            with_logits_moved(c.problem, key_for(c.problem, kShifts[i]))};
      });
}

std::string example(KernelUnderTest& kernel) {
  const DecodeProblem problem = example_problem();
  std::string lines;
  for (const double shift : {0.0, -40.0, 200.0}) {
    const DecodeProblem moved = with_logits_moved(problem, key_for(problem, shift));
    const DecodeOutputs outputs = kernel.run(moved, {.statistics = true});
    lines += text("shift %4.0f: maximum %9.4f, sum %.4f, LSE %9.4f, output[0] %.5f\n", shift,
                  outputs.maxima[0], outputs.sums[0], outputs.lse[0], outputs.output.read(0));
  }
  return lines + text(
                     "without a maximum, exp(200) is infinite in f32, and exp(-40) = %.2g is less "
                     "than the denominator's 1e-6\n",
                     std::exp(-40.0));
}

}  // namespace
}  // namespace paged::parts_of_shift_invariance

namespace paged {

Invariant shift_invariance() {
  using namespace parts_of_shift_invariance;
  return {
      "shift-invariance",
      "Adding one constant to all logits changes nothing but maximum and LSE.",
      "l'_t = l_t + c for all t: |o' - o| <= bound' + bound, |LSE' - LSE - c| <= likewise",
      "queries of 8 in one dimension, and keys there that move the logits by -200, -40, 40, 200",
      "a missing or wrong maximum, such as one that starts at 0; a finite minus infinity; a "
      "guard beside an unshifted sum",
      "The shift at which it fails tells which: above about 88 exp() overflows, at -40 a sum "
      "is smaller than 1e-6, at -200 it vanishes.",
      cases,
      refuses,
      check,
      example};
}

}  // namespace paged
