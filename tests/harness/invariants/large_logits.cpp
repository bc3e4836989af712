#include "tests/harness/comparison.h"
#include "tests/harness/invariants/all.h"
#include "tests/harness/invariants/cases.h"

namespace paged {
namespace {

std::vector<CaseSpec> cases(ScalarType scalar, std::uint64_t seed) {
  return {make_case(scalar, {2, 1, 64, 16}, {17}, "large-logits", seed),
          make_case(scalar, {2, 1, 64, 8}, {1, 40}, "large-logits", seed),
          make_case(scalar, {4, 2, 128, 32}, {100}, "large-logits", seed)};
}

Verdict check(KernelUnderTest& kernel, const Case& c, std::uint64_t) {
  const ReferenceAnswer answer = reference_answer(c.problem, kernel.stage().arithmetic);
  const Comparison comparison = compare(c.problem, kernel.run(c.problem), answer);
  return {comparison.passed, comparison.message, comparison.max_abs_error, comparison.bound_used};
}

}  // namespace

Invariant large_logits() {
  return {"large-logits",
          "Logits of +-1e4 and a single dominant token stay finite and right.",
          "logits in [-1e4, 1e4]: |o - o_ref| <= bound",
          "one token at 1e4 above others at 5e3 and -1e4",
          "a softmax that doesn't subtract its maximum; logits in f16",
          cases,
          check};
}

}  // namespace paged
