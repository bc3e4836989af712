#include "tests/harness/comparison.h"
#include "tests/harness/invariants/all.h"
#include "tests/harness/invariants/cases.h"
#include "tests/harness/invariants/worked_example.h"

#include <cmath>

namespace paged::parts_of_large_logits {
namespace {

std::vector<CaseSpec> cases(ScalarType scalar, std::uint64_t seed) {
  // All logits far below any finite stand-in for minus infinity.
  CaseSpec far_below = make_case(scalar, {2, 1, 64, 16}, {9, 33}, "negative-logits", seed);
  far_below.name += " at -6e4";
  far_below.key_values.logit = -6e4;
  return {make_case(scalar, {2, 1, 64, 16}, {17}, "large-logits", seed),
          make_case(scalar, {2, 1, 64, 8}, {1, 40}, "large-logits", seed),
          make_case(scalar, {4, 2, 128, 32}, {100}, "large-logits", seed), far_below};
}

std::string refuses(const DecodeProblem& problem) {
  // Where exp() of the bare logit neither overflows nor vanishes for all tokens.
  constexpr double kLeast = -87;
  constexpr double kGreatest = 88;
  for (const HeadAttention& head : decode_attention(problem))
    if (std::isfinite(head.maximum) && (head.maximum < kLeast || head.maximum > kGreatest))
      return "";
  return "the greatest logit of each head lies between -87 and 88";
}

Verdict check(KernelUnderTest& kernel, const Case& c, std::uint64_t) {
  const ReferenceAnswer answer = reference_answer(c.problem, kernel.stage().arithmetic);
  const Comparison comparison = compare(c.problem, kernel.run(c.problem), answer);
  return Verdict::of(comparison, c.problem);
}

std::string example(KernelUnderTest& kernel) {
  CaseSpec spec = make_case(ScalarType::f16, {1, 1}, {17}, "large-logits", 7);
  const DecodeProblem problem = build_case(spec).problem;
  const DecodeOutputs outputs = kernel.run(problem, {.logits = true, .statistics = true});
  return text("logits %.1f, %.1f, ... ; maximum %.1f\n", outputs.logits[0], outputs.logits[1],
              outputs.maxima[0]) +
         text("exp(%.1f) is %g in f32; exp(maximum - maximum) is %g; output[0] %.5f\n",
              outputs.maxima[0], static_cast<double>(std::exp(outputs.maxima[0])), std::exp(0.0),
              outputs.output.read(0));
}

}  // namespace
}  // namespace paged::parts_of_large_logits

namespace paged {

Invariant large_logits() {
  using namespace parts_of_large_logits;
  return {"large-logits",
          "Logits of +-1e4 and a single dominant token stay finite and right.",
          "logits in [-1e4, 1e4]: |o - o_ref| <= bound",
          "one token at 1e4 above others at 5e3 and -1e4; all logits near -6e4",
          "a softmax that doesn't subtract its maximum; a finite minus infinity; logits in f16",
          "NaN or infinity is exp() of a logit from which no maximum was subtracted; zeros "
          "where all logits are far below 0 are a maximum that started too high.",
          cases,
          refuses,
          check,
          example};
}

}  // namespace paged
