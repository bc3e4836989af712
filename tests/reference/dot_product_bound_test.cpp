// Dot products in float32, in the orders that stages add in: none leaves its bound, and the bounds
// are used to a good part.
#include "reference/dot_product_bound.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace paged {
namespace {

/// The products' sum as a lane's vectors, chains and the tree over lanes make it.
float summed(const std::vector<float>& query, const std::vector<float>& key, const DotOrder& order,
             bool fused) {
  const int lanes = order.lanes, vector = order.vector;
  std::vector<float> partial(static_cast<std::size_t>(lanes) * vector, 0.0F);
  for (std::size_t dim = 0; dim < query.size(); ++dim) {
    float& sum = partial[dim / vector % lanes * vector + dim % vector];
    if (fused) {
      sum = std::fma(query[dim], key[dim], sum);
    } else {
      const float product = query[dim] * key[dim];
      sum += product;
    }
  }
  std::vector<float> of_lanes(static_cast<std::size_t>(lanes), 0.0F);
  for (int lane = 0; lane < lanes; ++lane)
    for (int j = 0; j < vector; ++j) of_lanes[lane] += partial[lane * vector + j];
  for (int distance = lanes / 2; distance >= 1; distance /= 2)
    for (int i = 0; i < distance; ++i) of_lanes[i] += of_lanes[i + distance];
  return of_lanes[0];
}

/// The largest share of the bound over many random vectors; `all_positive` lets partial sums grow.
double largest_share(const DotOrder& order, int head_size, bool all_positive, bool fused) {
  std::mt19937 random(static_cast<unsigned>(head_size));
  std::normal_distribution<float> normal;
  double largest = 0;
  for (int round = 0; round < 500; ++round) {
    std::vector<float> query, key;
    Eigen::VectorXd products(head_size);
    for (int dim = 0; dim < head_size; ++dim) {
      query.push_back(all_positive ? std::abs(normal(random)) : normal(random));
      key.push_back(all_positive ? std::abs(normal(random)) : normal(random));
      products[dim] = static_cast<double>(query[dim]) * key[dim];
    }
    const double error = std::abs(summed(query, key, order, fused) - products.sum());
    largest = std::max(largest, error / bound_dot_product(products, order));
  }
  return largest;
}

TEST(DotProductBoundTest, CoversEveryOrderAndIsUsedToAnEighth) {
  for (const DotOrder order : {DotOrder{1, 1}, DotOrder{1, 8}, DotOrder{2, 4}, DotOrder{4, 2}})
    for (const int head_size : {32, 64})
      for (const bool all_positive : {false, true})
        for (const bool fused : {false, true}) {
          const double share = largest_share(order, head_size, all_positive, fused);
          EXPECT_LE(share, 1) << order.lanes << " lanes of " << order.vector;
          EXPECT_GE(share, all_positive ? 0.05 : 0.125)
              << order.lanes << " lanes of " << order.vector << ", head size " << head_size
              << (all_positive ? ", all positive" : "") << (fused ? ", fused" : "");
        }
}

TEST(DotProductBoundTest, KnowsThatAFewRoundingsAreExact) {
  const DotOrder chain;
  EXPECT_EQ(bound_dot_product(Eigen::VectorXd::Zero(8), chain), 0);
  // One product: it is rounded, and the addition to zero is not.
  Eigen::VectorXd one = Eigen::VectorXd::Zero(1);
  one[0] = 3;
  EXPECT_NEAR(bound_dot_product(one, chain), 3 * 0x1p-24, 1e-12);
  // In a chain 1 + 1 - 1 - 1: partial sums of 2, 1 and 0, and four products of 1.
  Eigen::VectorXd four(4);
  four << 1, 1, -1, -1;
  EXPECT_NEAR(bound_dot_product(four, chain), (4 + 2 + 1 + 0) * 0x1p-24, 1e-11);
  // As two lanes of one element: (1 - 1) + (1 - 1).
  EXPECT_NEAR(bound_dot_product(four, {2, 1}), 4 * 0x1p-24, 1e-11);
}

}  // namespace
}  // namespace paged
