#include "tests/harness/missing_rescale.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

namespace paged {
namespace {

/// How the softmax goes through the tokens.
struct Walk {
  int step = 1;  ///< tokens that are taken at once
  bool from_last = false;
  bool by_partitions = false;

  /// "WHAT IS NOT RESCALED when the maximum rises: tokens before it WEIGH exp(new maximum - old
  /// maximum) times too much". Partitions are merged: no direction is said of them.
  std::string sentence(const std::string& what, const std::string& weigh) const {
    const std::string too_much = " exp(new maximum - old maximum) times too much";
    if (by_partitions)
      return what + " to the greater maximum where partitions of " + std::to_string(step) +
             " tokens meet: tokens of the lesser one " + weigh + too_much;
    return what + " when the maximum rises: tokens before it " + weigh + too_much;
  }
  /// How tokens are taken, if not one by one from the first on.
  std::string order() const {
    std::string text;
    if (by_partitions) return text;
    if (step > 1) text = " (tokens are taken " + std::to_string(step) + " at a time";
    if (from_last)
      text += (text.empty() ? " (tokens are taken" : ",") + std::string(" from the last on");
    return text.empty() ? text : text + ")";
  }
};

/// The maximum that each token's exponential is taken of. [seq_len]
Eigen::VectorXd running_maxima(const Eigen::VectorXd& logits, const Walk& walk) {
  const auto tokens = static_cast<int>(logits.size());
  const int steps = (tokens + walk.step - 1) / walk.step;
  Eigen::VectorXd maxima(tokens);
  double maximum = -INFINITY;
  for (int i = 0; i < steps; ++i) {
    const int first = (walk.from_last ? steps - 1 - i : i) * walk.step;
    const int count = std::min(walk.step, tokens - first);
    maximum = std::max(maximum, logits.segment(first, count).maxCoeff());
    maxima.segment(first, count).setConstant(maximum);
  }
  return maxima;
}

/// exp(logit - maximum), 0 for a token that takes no part.
Eigen::VectorXd exponentials(const Eigen::VectorXd& logits, const Eigen::VectorXd& maxima) {
  return logits.binaryExpr(maxima, [](double logit, double maximum) {
    return std::isinf(logit) ? 0.0 : std::exp(logit - maximum);
  });
}

/// The exponentials that stay, over the sum, or over their own where that is 0. [seq_len]
Eigen::VectorXd kept_of(const HeadAttention& attention, const Walk& walk, double sum) {
  if (!(attention.sum > 0)) return {};
  const Eigen::VectorXd kept =
      exponentials(attention.logits, running_maxima(attention.logits, walk));
  return kept / (sum > 0 ? sum : kept.sum());
}

/// By which all weights of one (sequence, head) are wrong where its sum is not rescaled.
std::optional<double> factor_of_sum(const HeadAttention& attention, const Walk& walk) {
  if (!(attention.sum > 0)) return std::nullopt;
  return attention.sum /
         exponentials(attention.logits, running_maxima(attention.logits, walk)).sum();
}

}  // namespace

LikelyCause cause_of_missing_rescale(const Evidence& e) {
  if (e.seq_len() < 2 || !(e.attention.sum > 0) || !e.is_within_sequence()) return {};
  const Eigen::VectorXd& logits = e.attention.logits;
  const Eigen::VectorXd maximum = Eigen::VectorXd::Constant(logits.size(), e.attention.maximum);
  const Eigen::VectorXd right = exponentials(logits, maximum);
  const double right_sum = right.sum();
  for (const bool from_last : {false, true})
    for (const int step :
         {1, e.problem.block_size, 16, 32, 64, 128, 256, e.problem.partition_size}) {
      const bool by_partitions = e.kernel.has_partitions && step == e.problem.partition_size;
      const Walk walk{step, from_last, by_partitions};
      const Eigen::VectorXd maxima = running_maxima(logits, walk);
      if (maxima == maximum) continue;
      const Eigen::VectorXd kept = exponentials(logits, maxima);
      if (e.are_explained_by_tokens(kept / right_sum) &&
          !e.run.first_against(
              [&](OutputRow, const HeadAttention& its) { return kept_of(its, walk, its.sum); }))
        return {"accumulator-not-rescaled",
                walk.sentence("the accumulator is not rescaled", "weigh") + walk.order()};
      if (e.are_explained_by_tokens(right / kept.sum()) &&
          e.are_all_multiples(
              [&](const MultipleOfReference& row) { return factor_of_sum(*row.attention, walk); }))
        return {"sum-not-rescaled", walk.sentence("the sum is not rescaled", "count") +
                                        " in the denominator" + walk.order()};
      if (e.are_explained_by_tokens(kept / kept.sum()) &&
          !e.run.first_against(
              [&](OutputRow, const HeadAttention& its) { return kept_of(its, walk, 0); }))
        return {"not-rescaled",
                walk.sentence("neither the accumulator nor the sum is rescaled", "count") +
                    walk.order()};
    }
  return {};
}

}  // namespace paged
