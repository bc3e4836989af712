// Dot products that are added up over a whole warp in place of a thread group.
#pragma once
#include "tests/harness/likely_cause.h"
#include "tests/harness/weight_evidence.h"

namespace paged {

/// The groups of a warp have one token of a page each, so that a sum over all 32 lanes is that of
/// all the page's tokens, the slots past the end included. Then tokens of one page have equal
/// logits, up to a position bias. No cause if this does not explain the weights, or where nobody
/// knows of warps.
LikelyCause cause_of_sum_over_warp(const Evidence& evidence);

}  // namespace paged
