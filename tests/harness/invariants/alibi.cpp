#include "tests/harness/alibi_slopes.h"
#include "tests/harness/coordinates.h"
#include "tests/harness/invariants/all.h"
#include "tests/harness/invariants/cases.h"
#include "tests/harness/invariants/worked_example.h"

#include <cmath>

namespace paged::parts_of_alibi {
namespace {

std::vector<CaseSpec> cases(ScalarType scalar, std::uint64_t seed) {
  return {make_case(scalar, {6, 3, 64, 16}, {1, 17, 45}, "normal", seed),
          make_case(scalar, {8, 2, 128, 16}, {40}, "peaked", seed),
          make_case(scalar, {3, 1, 64, 16}, {530}, "normal", seed)};
}

/// The problem with the slopes of the paper, if it has none.
DecodeProblem with_slopes(const DecodeProblem& problem) {
  DecodeProblem biased = problem;
  if (!biased.alibi_slopes.empty()) return biased;
  for (const double slope : alibi_slopes(problem.num_heads))
    biased.alibi_slopes.push_back(static_cast<float>(slope));
  return biased;
}

/// "" or the first token whose logit the slopes don't move as they must.
std::string wrong_bias(const DecodeProblem& problem, const DecodeOutputs& biased,
                       const ReferenceAnswer& answer, const DecodeOutputs& plain,
                       const ReferenceAnswer& plain_answer, int row) {
  if (biased.logits.empty()) return "";  // a kernel that doesn't hand them out
  const int seq_len = problem.seq_lens[row / problem.num_heads];
  const double slope = problem.alibi_slopes[row % problem.num_heads];
  for (int token = 0; token < seq_len; ++token) {
    if (std::isinf(answer.attention[row].logits[token])) continue;
    const std::size_t i = static_cast<std::size_t>(row) * biased.max_seq_len + token;
    const double got = static_cast<double>(biased.logits[i]) - plain.logits[i];
    const double expected = slope * (token - (seq_len - 1));
    const double bound = answer.bounds[row].logits[token] + plain_answer.bounds[row].logits[token];
    if (!(std::abs(got - expected) <= bound))
      return "the bias of token " + std::to_string(token) + " of " + std::to_string(seq_len) +
             " is " + number(got) + "; slope " + number(slope) + " times " +
             std::to_string(token - (seq_len - 1)) + " is " + number(expected) + " +- " +
             number(bound);
  }
  return "";
}

Verdict check(KernelUnderTest& kernel, const Case& c, std::uint64_t) {
  const StageArithmetic& arithmetic = kernel.stage().arithmetic;
  const DecodeProblem problem = with_slopes(c.problem);
  DecodeProblem plain = problem;
  plain.alibi_slopes.clear();
  const DecodeOutputs outputs = kernel.run(problem, RunOptions::with_intermediates());
  const ReferenceAnswer answer = reference_answer(problem, arithmetic);
  const DecodeOutputs plain_outputs = kernel.run(plain, {.logits = true});
  const ReferenceAnswer plain_answer = reference_answer(plain, arithmetic);
  for (int row = 0; row < problem.num_seqs() * problem.num_heads; ++row) {
    const std::string wrong =
        wrong_bias(problem, outputs, answer, plain_outputs, plain_answer, row);
    const int seq = row / problem.num_heads;
    const int head = row % problem.num_heads;
    if (!wrong.empty())
      return Verdict::fail_at(place(seq, head) + ": " + wrong, problem, seq, head);
  }
  return Verdict::of(compare(problem, outputs, answer), problem);
}

std::string example(KernelUnderTest& kernel) {
  std::string lines = "slopes of 6 heads:";
  for (const double slope : alibi_slopes(6)) lines += text(" %.6g", slope);
  const DecodeProblem problem = with_slopes(example_problem({19}, {6, 3}));
  DecodeProblem plain = problem;
  plain.alibi_slopes.clear();
  const DecodeOutputs biased = kernel.run(problem, {.logits = true});
  const DecodeOutputs unbiased = kernel.run(plain, {.logits = true});
  lines += "\n";
  for (const int token : {0, 17, 18})
    lines += text(
        "head 0, token %2d of 19: logit %.4f, without slopes %.4f, difference %.4f = "
        "0.25 * %d\n",
        token, biased.logits[token], unbiased.logits[token],
        biased.logits[token] - unbiased.logits[token], token - 18);
  return lines + text(
                     "one off: every bias is 0.25 less, LSE %.4f instead of %.4f, and the output "
                     "doesn't move\n",
                     biased.lse[0] - 0.25, biased.lse[0]);
}

}  // namespace
}  // namespace paged::parts_of_alibi

namespace paged {

Invariant alibi() {
  using namespace parts_of_alibi;
  return {"alibi",
          "ALiBi adds nothing to the last token's logit and negative multiples of the slope to "
          "older ones.",
          "l_t = scale q.k_t + slope_h (t - (L - 1)); logits, LSE and output within their bounds",
          "slopes of the ALiBi paper for 3, 6 and 8 heads; logits with and without slopes are "
          "subtracted; logits, LSE and output are compared with the reference",
          "the sign; an off-by-one position, invisible in the output; another head's slope; slopes "
          "left out",
          "If all biases of a head are off by one slope, the position is off by one; if they grow "
          "with age, the sign is wrong.",
          cases,
          {},
          check,
          example,
          /*needs_watching=*/false,
          &StageFeatures::alibi};
}

}  // namespace paged
