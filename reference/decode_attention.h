// What is right: paged decode attention in double precision, with every intermediate.
#pragma once
#include "reference/decode_problem.h"

#include <Eigen/Core>

#include <vector>

namespace paged {

/// Keys and values of one (sequence, KV head) in logical order, dequantised. [seq_len, head_size]
struct GatheredKv {
  Eigen::MatrixXd keys;
  Eigen::MatrixXd values;
};

/// Walks the block table of a sequence and collects its tokens in logical order.
GatheredKv gather(const DecodeProblem& problem, int seq, int kv_head);

/// Everything that attention computes for one (sequence, query head). With L = seq_len:
/// \f{eqnarray*}{
///   l_t &=& \mathit{scale}\; q \cdot k_t + \mathit{slope}\,(t - (L - 1)) \qquad \mbox{logits}
///   \\ m   &=& \max_t l_t \qquad S = \sum_t e^{\,l_t - m} \qquad \mbox{maximum, sum}
///   \\ p_t &=& e^{\,l_t - m} / (S + 10^{-6}) \qquad \mbox{weights}
///   \\ \mathit{lse} &=& m + \log S \qquad o = \sum_t p_t\, v_t \qquad \mbox{output}
/// \f}
/// Tokens that block-sparse attention leaves out have logit -infinity and weight 0. Without any
/// token (an empty sequence), or if all logits are -infinity: maximum = lse = -infinity, sum = 0,
/// output = 0.
struct HeadAttention {
  Eigen::VectorXd logits;   // [seq_len]
  Eigen::VectorXd weights;  // [seq_len]
  Eigen::VectorXd output;   // [head_size]
  double maximum = 0;
  double sum = 0;
  double lse = 0;
};

/// Guard in the denominator of the weights.
inline constexpr double kDenominatorGuard = 1e-6;

/// Attention of one query head. `kv` is gather(problem, seq, kv_head_of(head, ...)).
HeadAttention attend(const DecodeProblem& problem, const GatheredKv& kv, int seq, int head);

/// Attention of one query head over tokens [first, end) alone, from the logits of all: what one
/// partition leaves for a merge of partitions. `whole` is attend(problem, kv, seq, head); logits
/// and weights of the result are [end - first]. Without any token that takes part: maximum = lse =
/// -infinity, sum = 0, output = 0.
HeadAttention attend_partition(const DecodeProblem& problem, const GatheredKv& kv,
                               const HeadAttention& whole, int seq, int head, int first, int end);

/// Attention of every (sequence, query head), at index seq * num_heads + head. The problem must be
/// valid. NaN and infinities in tokens that take part propagate as in IEEE arithmetic.
std::vector<HeadAttention> decode_attention(const DecodeProblem& problem);

}  // namespace paged
