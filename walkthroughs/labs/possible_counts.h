// Counts that no kernel can have.
#pragma once
#include "kernels/counts.h"
#include "reference/decode_problem.h"

#include <string>

namespace paged::labs {

/// "" or that fewer sectors were loaded than keys, or values, have for all heads: then they are
/// read in a way that is not counted. Keys may be read in any phase but PV, values in any but QK.
std::string impossible_counts(const LaunchCounts& counted, const DecodeProblem& problem);

}  // namespace paged::labs
