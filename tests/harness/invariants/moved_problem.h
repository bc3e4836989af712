// Problems that were changed so that the outputs must stay as they are, but for rounding.
#pragma once
#include "tests/harness/invariant.h"

#include <functional>
#include <string>

namespace paged {

/// A change that no output may show.
struct MovedProblem {
  std::string how;  ///< "with the tokens in reverse (the output in the old order ... reference)"
  DecodeProblem problem;
};

/// Runs `problem` and each of `count` changed ones. Their outputs must be those of `problem`,
/// within the bounds of both runs. Stops at the first that fails, else has the largest error of
/// all.
///
/// @param nth  makes the change number 0, 1, ..., called in this order
Verdict try_moved_problems(KernelUnderTest& kernel, const DecodeProblem& problem, int count,
                           const std::function<MovedProblem(int i)>& nth);

}  // namespace paged
