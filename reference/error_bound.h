// How far a correct implementation may be from the reference, element by element.
#pragma once
#include "reference/decode_attention.h"
#include "reference/stage_arithmetic.h"

#include <Eigen/Core>

namespace paged {

/// Bounds on |computed - reference| of one (sequence, head).
struct HeadErrorBound {
  Eigen::VectorXd logits;  // [seq_len]
  Eigen::VectorXd output;  // [head_size]
  double lse = 0;
};

/// Derives the bounds from the data and the declared arithmetic, to first order in the unit
/// roundoff with the higher orders covered by a factor, in the manner of N. Higham, "Accuracy and
/// Stability of Numerical Algorithms", 2nd ed., section 3 (rounding error analysis of sums and
/// dot products). The derivation is in docs/error_bounds.md.
///
/// @param attention  attend(problem, kv, seq, head)
HeadErrorBound bound_error(const DecodeProblem& problem, const GatheredKv& kv,
                           const HeadAttention& attention, const StageArithmetic& arithmetic,
                           int seq, int head);

}  // namespace paged
