// How far a computed dot product may be from the exact one, along the order in which it is summed.
#pragma once
#include "reference/stage_arithmetic.h"

#include <Eigen/Core>

namespace paged {

/// Bound on the error of a sum of products in f32, without scales and biases, in the manner of a
/// running error analysis (N. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section
/// 3.3): each rounding counts with the number that was rounded, a product or a partial sum as it
/// really is.
///
/// @param products  the exact q_i k_i, [head_size]
double bound_dot_product(const Eigen::VectorXd& products, const DotOrder& order);

}  // namespace paged
