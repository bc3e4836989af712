// Counts that no kernel can have.
#pragma once
#include "kernels/counts.h"
#include "reference/decode_problem.h"
#include "walkthroughs/labs/lab.h"

#include <string>

namespace paged::labs {

/// Both return "" or one sentence.
/// That fewer sectors were loaded than keys, or values, have for all heads: then they are
/// read in a way that is not counted. Keys may be read in any phase but PV, values in any but QK.
std::string impossible_counts(const LaunchCounts& counted, const DecodeProblem& problem);

/// That fewer requests went to shared memory than what stands there and a hole has to read
/// takes, beside those of the code round the hole, which are as predicted. Phases do not matter: a
/// hole may name what it likes.
std::string impossible_shared_loads(const LaunchCounts& counted, const CountsByPhase& predicted,
                                    const DecodeProblem& problem, SharedInput input);

}  // namespace paged::labs
