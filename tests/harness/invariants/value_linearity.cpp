#include "tests/harness/combined_answer.h"
#include "tests/harness/invariants/all.h"
#include "tests/harness/invariants/cases.h"
#include "tests/harness/invariants/worked_example.h"
#include "tests/harness/random.h"
#include "tests/harness/replaced_values.h"

namespace paged::parts_of_value_linearity {
namespace {

std::vector<CaseSpec> cases(ScalarType scalar, std::uint64_t seed) {
  return {make_case(scalar, {4, 2, 64, 16}, {17, 40, 1}, "peaked", seed),
          make_case(scalar, {1, 1, 128, 16}, {100}, "normal", seed),
          make_case(scalar, {1, 1, 64, 16}, {530}, "normal", seed)};
}

/// Powers of two, so that the combination of values from -1, 0, 1 is exact in every type.
constexpr double kA = 2;
constexpr double kB = -0.5;

/// The two sets of values and their combination.
struct Values {
  DecodeProblem first, second, combined;
};

Values values_of(const DecodeProblem& problem, std::uint64_t seed) {
  Random random(seed * 3 + 17);
  const auto draw = [&](auto...) { return static_cast<double>(random.below(3) - 1); };
  Values values{with_values(problem, draw), with_values(problem, draw), problem};
  for (std::int64_t i = 0; i < problem.value_cache.size(); ++i)
    values.combined.value_cache.write(
        i, kA * values.first.value_cache.read(i) + kB * values.second.value_cache.read(i));
  return values;
}

Verdict check(KernelUnderTest& kernel, const Case& c, std::uint64_t seed) {
  const Values values = values_of(c.problem, seed);
  const StageArithmetic& arithmetic = kernel.stage().arithmetic;
  const DecodeOutputs first = kernel.run(values.first);
  const DecodeOutputs second = kernel.run(values.second);
  const ReferenceAnswer answer_first = reference_answer(values.first, arithmetic);
  const ReferenceAnswer answer_second = reference_answer(values.second, arithmetic);
  const ReferenceAnswer expected =
      combined_answer(reference_answer(values.combined, arithmetic),
                      {{kA, &first, &answer_first}, {kB, &second, &answer_second}});
  Verdict verdict =
      Verdict::of(compare(values.combined, kernel.run(values.combined), expected), values.combined);
  if (!verdict.held)
    verdict.message =
        "2 V1 - V2 / 2 doesn't give 2 o(V1) - o(V2) / 2, which stands for the "
        "reference here: " +
        verdict.message;
  return verdict;
}

std::string example(KernelUnderTest& kernel) {
  const Values values = values_of(example_problem(), 1);
  const double first = kernel.run(values.first).output.read(0);
  const double second = kernel.run(values.second).output.read(0);
  return text("o(V1) = %.5f, o(V2) = %.5f in dimension 0\n", first, second) +
         text("2 o(V1) - o(V2) / 2 = %.5f\n", kA * first + kB * second) +
         text("o(2 V1 - V2 / 2)    = %.5f\n", kernel.run(values.combined).output.read(0));
}

}  // namespace
}  // namespace paged::parts_of_value_linearity

namespace paged {

Invariant value_linearity() {
  using namespace parts_of_value_linearity;
  return {
      "value-linearity",
      "The output is linear in the values.",
      "|o(a V1 + b V2) - a o(V1) - b o(V2)| <= bound + |a| bound1 + |b| bound2, a = 2, b = -1/2",
      "random values of -1, 0, 1, so that the combination is exact in every type",
      "state carried over from one run, head or partition to the next; values that are clamped, "
      "skipped or masked by their size",
      "Something but V's own size decides what is added. Run the case twice: if the difference "
      "moves, state is carried over.",
      cases,
      {},
      check,
      example};
}

}  // namespace paged
