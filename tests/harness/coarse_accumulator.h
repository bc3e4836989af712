// Whether the weighted sum of values is kept in 16 bits, by an experiment.
#pragma once
#include "tests/harness/likely_cause.h"
#include "tests/harness/weight_evidence.h"

namespace paged {

/// That it is, if weights are nearly right. All tokens get the same weight, by a query of zeros, and
/// values of 1024, a little and -1024: the little is left in 24 bits, and lost in 11 or 8. Caches of
/// 8-bit floats, which cannot hold such values, are never tried.
LikelyCause cause_of_coarse_accumulator(KernelUnderTest& kernel, const Evidence& evidence);

}  // namespace paged
