#include "reference/decode_attention.h"

#include "reference/cache_layout.h"

#include <cmath>
#include <limits>
#include <utility>

namespace paged {

GatheredKv gather(const DecodeProblem& problem, int seq, int kv_head) {
  const int seq_len = problem.seq_lens[seq];
  const std::int32_t* block_table = problem.block_table(seq);
  const double k_scale = is_fp8(problem.cache()) ? problem.k_scale : 1.0;
  const double v_scale = is_fp8(problem.cache()) ? problem.v_scale : 1.0;
  GatheredKv kv{Eigen::MatrixXd(seq_len, problem.head_size),   // [seq_len, head_size]
                Eigen::MatrixXd(seq_len, problem.head_size)};  // [seq_len, head_size]
  std::vector<double> row(problem.head_size);
  for (int token = 0; token < seq_len; ++token) {
    const std::int64_t block = block_table[token / problem.block_size];
    const int offset = token % problem.block_size;
    problem.key_cache.read(key_elements(problem, block, kv_head, offset), row);
    for (int dim = 0; dim < problem.head_size; ++dim) kv.keys(token, dim) = row[dim] * k_scale;
    problem.value_cache.read(value_elements(problem, block, kv_head, offset), row);
    for (int dim = 0; dim < problem.head_size; ++dim) kv.values(token, dim) = row[dim] * v_scale;
  }
  return kv;
}

namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

Eigen::VectorXd query_row(const DecodeProblem& problem, int seq, int head) {
  Eigen::VectorXd query(problem.head_size);
  const std::int64_t first =
      (static_cast<std::int64_t>(seq) * problem.num_heads + head) * problem.head_size;
  for (int dim = 0; dim < problem.head_size; ++dim) query[dim] = problem.query.read(first + dim);
  return query;
}

/// Which tokens of [first, end) take part: all, or those on the pages that block-sparse attention
/// keeps.
std::vector<int> attended_tokens(const DecodeProblem& problem, int seq, int head, int first,
                                 int end) {
  const int seq_len = problem.seq_lens[seq];
  const int kv_head = kv_head_of(head, problem.num_heads, problem.num_kv_heads);
  const int offset =
      problem.sparsity.stripe_offset(head, problem.num_heads, kv_head, problem.num_kv_heads);
  std::vector<int> tokens;
  for (int token = first; token < end; ++token)
    if (problem.sparsity.takes_part(token / problem.block_size, seq_len, problem.block_size,
                                    offset))
      tokens.push_back(token);
  return tokens;
}

/// Everything that follows from the logits of `tokens`, whose first possible one is `first`.
HeadAttention from_logits(const GatheredKv& kv, Eigen::VectorXd logits,
                          const std::vector<int>& tokens, int first) {
  HeadAttention result;
  result.logits = std::move(logits);
  result.weights = Eigen::VectorXd::Zero(result.logits.size());
  result.output = Eigen::VectorXd::Zero(kv.values.cols());
  result.maximum = kMinusInfinity;
  result.lse = kMinusInfinity;
  if (tokens.empty()) return result;
  // NaN wins over every number, as it must reach the output.
  result.maximum = result.logits.maxCoeff<Eigen::PropagateNaN>();
  // Only logits of -infinity: as if no token took part.
  if (result.maximum == kMinusInfinity) return result;
  for (int token : tokens) {
    double& weight = result.weights[token - first];
    weight = std::exp(result.logits[token - first] - result.maximum);
    result.sum += weight;
  }
  result.weights /= result.sum + kDenominatorGuard;
  result.lse = result.maximum + std::log(result.sum);
  // Only tokens that take part: a weight of 0 times a foreign NaN would be NaN.
  for (int token : tokens)
    result.output += result.weights[token - first] * kv.values.row(token).transpose();
  return result;
}

}  // namespace

HeadAttention attend(const DecodeProblem& problem, const GatheredKv& kv, int seq, int head) {
  const int seq_len = problem.seq_lens[seq];
  const Eigen::VectorXd query = query_row(problem, seq, head);
  const double slope = problem.alibi_slopes.empty() ? 0.0 : problem.alibi_slopes[head];
  const std::vector<int> tokens = attended_tokens(problem, seq, head, 0, seq_len);
  Eigen::VectorXd logits = Eigen::VectorXd::Constant(seq_len, kMinusInfinity);
  for (int token : tokens) {
    const double bias = slope == 0.0 ? 0.0 : slope * (token - (seq_len - 1));
    logits[token] = problem.scale * kv.keys.row(token).dot(query) + bias;
  }
  return from_logits(kv, std::move(logits), tokens, 0);
}

HeadAttention attend_partition(const DecodeProblem& problem, const GatheredKv& kv,
                               const HeadAttention& whole, int seq, int head, int first, int end) {
  return from_logits(kv, whole.logits.segment(first, end - first),
                     attended_tokens(problem, seq, head, first, end), first);
}

std::vector<HeadAttention> decode_attention(const DecodeProblem& problem) {
  std::vector<HeadAttention> results;
  results.reserve(static_cast<std::size_t>(problem.num_seqs()) * problem.num_heads);
  for (int seq = 0; seq < problem.num_seqs(); ++seq) {
    GatheredKv kv;
    for (int head = 0; head < problem.num_heads; ++head) {
      const int kv_head = kv_head_of(head, problem.num_heads, problem.num_kv_heads);
      const bool first_of_group = head % (problem.num_heads / problem.num_kv_heads) == 0;
      if (first_of_group) kv = gather(problem, seq, kv_head);
      results.push_back(attend(problem, kv, seq, head));
    }
  }
  return results;
}

}  // namespace paged
