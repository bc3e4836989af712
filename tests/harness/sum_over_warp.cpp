#include "tests/harness/sum_over_warp.h"

#include "reference/cache_layout.h"

namespace paged {
namespace {

/// Logits of every slot of a sequence's pages, also past its end and of pages that block-sparse
/// attention leaves out; without a position bias. [pages * block_size]
Eigen::VectorXd plain_logits(const DecodeProblem& problem, OutputRow row) {
  DecodeProblem all = problem;
  all.seq_lens[row.seq] =
      num_pages(problem.seq_lens[row.seq], problem.block_size) * problem.block_size;
  all.alibi_slopes.clear();
  all.sparsity.vert_stride = 1;
  const int kv_head = kv_head_of(row.head, problem.num_heads, problem.num_kv_heads);
  return attend(all, gather(all, row.seq, kv_head), row.seq, row.head).logits;
}

/// What tokens weigh where each has the sum of its page's logits.
Eigen::VectorXd weights_of_page_sums(const DecodeProblem& problem, OutputRow row,
                                     const HeadAttention& right) {
  const int tokens = problem.seq_lens[row.seq], block_size = problem.block_size;
  const Eigen::VectorXd plain = plain_logits(problem, row);
  Eigen::VectorXd logits(tokens);
  for (int token = 0; token < tokens; ++token) {
    const double of_page = plain.segment(token / block_size * block_size, block_size).sum();
    const double bias = right.logits[token] - plain[token];  // or -infinity: takes no part
    logits[token] = of_page + bias;
  }
  const Eigen::VectorXd weights = (logits.array() - logits.maxCoeff()).exp();
  if (!(weights.sum() > 0)) return {};
  return weights / weights.sum();
}

}  // namespace

LikelyCause cause_of_sum_over_warp(const Evidence& e) {
  if (!e.kernel.has_warps || e.problem.block_size > 32 || e.seq_len() < 2 ||
      !e.is_within_sequence())
    return {};
  // A sum of so many logits is off by as many times what one is.
  const auto weights_of = [&](OutputRow row, const HeadAttention& right) {
    return weights_of_page_sums(e.problem, row, right);
  };
  const Eigen::VectorXd weights = weights_of({e.recovered.seq, e.recovered.head}, e.attention);
  if (weights.size() == 0 || !e.are_explained_by_tokens(weights) ||
      e.run.first_against(weights_of, e.problem.block_size))
    return {};
  return {"sum-over-warp",
          "the dot products of a page's tokens are added to one another: a sum over the lanes of a "
          "thread group takes all lanes of the warp (warp_sum without the group's size)"};
}

}  // namespace paged
