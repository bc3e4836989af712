#include "tests/harness/sum_over_warp.h"

#include <algorithm>
#include <cmath>

namespace paged {
namespace {

/// Logits of every slot of the sequence's pages, also past its end and of pages that block-sparse
/// attention leaves out; without a position bias. [pages * block_size]
Eigen::VectorXd plain_logits(const Evidence& e) {
  const int seq = e.recovered.seq;
  DecodeProblem all = e.problem;
  all.seq_lens[seq] = e.slots.own();
  all.alibi_slopes.clear();
  all.sparsity.vert_stride = 1;
  return attend(all, gather(all, seq, e.kv_head()), seq, e.recovered.head).logits;
}

}  // namespace

LikelyCause cause_of_sum_over_warp(const Evidence& e) {
  const int tokens = e.seq_len(), block_size = e.problem.block_size;
  if (!e.kernel.has_warps || block_size > 32 || tokens < 2 || !e.is_within_sequence()) return {};
  const Eigen::VectorXd plain = plain_logits(e);
  Eigen::VectorXd logits(tokens);
  for (int token = 0; token < tokens; ++token) {
    const double of_page = plain.segment(token / block_size * block_size, block_size).sum();
    const double bias = e.attention.logits[token] - plain[token];  // or -infinity: takes no part
    logits[token] = of_page + bias;
  }
  const Eigen::VectorXd weights = (logits.array() - logits.maxCoeff()).exp();
  if (!(weights.sum() > 0) || !e.are_explained_by_tokens(weights / weights.sum())) return {};
  return {"sum-over-warp",
          "the dot products of a page's tokens are added to one another: a sum over the lanes of a "
          "thread group takes all lanes of the warp (warp_sum without the group's size)"};
}

}  // namespace paged
