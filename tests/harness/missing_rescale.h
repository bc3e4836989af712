// An online softmax goes through the tokens once. When its maximum rises, what it has added up so
// far is of the old maximum, and must be multiplied by exp(old - new).
#pragma once
#include "tests/harness/likely_cause.h"
#include "tests/harness/weight_evidence.h"

namespace paged {

/// Which of accumulator and sum is not rescaled, if that explains the weights: tokens before a new
/// maximum then weigh exp(new - old) times too much, or the sum counts them so. Tokens are taken
/// one by one, or in blocks of the cache or of 16 ... 256, from the first on or from the last.
LikelyCause cause_of_missing_rescale(const Evidence& evidence);

}  // namespace paged
