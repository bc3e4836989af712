#include "tests/harness/likely_cause.h"

#include "reference/cache_layout.h"
#include "reference/decode_attention.h"
#include "tests/harness/mistaken_problem.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <vector>

namespace paged {
namespace {

/// Every number of `got` lies within `bound` of `expected`; NaN lies nowhere.
bool agree(const Eigen::VectorXd& got, const Eigen::VectorXd& expected,
           const Eigen::VectorXd& bound) {
  for (Eigen::Index i = 0; i < got.size(); ++i)
    if (!(std::abs(got[i] - expected[i]) <= bound[i])) return false;
  return true;
}

/// Weights, what they must be, and the sequence they belong to.
struct Evidence {
  const DecodeProblem& problem;
  const RecoveredWeights& recovered;
  SlotsOfSequence slots;
  ExpectedWeights reference;
  HeadAttention attention;

  const Eigen::VectorXd& got() const { return recovered.weights; }
  int seq_len() const { return problem.seq_lens[recovered.seq]; }
  int kv_head() const {
    return kv_head_of(recovered.head, problem.num_heads, problem.num_kv_heads);
  }
  bool is_right() const { return agree(got(), reference.weights, reference.bound); }
  /// Whether a token weighs enough for a ratio to the reference to mean something.
  bool is_heavy(int token) const { return reference.weights[token] > 8 * reference.bound[token]; }
  double ratio(int token) const { return got()[token] / reference.weights[token]; }
  /// How far a ratio may be from a factor.
  double ratio_bound(int token, double factor) const {
    return (1 + std::abs(factor)) * reference.bound[token] / reference.weights[token];
  }
  bool has_ratio(int token, double factor) const {
    return std::abs(ratio(token) - factor) <= ratio_bound(token, factor);
  }
  /// The factor between weight and reference that tokens [first, end) share, if they share one.
  std::optional<double> common_factor(int first, int end) const;
  /// Whether nothing but the sequence's own tokens weighs.
  bool is_within_sequence() const {
    const Eigen::Index others = got().size() - seq_len();
    return agree(got().tail(others), reference.weights.tail(others),
                 reference.bound.tail(others) * 2);
  }
};

std::optional<double> Evidence::common_factor(int first, int end) const {
  const double of_reference = reference.weights.segment(first, end - first).sum();
  if (of_reference == 0) return std::nullopt;
  const double factor = got().segment(first, end - first).sum() / of_reference;
  for (int token = first; token < end; ++token)
    if (!(std::abs(got()[token] - factor * reference.weights[token]) <=
          (1 + std::abs(factor)) * reference.bound[token]))
      return std::nullopt;
  return factor;
}

Evidence gather_evidence(const DecodeProblem& problem, const StageArithmetic& arithmetic,
                         const RecoveredWeights& recovered) {
  SlotsOfSequence slots(problem, recovered.seq);
  ExpectedWeights reference =
      expected_weights(problem, arithmetic, recovered.seq, recovered.head, slots);
  const int kv_head = kv_head_of(recovered.head, problem.num_heads, problem.num_kv_heads);
  HeadAttention attention =
      attend(problem, gather(problem, recovered.seq, kv_head), recovered.seq, recovered.head);
  return {problem, recovered, std::move(slots), std::move(reference), std::move(attention)};
}

std::string list_of(const std::vector<int>& tokens) {
  std::string text = tokens.size() == 1 ? "token " : "tokens ";
  for (std::size_t i = 0; i < std::min<std::size_t>(tokens.size(), 4); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(tokens[i]);
  return text + (tokens.size() > 4 ? ", ... (" + std::to_string(tokens.size()) + ")" : "");
}

// ---- patterns, each a possible cause -----------------------------------------------------------

/// Logits beyond these leave the range of exp() in f32.
bool are_extreme(const HeadAttention& attention) {
  return attention.maximum < -80 || attention.maximum > 80;
}

LikelyCause not_numbers(const Evidence& e) {
  const auto nans = (e.got().array() != e.got().array()).count();
  const auto finite = e.got().allFinite();
  if (finite || !e.reference.weights.allFinite()) return {};
  if (nans > 0 && nans < e.got().size())
    return {"dimensions-unwritten", "some dimensions of the output are never written"};
  if (are_extreme(e.attention))
    return {"maximum", "exp() of logits from which no, or the wrong, maximum was subtracted"};
  return {"not-a-number", "NaN or infinity in the softmax"};
}

LikelyCause nothing_weighs(const Evidence& e) {
  if (e.got().cwiseAbs().maxCoeff() > 0) return {};
  if (are_extreme(e.attention))
    return {
        "maximum",
        "every exponential vanished: no, or the wrong, maximum was subtracted (a finite \"minus "
        "infinity\"?)"};
  return {"nothing-weighs", "no token has any weight: no page is walked, or nothing is written"};
}

LikelyCause other_kv_head(const Evidence& e) {
  const Eigen::VectorXd& by_head = e.recovered.by_kv_head;
  if (by_head.size() == 0) return {};
  Eigen::Index heaviest = 0;
  const double most = by_head.cwiseAbs().maxCoeff(&heaviest);
  if (heaviest == e.kv_head() || !(most > 0.5 * by_head.cwiseAbs().sum())) return {};
  return {"wrong-kv-head", "the values are those of KV head " + std::to_string(heaviest)};
}

/// What a factor that all weights share may be.
LikelyCause cause_of_factor(const Evidence& e, double factor) {
  const double tolerance =
      (1 + factor) * e.reference.bound.sum() / e.reference.weights.sum();  // of the factor
  const auto is = [&](double expected) {
    return std::abs(factor - expected) <= tolerance * std::max(1.0, expected);
  };
  const DecodeProblem& p = e.problem;
  const double sum = e.attention.sum;
  const double maximum = e.attention.maximum;
  if (is_fp8(p.cache()) && p.v_scale != 1 && is(1 / p.v_scale))
    return {"v-scale", "the values are not multiplied by v_scale"};
  if (is_fp8(p.cache()) && p.v_scale != p.k_scale && is(p.k_scale / p.v_scale))
    return {"v-scale", "the values are multiplied by k_scale"};
  if (is_fp8(p.cache()) && p.v_scale != 1 && is(p.v_scale))
    return {"v-scale", "the values are multiplied by v_scale twice"};
  if (is(sum) || is(std::exp(e.attention.lse)))
    return {"sum-not-divided", "the weights are not divided by their sum"};
  const int tail = e.slots.own() - e.seq_len();
  if (tail > 0 && is(sum / (sum + tail * std::exp(-maximum))))
    return {"padding-in-denominator",
            "the " + std::to_string(tail) +
                " slots of the tail are counted in the denominator, as logits of 0"};
  const double unshifted = std::exp(e.attention.lse);
  if (is(unshifted / (unshifted + kDenominatorGuard)))
    return {"maximum",
            "no, or the wrong, maximum is subtracted: beside so small a sum the "
            "denominator's 1e-6 counts"};
  if (const double times = std::round(factor); times >= 2 && times <= 32 && is(times))
    return {"added-repeatedly", "every value is added " + std::to_string(static_cast<int>(times)) +
                                    " times, though the denominator counts it once"};
  char text[96];
  std::snprintf(text, sizeof text,
                "every weight is %.4g times the reference's: a wrong denominator", factor);
  return {"denominator", text};
}

LikelyCause one_factor(const Evidence& e) {
  if (!e.is_within_sequence()) return {};
  const auto factor = e.common_factor(0, e.seq_len());
  return factor ? cause_of_factor(e, *factor) : LikelyCause{};
}

/// Tokens that are left out while all others keep their proportions.
LikelyCause tokens_dropped(const Evidence& e) {
  std::vector<int> dropped;
  double lost = 0, left_got = 0, left = 0;
  for (int token = 0; token < e.seq_len(); ++token)
    if (e.is_heavy(token) && std::abs(e.got()[token]) <= e.reference.bound[token]) {
      dropped.push_back(token);
      lost += e.reference.weights[token];
    } else {
      left_got += e.got()[token];
      left += e.reference.weights[token];
    }
  if (dropped.empty() || left == 0 || !e.is_within_sequence()) return {};
  const double factor = left_got / left;
  for (int token = 0; token < e.seq_len(); ++token)
    if (e.is_heavy(token) && std::abs(e.got()[token]) > e.reference.bound[token] &&
        !e.has_ratio(token, factor))
      return {};
  const double total = e.reference.weights.sum();
  const double spread = (1 + factor) * e.reference.bound.sum() / left;
  std::string where = list_of(dropped);
  const int partition = e.problem.partition_size;
  if (dropped.size() == 1 && dropped[0] > 0 && dropped[0] % partition == 0)
    where += ", the first of partition " + std::to_string(dropped[0] / partition) + ",";
  const std::string is_or_are = dropped.size() == 1 ? " is" : " are";
  if (std::abs(factor - 1) <= spread && lost / total > 2 * spread)
    return {"value-dropped",
            "the value of " + where + is_or_are + " not added, though the denominator counts it"};
  return {"token-dropped", where + is_or_are + " left out"};
}

LikelyCause tokens_doubled(const Evidence& e) {
  std::vector<int> doubled, others;
  if (!e.is_within_sequence()) return {};
  for (int token = 0; token < e.seq_len(); ++token)
    if (e.is_heavy(token)) (e.ratio(token) > 1.5 ? doubled : others).push_back(token);
  if (doubled.empty() || others.empty()) return {};
  const double factor = e.ratio(others.front());
  for (int token : others)
    if (std::abs(e.ratio(token) - factor) >
        e.ratio_bound(token, factor) + e.ratio_bound(others.front(), factor))
      return {};
  for (int token : doubled)
    if (std::abs(e.ratio(token) - 2 * factor) >
        e.ratio_bound(token, 2 * factor) + 2 * e.ratio_bound(others.front(), factor))
      return {};
  return {"token-doubled",
          list_of(doubled) + (doubled.size() == 1 ? " counts" : " count") + " twice"};
}

/// Right proportions within each partition, wrong ones between them.
LikelyCause partitions_not_rescaled(const Evidence& e) {
  const int size = e.problem.partition_size;
  if (e.seq_len() <= size || !e.is_within_sequence()) return {};
  for (int first = 0; first < e.seq_len(); first += size) {
    const int end = std::min(first + size, e.seq_len());
    if (e.reference.weights.segment(first, end - first).sum() > 0 && !e.common_factor(first, end))
      return {};
  }
  return {"partition-not-rescaled",
          "within each partition of " + std::to_string(size) +
              " tokens the proportions are right, between them they are not: a partition's result "
              "is merged without rescaling it"};
}

/// Right proportions among the tokens of each warp, wrong ones between them: in a softmax of W warps
/// a thread takes every 32 W-th token.
LikelyCause warps_not_combined(const Evidence& e) {
  if (!e.is_within_sequence() || e.seq_len() <= 32) return {};
  for (const int warps : {2, 4, 8}) {
    bool each_agrees = true;
    for (int warp = 0; warp < warps && each_agrees; ++warp) {
      double got = 0, reference = 0;
      const auto for_each_token = [&](auto visit) {
        for (int token = 0; token < e.seq_len(); ++token)
          if (token / 32 % warps == warp) visit(token);
      };
      for_each_token([&](int token) {
        got += e.got()[token];
        reference += e.reference.weights[token];
      });
      if (reference == 0) continue;
      const double factor = got / reference;
      for_each_token([&](int token) {
        each_agrees &= std::abs(e.got()[token] - factor * e.reference.weights[token]) <=
                       (1 + std::abs(factor)) * e.reference.bound[token];
      });
    }
    if (each_agrees)
      return {
          "warps-not-combined",
          "among the tokens of each warp the proportions are right, between warps they are not: a "
          "maximum or a sum is that of a warp, not of all " +
              std::to_string(warps)};
  }
  return {};
}

/// The weights of logits that were rounded to f16. A logit near the middle between two numbers of f16
/// may have gone either way, so a few tokens may be off by a step.
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

LikelyCause values_read_elsewhere(const Evidence& e) {
  const double bound = 2 * e.reference.bound.maxCoeff();
  for (const MistakenReading& mistake :
       mistaken_readings(e.problem, e.recovered.seq, e.recovered.head)) {
    const Eigen::VectorXd weights =
        weights_read_through(e.problem, e.recovered.seq, e.recovered.head, mistake.edit);
    if (agree(e.got(), weights, Eigen::VectorXd::Constant(weights.size(), bound)))
      return {mistake.cause, mistake.sentence};
  }
  return {};
}

std::string owner_of(const DecodeProblem& problem, std::int64_t block) {
  for (int seq = 0; seq < problem.num_seqs(); ++seq) {
    const std::int32_t* row = problem.block_table(seq);
    const int pages = num_pages(problem.seq_lens[seq], problem.block_size);
    if (std::find(row, row + pages, block) != row + pages)
      return "sequence " + std::to_string(seq) + "'s";
  }
  return "nobody's";
}

LikelyCause foreign_weight(const Evidence& e) {
  for (Eigen::Index label = e.seq_len(); label < e.got().size(); ++label) {
    if (std::abs(e.got()[label]) <= e.reference.bound[label]) continue;
    if (label < e.slots.own()) return {"tail-weighs", "slots past the end of the sequence weigh"};
    const std::int64_t block = label - e.slots.own();
    return {"foreign-block", "physical block " + std::to_string(block) + ", " +
                                 owner_of(e.problem, block) + ", weighs"};
  }
  return {};
}

// ---- the token that is most wrong --------------------------------------------------------------

std::string weight_text(double weight) {
  char text[32];
  std::snprintf(text, sizeof text, weight != 0 && std::abs(weight) < 0.001 ? "%.2e" : "%.4f",
                weight);
  return std::isnan(weight) ? "nan" : text;
}

std::string label_text(const Evidence& e, int label) {
  if (label >= e.slots.own()) {
    const std::int64_t block = label - e.slots.own();
    return "physical block " + std::to_string(block) + " (" + owner_of(e.problem, block) + ")";
  }
  const int page = label / e.problem.block_size;
  return "token " + std::to_string(label) + " (" + (label < e.seq_len() ? "" : "past seq_len, ") +
         "logical block " + std::to_string(page) + ", offset " +
         std::to_string(label % e.problem.block_size) + ", physical block " +
         std::to_string(e.problem.block_table(e.recovered.seq)[page]) + ")";
}

std::string head_text(const Evidence& e) {
  return "seq " + std::to_string(e.recovered.seq) + " head " + std::to_string(e.recovered.head) +
         " kv_head " + std::to_string(e.kv_head()) + " seq_len " + std::to_string(e.seq_len());
}

std::string most_wrong(const Evidence& e) {
  const auto error = [&](int label) {
    const double difference = e.got()[label] - e.reference.weights[label];
    return std::isfinite(difference) ? difference : INFINITY;
  };
  // A token of the sequence itself first, if one is wrong: where its weight went comes after it.
  int end = e.seq_len();
  if (agree(e.got().head(end), e.reference.weights.head(end), e.reference.bound.head(end)))
    end = static_cast<int>(e.got().size());
  int worst = 0, gains_most = 0;
  for (int label = 0; label < e.got().size(); ++label) {
    if (label < end && std::abs(error(label)) > std::abs(error(worst))) worst = label;
    if (error(label) > error(gains_most)) gains_most = label;
  }
  std::string text = head_text(e) + ": " + label_text(e, worst) + " has weight " +
                     weight_text(e.got()[worst]) + ", reference " +
                     weight_text(e.reference.weights[worst]);
  if (error(worst) < 0 && error(gains_most) > -error(worst) / 4)
    text += "; weight that is missing sits on " + label_text(e, gains_most) + ": " +
            weight_text(e.got()[gains_most]) + ", reference " +
            weight_text(e.reference.weights[gains_most]);
  return text;
}

LikelyCause cause_of(const Evidence& e, const StageArithmetic& arithmetic) {
  if (e.is_right()) return {};
  for (const auto pattern : {not_numbers, other_kv_head, nothing_weighs})
    if (LikelyCause cause = pattern(e); !cause.id.empty()) return cause;
  for (const MistakenProblem& mistake :
       mistaken_problems(e.problem, e.recovered.seq, e.recovered.head)) {
    const ExpectedWeights expected =
        expected_weights(mistake.problem(), arithmetic, e.recovered.seq, e.recovered.head, e.slots);
    if (agree(e.got(), mistake.factor * expected.weights,
              std::max(1.0, mistake.factor) * expected.bound))
      return {mistake.cause, mistake.sentence};
  }
  for (const auto pattern :
       {one_factor, tokens_dropped, tokens_doubled, partitions_not_rescaled, warps_not_combined,
        logits_in_f16, values_read_elsewhere, foreign_weight})
    if (LikelyCause cause = pattern(e); !cause.id.empty()) return cause;
  return {};
}

/// Runs to recover weights, and numbers that the bounds of one mistake take.
constexpr std::int64_t kMostRuns = 100;
constexpr std::int64_t kMostNumbers = std::int64_t{1} << 23;

}  // namespace

LikelyCause likely_cause(const DecodeProblem& problem, const StageArithmetic& arithmetic,
                         const RecoveredWeights& recovered) {
  return cause_of(gather_evidence(problem, arithmetic, recovered), arithmetic);
}

Diagnosis diagnose(KernelUnderTest& kernel, const DecodeProblem& problem, int seq, int head) {
  const std::int64_t labels = SlotsOfSequence(problem, seq).labels();
  if (labels > kMostRuns * problem.head_size || labels * problem.seq_lens[seq] > kMostNumbers)
    return {"the weights of so large a case are not recovered; try a smaller one for the cause",
            {}};
  const StageArithmetic& arithmetic = kernel.stage().arithmetic;
  const RecoveredWeights recovered = recover_weights(kernel, problem, seq, head);
  const Evidence evidence = gather_evidence(problem, arithmetic, recovered);
  if (evidence.is_right())
    return {head_text(evidence) +
                ": all weights are right, so look at the values, their dimensions and scale, at "
                "statistics, and at what is written",
            {}};
  Diagnosis diagnosis{most_wrong(evidence), cause_of(evidence, arithmetic), true};
  if (!diagnosis.cause.id.empty()) diagnosis.text += "; likely cause: " + diagnosis.cause.sentence;
  return diagnosis;
}

}  // namespace paged
