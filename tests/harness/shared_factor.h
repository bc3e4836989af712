// Mistakes that give all weights of a (sequence, head) one factor: a wrong denominator, a wrong
// scale of values.
#pragma once
#include "tests/harness/likely_cause.h"
#include "tests/harness/weight_evidence.h"

namespace paged {

/// The mistake with this factor, which must not disagree with what the other rows of the run show.
/// One number agrees with several mistakes sooner than many do: the sentence has all that explain
/// all rows, and there is an id only where it is that of all (either()).
LikelyCause cause_of_shared_factor(const Evidence& evidence, double factor);

}  // namespace paged
