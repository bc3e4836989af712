// A mistake and what it says of every (sequence, head), so that it can be held against all of them.
#pragma once
#include "tests/harness/likely_cause.h"
#include "tests/harness/whole_run.h"

namespace paged {

/// A cause, and what it says of the tokens of any row.
struct Hypothesis {
  LikelyCause cause;
  TokenWeights weights = {};  ///< not set: the cause is what is seen in one row, and nothing more
};

}  // namespace paged
