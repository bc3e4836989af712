#include "tests/harness/weight_patterns.h"

#include "reference/cache_layout.h"
#include "tests/harness/missing_rescale.h"
#include "tests/harness/mistaken_problem.h"
#include "tests/harness/shared_factor.h"
#include "tests/harness/token_hypotheses.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

namespace paged {

std::string owner_of(const DecodeProblem& problem, std::int64_t block) {
  for (int seq = 0; seq < problem.num_seqs(); ++seq) {
    const std::int32_t* row = problem.block_table(seq);
    const int pages = num_pages(problem.seq_lens[seq], problem.block_size);
    if (std::find(row, row + pages, block) != row + pages)
      return "sequence " + std::to_string(seq) + "'s";
  }
  return "nobody's";
}

bool explain_proportions(const Evidence& e, const ExpectedWeights& expected) {
  double got = 0, sum = 0;
  int tokens = 0;
  for (Eigen::Index label = 0; label < e.got().size(); ++label) {
    if (!(std::abs(e.got()[label]) > 0)) continue;
    got += e.got()[label];
    sum += expected.weights[label];
    tokens += expected.weights[label] > 8 * expected.bound[label] ? 1 : 0;
  }
  if (tokens < 4) return false;
  const double factor = got / sum;
  double off = 0, off_reference = 0;
  bool others_weigh = false;  // than the reference's
  for (Eigen::Index label = 0; label < e.got().size(); ++label) {
    const bool weighs = std::abs(e.got()[label]) > 0;
    others_weigh |= weighs ? e.reference.weights[label] == 0
                           : e.reference.weights[label] > 8 * e.reference.bound[label];
    if (!weighs) continue;
    const double error = std::abs(e.got()[label] - factor * expected.weights[label]);
    if (!(error <= (1 + std::abs(factor)) * expected.bound[label])) return false;
    off += error;
    off_reference += std::abs(e.got()[label] - e.reference.weights[label]);
  }
  return others_weigh && 2 * off <= off_reference;
}

namespace {

/// Logits beyond these leave the range of exp() in f32.
bool are_extreme(const HeadAttention& attention) {
  return attention.maximum < -80 || attention.maximum > 80;
}

LikelyCause not_numbers(const Evidence& e) {
  const auto nans = (e.got().array() != e.got().array()).count();
  const auto finite = e.got().allFinite();
  if (finite || !e.reference.weights.allFinite()) return {};
  if (e.attention.sum == 0)
    return {"empty-divided", "no token takes part, and 0 is divided by a sum of 0"};
  if (nans > 0 && nans < e.got().size())
    return {"dimensions-unwritten", "some dimensions of the output are never written"};
  if (are_extreme(e.attention))
    return {"maximum", "exp() of logits from which no, or the wrong, maximum was subtracted"};
  if (nans == 0)
    return {"not-a-number",
            "weights are infinite: exp() overflowed, or the denominator is 0 or lacks most of its "
            "terms"};
  return {"not-a-number",
          "NaN or infinity takes part in the softmax: unused slots, memory that nobody wrote, or "
          "-infinity minus itself where no token takes part"};
}

LikelyCause nothing_weighs(const Evidence& e) {
  if (e.got().cwiseAbs().maxCoeff() > 0) return {};
  if (are_extreme(e.attention))
    return {
        "maximum",
        "every exponential vanished: no, or the wrong, maximum was subtracted (a finite \"minus "
        "infinity\"?)"};
  // What a page of slots with logit 0, or a maximum of 0, would leave of the heaviest token.
  const double unshifted = std::exp(e.attention.lse);
  const double sum = e.attention.sum;
  const double slots = e.problem.block_size * std::exp(-e.attention.maximum);
  const double heaviest = e.reference.weights.maxCoeff();
  const double bound = e.reference.bound.maxCoeff();
  if (sum / (sum + slots) * heaviest <= bound &&
      unshifted / (unshifted + kDenominatorGuard) * heaviest > bound)
    return {
        "nothing-weighs",
        "every weight vanished: slots past the end are counted in the denominator as logits of 0, "
        "far above those of the tokens, or no page is walked"};
  std::string sentence = "no token has any weight: no page is walked, ";
  if (e.seq_len() == 1) sentence += "the only token is left out, ";
  if (e.kernel.has_partitions) sentence += "no partition is merged, ";
  sentence += "or the output is written ";
  sentence += e.kernel.has_warps ? "by threads that have no sum" : "before there is a sum";
  return {"nothing-weighs", sentence};
}

/// All the weight on each KV head, [num_kv_heads], as recover_weights() reads it of an
/// implementation that is right but for where it reads values.
Eigen::VectorXd kv_heads_read_through(const Evidence& e,
                                      const std::function<void(DecodeProblem& problem)>& edit) {
  DecodeProblem units = e.problem;
  units.value_cache = Tensor(units.cache(), units.value_cache.shape());
  for (std::int64_t block = 0; block < units.num_blocks(); ++block)
    for (int kv_head = 0; kv_head < units.num_kv_heads; ++kv_head)
      for (int offset = 0; offset < units.block_size; ++offset)
        units.value_cache.write(value_index(units, block, kv_head, offset, kv_head), 1);
  edit(units);
  const double scale = is_fp8(units.cache()) ? static_cast<double>(units.v_scale) : 1.0;
  const HeadAttention attention =
      attend(units, gather(units, e.recovered.seq, e.kv_head()), e.recovered.seq, e.recovered.head);
  return attention.output.head(units.num_kv_heads) / scale;
}

/// Whether a mistake about where values are read explains what was recovered.
bool is_explained_by(const MistakenReading& mistake, const Evidence& e) {
  const Eigen::VectorXd weights =
      weights_read_through(e.problem, e.recovered.seq, e.recovered.head, mistake.edit);
  // Where several tokens are read from one slot, and slots of another block, they are added up.
  const double least = 2 * e.reference.bound.maxCoeff();
  Eigen::VectorXd bound = least * (1 + weights.array() / e.reference.weights.maxCoeff());
  bound.tail(weights.size() - e.slots.own()) *= e.problem.block_size;
  if (!e.are_explained_by(weights, bound)) return false;
  const Eigen::VectorXd& by_head = e.recovered.by_kv_head;
  return mistake.cause == "value-layout" || by_head.size() == 0 ||
         agree(by_head, kv_heads_read_through(e, mistake.edit),
               Eigen::VectorXd::Constant(by_head.size(), std::max(0.002, 2 * least)));
}

/// Values that are right, but of another place: with `layouts`, of another place in the page, else
/// of another page of the KV head.
LikelyCause values_read_elsewhere(const Evidence& e, bool layouts) {
  if (e.got().cwiseAbs().maxCoeff() == 0) return {};
  for (const MistakenReading& mistake :
       mistaken_readings(e.problem, e.recovered.seq, e.recovered.head, e.kernel))
    if ((mistake.cause == "value-layout" || mistake.cause == "values-of-other-tokens") == layouts &&
        is_explained_by(mistake, e) && !e.run.first_against_reading(mistake.rule))
      return {mistake.cause, mistake.sentence};
  return {};
}

LikelyCause other_kv_head(const Evidence& e) {
  const Eigen::VectorXd& by_head = e.recovered.by_kv_head;
  if (by_head.size() == 0) return {};
  Eigen::Index heaviest = 0;
  const double most = by_head.cwiseAbs().maxCoeff(&heaviest);
  if (heaviest == e.kv_head() || !(most > 0.5 * by_head.cwiseAbs().sum())) return {};
  std::string sentence = "the values are those of KV head " + std::to_string(heaviest);
  for (const MistakenReading& mistake :
       mistaken_readings(e.problem, e.recovered.seq, e.recovered.head, e.kernel))
    if (mistake.cause == "value-strides" && is_explained_by(mistake, e) &&
        !e.run.first_against_reading(mistake.rule))
      sentence += ", or " + mistake.sentence;
  return {"wrong-kv-head", sentence};
}

LikelyCause one_factor(const Evidence& e) {
  if (!e.is_within_sequence()) return {};
  const auto factor = e.common_factor(0, e.seq_len());
  return factor ? cause_of_shared_factor(e, *factor) : LikelyCause{};
}

/// Right proportions among the tokens of each warp, wrong ones between them: in a softmax of W
/// warps a thread takes every 32 W-th token.
LikelyCause warps_not_combined(const Evidence& e) {
  if (!e.kernel.has_warps || !e.is_within_sequence() || e.seq_len() <= 32) return {};
  for (const int warps : {2, 4, 8})
    if (is_explained_by_groups(e, warps, [&](int token) { return token / 32 % warps; }))
      return {
          "warps-not-combined",
          "among the tokens of each warp the proportions are right, between warps they are not: a "
          "maximum or a sum is that of a warp, not of all " +
              std::to_string(warps)};
  return {};
}

/// The weights of logits that were rounded to f16. A logit near the middle between two numbers of
/// f16 may have gone either way, so a few tokens may be off by a step.
LikelyCause logits_in_f16(const Evidence& e) {
  if (!e.is_within_sequence() || !(e.attention.maximum < 65000)) return {};
  const Eigen::VectorXd rounded = e.attention.logits.unaryExpr(
      [](double logit) { return static_cast<double>(static_cast<float>(Eigen::half(logit))); });
  const Eigen::VectorXd weights = (rounded.array() - rounded.maxCoeff()).exp();
  const double sum = weights.sum();
  int off = 0, changed = 0;
  for (int token = 0; token < e.seq_len(); ++token) {
    const double bound = 2 * e.reference.bound[token];
    off += std::abs(e.got()[token] - weights[token] / sum) > bound ? 1 : 0;
    changed += std::abs(e.got()[token] - e.reference.weights[token]) > bound ? 1 : 0;
  }
  if (changed == 0 || 8 * off > changed) return {};
  return {"logits-in-f16", "the weights are those of logits that were rounded to f16"};
}

/// Tokens that block-sparse attention leaves out take part, or other ones are left out.
LikelyCause other_pages_take_part(const Evidence& e, const StageArithmetic& arithmetic) {
  if (!e.problem.sparsity.active() || !e.is_within_sequence()) return {};
  double least = INFINITY, most = 0;  // of tokens that are left out
  for (int token = 0; token < e.seq_len(); ++token)
    if (e.reference.weights[token] == 0) {
      least = std::min(least, e.got()[token]);
      most = std::max(most, e.got()[token]);
    }
  if (least > 0 && most - least <= 4 * e.reference.bound.maxCoeff())
    return {"sparse-logit-zero",
            "tokens that block-sparse attention leaves out take part, all with the same weight: as "
            "logits of 0, not of -infinity"};
  DecodeProblem dense = e.problem;
  dense.sparsity.vert_stride = 1;
  if (explain_proportions(
          e, expected_weights(dense, arithmetic, e.recovered.seq, e.recovered.head, e.slots)))
    return {"sparse-pattern", "block-sparse attention takes the wrong tokens"};
  return {};
}

LikelyCause pages_of_values_elsewhere(const Evidence& e) { return values_read_elsewhere(e, false); }

LikelyCause values_in_another_layout(const Evidence& e) { return values_read_elsewhere(e, true); }

/// The outputs of partitions, [partitions, head_size], read as [head_size, partitions]: with unit
/// vectors for values, weights sit under other tokens of the same run.
LikelyCause partition_outputs_transposed(const Evidence& e) {
  const int size = e.problem.partition_size;
  const int partitions = (e.seq_len() + size - 1) / size;
  const int dims = e.problem.head_size;
  if (partitions < 2) return {};
  std::vector<double> mass(partitions);
  for (int token = 0; token < e.seq_len(); ++token)
    mass[token / size] += e.reference.weights[token];
  Eigen::VectorXd expected = Eigen::VectorXd::Zero(e.got().size());
  for (int label = 0; label < expected.size(); ++label)
    for (int j = 0; j < partitions; ++j) {
      const int place = label % dims * partitions + j;  // in this run's partial outputs
      const int token = label / dims * dims + place % dims;
      const int partition = place / dims;
      if (partition < partitions && token < e.seq_len() && token / size == partition &&
          mass[partition] > 0)
        expected[label] += mass[j] * e.reference.weights[token] / mass[partition];
    }
  const double bound = 4 * e.reference.bound.maxCoeff();
  if (!e.are_explained_by(expected, Eigen::VectorXd::Constant(expected.size(), bound))) return {};
  return {"partition-layout", "outputs of partitions are read as [head_size, partitions]"};
}

LikelyCause negative_weights(const Evidence& e) {
  std::vector<int> negative;
  for (int token = 0; token < e.seq_len(); ++token)
    if (e.got()[token] < -8 * e.reference.bound[token]) negative.push_back(token);
  if (negative.empty()) return {};
  return {"negative-weight",
          list_of(negative) + (negative.size() == 1 ? " weighs" : " weigh") +
              " less than nothing: a logit that the softmax has not turned into a weight"};
}

}  // namespace

LikelyCause cause_of_foreign_weight(const Evidence& e) {
  // No weight is so great: what was read is no slot's value.
  if (e.got().cwiseAbs().maxCoeff() > 2) return {};
  for (Eigen::Index label = e.seq_len(); label < e.got().size(); ++label) {
    if (std::abs(e.got()[label]) <= e.reference.bound[label]) continue;
    if (label < e.slots.own()) return {"tail-weighs", "slots past the end of the sequence weigh"};
    const std::int64_t block = label - e.slots.own();
    return {"foreign-block", "physical block " + std::to_string(block) + ", " +
                                 owner_of(e.problem, block) + ", weighs"};
  }
  return {};
}

LikelyCause cause_of_plain_pattern(const Evidence& e) {
  for (const auto pattern : {not_numbers, pages_of_values_elsewhere, other_kv_head, nothing_weighs})
    if (LikelyCause cause = pattern(e); !cause.id.empty()) return cause;
  return {};
}

LikelyCause cause_of_pattern(const Evidence& e, const StageArithmetic& arithmetic,
                             Contradiction& contradiction) {
  if (LikelyCause cause = one_factor(e); !cause.sentence.empty()) return cause;
  if (LikelyCause cause = other_pages_take_part(e, arithmetic); !cause.id.empty()) return cause;
  for (const auto hypotheses : {tokens_dropped, tokens_doubled, partitions_out_of_proportion})
    for (const Hypothesis& hypothesis : hypotheses(e))
      if (const auto against = e.run.first_against(hypothesis.weights); !against)
        return hypothesis.cause;
      else
        contradiction.note(hypothesis.cause.sentence, *against);
  for (const auto pattern :
       {warps_not_combined, cause_of_missing_rescale, logits_in_f16, values_in_another_layout,
        partition_outputs_transposed, negative_weights})
    if (LikelyCause cause = pattern(e); !cause.id.empty()) return cause;
  return {};
}

}  // namespace paged
