#include "tests/harness/coordinates.h"
#include "tests/harness/invariants/all.h"
#include "tests/harness/invariants/cases.h"
#include "tests/harness/invariants/worked_example.h"
#include "tests/harness/replaced_values.h"

#include <algorithm>
#include <cmath>

namespace paged::parts_of_convexity {
namespace {

std::vector<CaseSpec> cases(ScalarType scalar, std::uint64_t seed) {
  return {make_case(scalar, {4, 2, 64, 16}, {1, 17, 40}, "peaked", seed),
          make_case(scalar, {2, 1, 128, 16}, {9, 33}, "negative-logits", seed),
          make_case(scalar, {1, 1, 64, 16}, {100}, "normal", seed)};
}

/// Values close together in all tokens, and far away, to either side, wherever else a kernel might
/// look. Two significant bits, exact in every type.
DecodeProblem with_adversarial_values(const DecodeProblem& problem) {
  const std::vector<bool> used = slots_of(problem, all_seqs(problem));
  return with_values(problem, [&](std::int64_t block, int, int offset, int dim) {
    const std::int64_t slot = block * problem.block_size + offset;
    if (used[slot]) return (slot + dim) % 3 == 0 ? 1.0 : 1.25;
    return dim % 2 == 0 ? 256.0 : -256.0;
  });
}

/// Least and greatest value of the tokens that take part, in one dimension.
struct Hull {
  double least = INFINITY;
  double greatest = -INFINITY;
};

Hull hull_of(const GatheredKv& kv, const HeadAttention& attention, int dim) {
  Hull hull;
  for (Eigen::Index token = 0; token < attention.logits.size(); ++token) {
    if (attention.logits[token] == -INFINITY) continue;
    hull.least = std::min(hull.least, kv.values(token, dim));
    hull.greatest = std::max(hull.greatest, kv.values(token, dim));
  }
  return hull;
}

/// "" or which dimension of one (sequence, head) lies outside.
std::string outside(const DecodeProblem& problem, const DecodeOutputs& outputs,
                    const GatheredKv& kv, const HeadAttention& attention,
                    const HeadErrorBound& bound, int row, Verdict& verdict) {
  if (!std::isfinite(attention.lse)) return "";  // no token, or nothing that a hull says
  const double mass = attention.sum / (attention.sum + kDenominatorGuard);
  for (int dim = 0; dim < problem.head_size; ++dim) {
    const Hull hull = hull_of(kv, attention, dim);
    if (!std::isfinite(hull.least) || !std::isfinite(hull.greatest)) continue;
    const double got =
        outputs.output.read(static_cast<std::int64_t>(row) * problem.head_size + dim);
    const double excess = std::max(mass * hull.least - got, got - mass * hull.greatest);
    const double allowed = bound.output[dim];
    if (!(excess <= allowed))
      return ", dimension " + std::to_string(dim) + " is " + number(got) +
             ", outside the values of its tokens, which lie between " + number(hull.least) +
             " and " + number(hull.greatest) + " (+- " + number(allowed) + " is allowed)";
    if (excess > 0) verdict.bound_used = std::max(verdict.bound_used, excess / allowed);
  }
  return "";
}

Verdict check_values(KernelUnderTest& kernel, const DecodeProblem& problem) {
  const ReferenceAnswer answer = reference_answer(problem, kernel.stage().arithmetic);
  const DecodeOutputs outputs = kernel.run(problem);
  const int group = problem.num_heads / problem.num_kv_heads;
  Verdict verdict;
  for (int seq = 0; seq < problem.num_seqs(); ++seq) {
    GatheredKv kv;
    for (int head = 0; head < problem.num_heads; ++head) {
      const int row = seq * problem.num_heads + head;
      if (head % group == 0) kv = gather(problem, seq, head / group);
      const std::string wrong =
          outside(problem, outputs, kv, answer.attention[row], answer.bounds[row], row, verdict);
      if (!wrong.empty()) return Verdict::fail_at(place(seq, head) + wrong, problem, seq, head);
    }
  }
  return verdict;
}

Verdict check(KernelUnderTest& kernel, const Case& c, std::uint64_t) {
  const Verdict as_given = check_values(kernel, c.problem);
  if (!as_given.held) return as_given;
  Verdict adversarial = check_values(kernel, with_adversarial_values(c.problem));
  adversarial.bound_used = std::max(adversarial.bound_used, as_given.bound_used);
  return adversarial;
}

std::string example(KernelUnderTest& kernel) {
  const DecodeProblem problem = example_problem();
  const DecodeOutputs outputs = kernel.run(problem);
  const GatheredKv kv = gather(problem, 0, 0);
  const HeadAttention attention = attend(problem, kv, 0, 0);
  std::string lines;
  for (const int dim : {0, 1, 2}) {
    const Hull hull = hull_of(kv, attention, dim);
    lines += text("dimension %d: least value %.4f <= output %.4f <= greatest value %.4f\n", dim,
                  hull.least, outputs.output.read(dim), hull.greatest);
  }
  return lines;
}

}  // namespace
}  // namespace paged::parts_of_convexity

namespace paged {

Invariant convexity() {
  using namespace parts_of_convexity;
  return {"convexity",
          "Each output lies between the least and the greatest value of the sequence's own tokens.",
          "min_t v_t S / (S + 1e-6) - bound <= o <= max_t v_t S / (S + 1e-6) + bound, in each "
          "dimension",
          "random values; then values close together, with +-256 in every slot of nobody's",
          "weights that are negative or add up to more than 1; foreign tokens; a tail that weighs",
          "An output outside can't be an average of the sequence's values: near 256 it has taken "
          "part of a slot that isn't the sequence's, else its weights don't add up to 1.",
          cases,
          {},
          check,
          example};
}

}  // namespace paged
