#include "tests/harness/invariants/moved_problem.h"

#include "tests/harness/combined_answer.h"

#include <algorithm>

namespace paged {

Verdict try_moved_problems(KernelUnderTest& kernel, const DecodeProblem& problem, int count,
                           const std::function<MovedProblem(int i)>& nth) {
  const StageArithmetic& arithmetic = kernel.stage().arithmetic;
  const DecodeOutputs before = kernel.run(problem);
  const ReferenceAnswer answer = reference_answer(problem, arithmetic);
  Verdict worst;
  for (int i = 0; i < count; ++i) {
    const MovedProblem moved = nth(i);
    const ReferenceAnswer expected =
        combined_answer(reference_answer(moved.problem, arithmetic), {{1, &before, &answer}});
    Verdict verdict =
        Verdict::of(compare(moved.problem, kernel.run(moved.problem), expected), moved.problem);
    if (!verdict.held) {
      verdict.message = moved.how + ": " + verdict.message;
      return verdict;
    }
    worst.bound_used = std::max(worst.bound_used, verdict.bound_used);
    worst.max_abs_error = std::max(worst.max_abs_error, verdict.max_abs_error);
  }
  return worst;
}

}  // namespace paged
