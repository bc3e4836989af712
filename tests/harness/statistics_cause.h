// From wrong statistics beside right attention weights to the mistake that makes them.
#pragma once
#include "tests/harness/comparison.h"
#include "tests/harness/likely_cause.h"

namespace paged {

/// The mistake that explains logits, maximum and LSE of one (sequence, head) that are wrong though
/// the weights are right; none if they are within their bounds, or if nothing explains them. What
/// moves all logits of a head alike, such as an ALiBi position that is one off, no weight can show.
/// `outputs` of a run of `problem`; what it doesn't hand out is not looked at.
LikelyCause cause_of_statistics(const DecodeProblem& problem, const DecodeOutputs& outputs,
                                const ReferenceAnswer& answer, int seq, int head);

}  // namespace paged
