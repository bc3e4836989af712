// How far a correct implementation may be from the reference, element by element.
#pragma once
#include "reference/decode_attention.h"
#include "reference/stage_arithmetic.h"

#include <Eigen/Core>

#include <vector>

namespace paged {

/// Bounds on |computed - reference| of one (sequence, head), or of one partition of it.
struct HeadErrorBound {
  Eigen::VectorXd logits;  // [seq_len], or the partition's tokens
  Eigen::VectorXd output;  // [head_size]
  double maximum = 0;
  double sum = 0;
  double lse = 0;
};

/// The statistics of a softmax, as an arithmetic has them.
struct ExpectedStatistics {
  double maximum = 0;  ///< what is subtracted from the logits
  double sum = 0;      ///< of exp(logit - maximum)
};

/// Those of `attention`: where the arithmetic subtracts no maximum, 0 and the sum of exp(logit).
ExpectedStatistics expected_statistics(const HeadAttention& attention,
                                       const StageArithmetic& arithmetic);

/// Derives the bounds from the data and the declared arithmetic, to first order in the unit
/// roundoff with the higher orders covered by a factor, in the manner of N. Higham, "Accuracy and
/// Stability of Numerical Algorithms", 2nd ed., section 3 (rounding error analysis of sums and
/// dot products). The derivation is in docs/error_bounds.md.
///
/// @param attention  attend(problem, kv, seq, head)
HeadErrorBound bound_error(const DecodeProblem& problem, const GatheredKv& kv,
                           const HeadAttention& attention, const StageArithmetic& arithmetic,
                           int seq, int head);

/// The same for a partition that starts at token `first`: its maximum, its sum, and its output
/// normalised within itself, which stays in f32.
///
/// @param partition  attend_partition(problem, kv, whole, seq, head, first, end)
/// @param whole      bound_error() of the whole head
HeadErrorBound bound_partition_error(const DecodeProblem& problem, const GatheredKv& kv,
                                     const HeadAttention& partition, const HeadErrorBound& whole,
                                     const StageArithmetic& arithmetic, int first);

/// bound_error() where values are unit vectors, in time that grows with tokens and dimensions, not
/// with their product: token t's value is `unit` in dimension dims[t], and 0 in all others.
///
/// @param kv         its keys alone are read
/// @param attention  of these values; its output may have any number of dimensions
/// @param dims       [seq_len], each less than they are
HeadErrorBound bound_unit_value_error(const DecodeProblem& problem, const GatheredKv& kv,
                                      const HeadAttention& attention,
                                      const StageArithmetic& arithmetic, int seq, int head,
                                      const std::vector<int>& dims, double unit);

}  // namespace paged
