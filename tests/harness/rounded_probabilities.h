// Whether probabilities are rounded to 16 bits before they multiply values, by an experiment.
#pragma once
#include "tests/harness/likely_cause.h"
#include "tests/harness/weight_evidence.h"

namespace paged {

/// That they are, though the kernel does not declare it, if weights are nearly right. Errors as
/// small have many causes, so the kernel is run: of token t and the one with the greatest logit,
/// whose probability is 1, the values become 1 and -p, with p the probability of t rounded. If the
/// kernel rounds, too, they cancel to the last bit, and not otherwise. Caches of 8-bit floats,
/// which cannot hold the values of the experiment, are never tried.
LikelyCause cause_of_rounded_probabilities(KernelUnderTest& kernel, const Evidence& evidence);

}  // namespace paged
