#include "reference/dot_product_bound.h"

#include <cmath>
#include <cstddef>
#include <vector>

namespace paged {
namespace {

constexpr double kUnit = 0x1p-24;

/// Exact partial sums, and what their roundings can have added up to.
class RunningSum {
 public:
  /// The first addition is to zero, and exact.
  void add(double term) {
    sum_ += term;
    if (!is_empty_) errors_ += kUnit * std::abs(sum_);
    is_empty_ = false;
  }
  void add(const RunningSum& other) {
    add(other.sum_);
    errors_ += other.errors_;
  }
  double errors() const { return errors_; }

 private:
  double sum_ = 0;
  double errors_ = 0;
  bool is_empty_ = true;
};

/// Adds sums i and i + distance for each distance in turn, as shuffles do; the result is in the first.
void add_as_tree(std::vector<RunningSum>& sums) {
  for (std::size_t distance = sums.size() / 2; distance >= 1; distance /= 2)
    for (std::size_t i = 0; i < distance; ++i) sums[i].add(sums[i + distance]);
}

}  // namespace

double bound_dot_product(const Eigen::VectorXd& products, const DotOrder& order) {
  const auto lanes = static_cast<std::size_t>(order.lanes);
  const auto vector = static_cast<std::size_t>(order.vector);
  std::vector<RunningSum> partial(lanes * vector);  // [lanes, vector]
  double rounded = 0;                               // of products
  for (Eigen::Index i = 0; i < products.size(); ++i) {
    const auto dim = static_cast<std::size_t>(i);
    partial[dim / vector % lanes * vector + dim % vector].add(products[i]);
    rounded += kUnit * std::abs(products[i]);
  }
  std::vector<RunningSum> of_lanes(lanes);
  for (std::size_t lane = 0; lane < lanes; ++lane)
    for (std::size_t j = 0; j < vector; ++j) of_lanes[lane].add(partial[lane * vector + j]);
  add_as_tree(of_lanes);
  // What was rounded is not the exact partial sum, but one with errors before it.
  const double higher_orders = 1 + 4 * kUnit * static_cast<double>(products.size());
  return (rounded + of_lanes[0].errors()) * higher_orders;
}

}  // namespace paged
