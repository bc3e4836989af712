#include "reference/cache_layout.h"
#include "tests/harness/coordinates.h"
#include "tests/harness/counted_noun.h"
#include "tests/harness/invariants/all.h"
#include "tests/harness/invariants/cases.h"
#include "tests/harness/invariants/worked_example.h"
#include "tests/harness/recovered_weights.h"

#include <algorithm>
#include <cmath>

namespace paged::parts_of_probability_mass {
namespace {

std::vector<CaseSpec> cases(ScalarType scalar, std::uint64_t seed) {
  return {make_case(scalar, {2, 1, 64, 16}, {17, 1, 40}, "peaked", seed),
          make_case(scalar, {4, 2, 64, 16}, {50}, "normal", seed),
          make_case(scalar, {2, 1, 128, 16}, {9, 33}, "negative-logits", seed),
          make_case(scalar, {1, 1, 64, 16}, {530}, "normal", seed)};
}

/// Counts each slot under the position that its block's owner has it at. Slots of other sequences
/// are counted, too, and so is what a head wrongly puts there.
LabelledWeights weights_by_position(KernelUnderTest& kernel, const DecodeProblem& problem) {
  std::vector<int> first(problem.num_blocks(), -1);
  int labels = 0;
  for (int seq = 0; seq < problem.num_seqs(); ++seq)
    for (int page = 0; page < num_pages(problem.seq_lens[seq], problem.block_size); ++page) {
      first[problem.block_table(seq)[page]] = page * problem.block_size;
      labels = std::max(labels, (page + 1) * problem.block_size);
    }
  return recover_labelled_weights(kernel, problem, labels,
                                  [&](std::int64_t block, int, int offset) {
                                    return first[block] < 0 ? -1 : first[block] + offset;
                                  });
}

/// "" or what is wrong with the weights of one (sequence, head).
std::string wrong_mass(const LabelledWeights& weights, const DecodeProblem& problem, int row,
                       Verdict& verdict) {
  for (Eigen::Index label = 0; label < weights.got.cols(); ++label)
    if (!(weights.got(row, label) >= 0))
      return "the weight of token " + std::to_string(label) + " is " +
             number(weights.got(row, label)) + "; no weight is below 0";
  // sum exp(l - m) / (sum + 1e-6): what the reference's weights add up to.
  const double got = weights.got.row(row).sum();
  const double expected = weights.reference.row(row).sum();
  const double bound = weights.bound.row(row).sum();
  const double error = std::abs(got - expected);
  verdict.max_abs_error = std::max(verdict.max_abs_error, error);
  if (error > 0) verdict.bound_used = std::max(verdict.bound_used, error / bound);
  if (error <= bound) return "";
  return "the weights of " + counted(problem.seq_lens[row / problem.num_heads], "token") +
         " add up to " + number(got) + "; they must to " + number(expected) + " +- " +
         number(bound);
}

Verdict check(KernelUnderTest& kernel, const Case& c, std::uint64_t) {
  const DecodeProblem& problem = c.problem;
  const LabelledWeights weights = weights_by_position(kernel, problem);
  Verdict verdict;
  for (int row = 0; row < weights.got.rows(); ++row) {
    const int seq = row / problem.num_heads;
    const int head = row % problem.num_heads;
    const std::string wrong = wrong_mass(weights, problem, row, verdict);
    if (!wrong.empty())
      return Verdict::fail_at(place(seq, head) + ": " + wrong, problem, seq, head);
  }
  return verdict;
}

std::string example(KernelUnderTest& kernel) {
  const DecodeProblem problem = example_problem();
  const LabelledWeights weights = weights_by_position(kernel, problem);
  const HeadAttention attention = attend(problem, gather(problem, 0, 0), 0, 0);
  std::string lines = text("19 tokens; S = %.4f, so the weights add up to S / (S + 1e-6) = %.9f\n",
                           attention.sum, attention.sum / (attention.sum + kDenominatorGuard));
  for (const int token : {0, 1, 18})
    lines += text("weight of token %d: %.5f, by the reference %.5f\n", token, weights.got(0, token),
                  weights.reference(0, token));
  return lines + text("all 19, as recovered from two runs: %.9f +- %.2g\n", weights.got.sum(),
                      weights.bound.sum());
}

}  // namespace
}  // namespace paged::parts_of_probability_mass

namespace paged {

Invariant probability_mass() {
  using namespace parts_of_probability_mass;
  return {"probability-mass",
          "The weights are at least 0 and add up to S / (S + 1e-6).",
          "p_t >= 0, |sum p_t - S / (S + 1e-6)| <= sum of the bounds of p_t, S = sum exp(l_t - m)",
          "the weights are recovered with unit vectors for values, head_size tokens a run",
          "padding in the denominator; a wrong or missing normaliser; a denominator that isn't "
          "rescaled",
          "A sum above 1 has too small a denominator or counts tokens twice, one below 1 has too "
          "large a denominator or loses tokens. The report names the token that is most wrong.",
          cases,
          {},
          check,
          example};
}

}  // namespace paged
