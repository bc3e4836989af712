#include "tests/harness/likely_cause.h"

#include "tests/harness/coarse_accumulator.h"
#include "tests/harness/coordinates.h"
#include "tests/harness/message_parts.h"
#include "tests/harness/missing_rescale.h"
#include "tests/harness/mistaken_problem.h"
#include "tests/harness/rounded_probabilities.h"
#include "tests/harness/statistics_cause.h"
#include "tests/harness/sum_over_warp.h"
#include "tests/harness/token_hypotheses.h"
#include "tests/harness/weight_evidence.h"
#include "tests/harness/weight_patterns.h"
#include "tests/harness/writing_cause.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <set>

namespace paged {
namespace {

// ---- the token that is most wrong --------------------------------------------------------------

/// "weight 0.2432, reference 0.3127", with so many digits that they differ.
std::string weights_text(double got, double reference) {
  const auto text_of = [](double weight, int digits) {
    char text[48];
    std::snprintf(text, sizeof text, weight != 0 && std::abs(weight) < 0.001 ? "%.*e" : "%.*f",
                  weight != 0 && std::abs(weight) < 0.001 ? digits - 2 : digits, weight);
    return std::isnan(weight) ? std::string("nan") : std::string(text);
  };
  int digits = 4;
  while (digits < 16 && text_of(got, digits) == text_of(reference, digits)) ++digits;
  return text_of(got, digits) + ", reference " + text_of(reference, digits);
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
                     weights_text(e.got()[worst], e.reference.weights[worst]);
  if (error(worst) < 0 && error(gains_most) > -error(worst) / 4)
    text += "; weight that is missing sits on " + label_text(e, gains_most) + ": " +
            weights_text(e.got()[gains_most], e.reference.weights[gains_most]);
  return text;
}

// ---- the cause ---------------------------------------------------------------------------------

KernelTraits traits_of(const KernelUnderTest& kernel) {
  const Stage& stage = kernel.stage();
  return {stage.number != 0, stage.cache_layout == PAGED_CLASSIC,
          stage.cache_layout == PAGED_TOKENS_THEN_HEADS, stage.features.partitions};
}

/// Whether some weight is far from what it must be.
bool differs(const ExpectedWeights& expected, const ExpectedWeights& reference) {
  return ((expected.weights - reference.weights).array().abs() > 8 * reference.bound.array()).any();
}

/// Whether one token at most weighs more than rounding does.
bool is_one_token(const ExpectedWeights& expected) {
  return (expected.weights.array() > 8 * expected.bound.array()).count() < 2;
}

/// What changes logits alone, such as other keys, no sequence of one token shows.
LikelyCause cause_of(const MistakenProblem& mistake, const std::string& addition = "") {
  LikelyCause cause(mistake.cause, mistake.sentence + addition);
  cause.shows_in_one_token &= !mistake.changes_logits || mistake.factor != 1;
  return cause;
}

/// Another sequence whose pages are the first blocks of the cache, in this order; -1: none.
int sequence_of_first_blocks(const Evidence& e) {
  const int pages = e.slots.own() / e.problem.block_size;
  for (int seq = 0; seq < e.problem.num_seqs(); ++seq) {
    const std::int32_t* row = e.problem.block_table(seq);
    int same = 0;
    while (same < pages && row[same] == same) ++same;
    if (seq != e.recovered.seq && same == pages) return seq;
  }
  return -1;
}

/// The same, or both mistakes where the row of another sequence has logical blocks for physical
/// ones.
LikelyCause of_table(const LikelyCause& cause, const Evidence& e) {
  const int seq = sequence_of_first_blocks(e);
  // With a wrong row, values would lie elsewhere, too.
  if (seq < 0 || e.is_within_sequence()) return cause;
  const LikelyCause row("wrong-table-row", row_is_that_of(seq));
  if (cause.id == "table-ignored") return either({cause, row});
  if (cause.sentence == row.sentence) return either({row, {"table-ignored", kTableIsIgnored}});
  return cause;
}

/// Of a mistake that explains the weights. One without keys gives every token the same weight. So
/// does an online softmax that rescales nothing, where logits rise from token to token, and a sum
/// over the whole warp within a page: then there is no cause, and the sentence has all of them.
LikelyCause named(const MistakenProblem& mistake, const Evidence& e) {
  if (mistake.cause != "keys-ignored") return of_table(cause_of(mistake), e);
  std::vector<LikelyCause> mistakes = {cause_of(mistake)};
  for (const auto cause_from : {cause_of_missing_rescale, cause_of_sum_over_warp})
    if (const LikelyCause other = cause_from(e); !other.id.empty()) mistakes.push_back(other);
  return either(mistakes);
}

std::string text_of(const Contradiction& contradiction) {
  return contradiction.sentence.empty()
             ? ""
             : "by these weights alone " + contradiction.sentence + ", which " +
                   place(contradiction.row.seq, contradiction.row.head) + " speaks against";
}

/// Of rows that are wrong in the same run, as many as are asked.
constexpr int kMostRowsAsked = 6;

/// A mistake that says nothing of this row, which then reads what nobody knows, and that explains
/// the output of every row of which it says anything.
LikelyCause cause_of_other_rows(const Evidence& e) {
  const DecodeProblem& problem = e.problem;
  int asked = 0;
  std::set<std::string> tried;  // those that say something of this row have been, on its weights
  for (const MistakenProblem& mistake :
       mistaken_problems(problem, e.recovered.seq, e.recovered.head, e.kernel))
    tried.insert(mistake.rule);
  for (int seq = 0; seq < problem.num_seqs(); ++seq)
    for (int head = 0; head < problem.num_heads; ++head) {
      const OutputRow row{seq, head};
      if (problem.seq_lens[seq] == 0 || e.run.is_right(row)) continue;
      bool is_asked = false;
      for (const MistakenProblem& mistake : mistaken_problems(problem, seq, head, e.kernel)) {
        // One token has all the weight whatever its logit.
        if (mistake.may_spare || (mistake.changes_logits && problem.seq_lens[seq] < 2) ||
            tried.contains(mistake.rule))
          continue;
        is_asked = true;
        if (!e.run.is_nearly_output_of(mistake, row)) continue;
        tried.insert(mistake.rule);
        if (!e.run.first_against(mistake.rule))
          return cause_of(mistake, " (as " + place(seq, head) + " shows)");
      }
      asked += is_asked ? 1 : 0;
      if (asked == kMostRowsAsked) return {};
    }
  return {};
}

LikelyCause cause_of(const Evidence& e, const StageArithmetic& arithmetic,
                     Contradiction& contradiction) {
  if (e.is_right()) return {};
  if (LikelyCause cause = cause_of_plain_pattern(e); !cause.id.empty()) return of_table(cause, e);
  LikelyCause in_proportion;
  for (const MistakenProblem& mistake :
       mistaken_problems(e.problem, e.recovered.seq, e.recovered.head, e.kernel)) {
    const ExpectedWeights expected =
        expected_weights(mistake.problem(), arithmetic, e.recovered.seq, e.recovered.head, e.slots);
    if (mistake.changes_logits && is_one_token(expected) && is_one_token(e.reference)) continue;
    if (e.are_explained_by(mistake.factor * expected.weights,
                           std::max(1.0, mistake.factor) * expected.bound)) {
      const std::optional<OutputRow> against = e.run.first_against(mistake.rule);
      if (!against) return named(mistake, e);
      contradiction.note(mistake.sentence, *against);
      continue;
    }
    if (in_proportion.id.empty() && mistake.changes_logits && differs(expected, e.reference) &&
        explain_proportions(e, expected))
      in_proportion = cause_of(mistake, ", and weights are lost and the sum is wrong, too");
  }
  if (LikelyCause cause = cause_of_sum_over_warp(e); !cause.id.empty()) return cause;
  if (LikelyCause cause = cause_of_pattern(e, arithmetic, contradiction); !cause.sentence.empty())
    return cause;
  if (!in_proportion.id.empty()) return in_proportion;
  if (LikelyCause cause = cause_of_other_rows(e); !cause.id.empty()) return cause;
  return cause_of_foreign_weight(e);
}

/// Runs to recover weights, and numbers that the bounds of one mistake take.
constexpr std::int64_t kMostRuns = 100;
constexpr std::int64_t kMostNumbers = std::int64_t{1} << 23;

/// A mistake that moves all logits alike: its weights are the right ones, and its statistics are
/// not.
LikelyCause cause_of_moved_logits(const Evidence& e, const StageArithmetic& arithmetic,
                                  const StatisticsCause& statistics) {
  const int seq = e.recovered.seq, head = e.recovered.head;
  for (const MistakenProblem& mistake : mistaken_problems(e.problem, seq, head, e.kernel)) {
    if (!mistake.changes_logits || mistake.factor != 1) continue;
    const DecodeProblem problem = mistake.problem();
    if (!statistics.are_those_of(attend(problem, gather(problem, seq, e.kv_head()), seq, head)))
      continue;
    const ExpectedWeights expected = expected_weights(problem, arithmetic, seq, head, e.slots);
    if (agree(e.got(), expected.weights, 2 * expected.bound))
      return cause_of(mistake, " (the weights are the same, and the LSE is not)");
  }
  return {};
}

/// Codes that are converted wrongly, too little for the weights to show it and enough for the output.
LikelyCause cause_of_values(const Evidence& e) {
  const OutputRow row{e.recovered.seq, e.recovered.head};
  for (const MistakenProblem& mistake : mistaken_problems(e.problem, row.seq, row.head, e.kernel))
    if (mistake.has_values && e.run.is_nearly_output_of(mistake, row) &&
        !e.run.first_against(mistake.rule))
      return cause_of(mistake);
  return {};
}

LikelyCause cause_of_rounding(KernelUnderTest& kernel, const Evidence& e) {
  if (!e.is_nearly_right()) return {};  // experiments cost runs
  if (LikelyCause cause = cause_of_coarse_accumulator(kernel, e); !cause.id.empty()) return cause;
  return cause_of_rounded_probabilities(kernel, e);
}

/// Where the weights are right, what else was handed out may say more.
Diagnosis right_weights(KernelUnderTest& kernel, const Evidence& e,
                        const StatisticsCause& of_statistics) {
  LikelyCause cause = of_statistics.cause();
  if (cause.id.empty()) cause = cause_of_moved_logits(e, kernel.stage().arithmetic, of_statistics);
  if (cause.id.empty() && !of_statistics.output_is_right()) cause = cause_of_values(e);
  if (cause.id.empty() && !of_statistics.output_is_right()) cause = cause_of_rounding(kernel, e);
  std::string text = head_text(e) + ": all weights are right";
  const std::string statistics = of_statistics.wrong_statistics();
  if (of_statistics.output_is_right() && !statistics.empty())
    text += "; the output is right; only the " + statistics + " wrong";
  if (!cause.id.empty()) return {text + "; likely cause: " + cause.sentence, cause};
  if (of_statistics.output_is_right())
    return {text + (statistics.empty() ? "" : ", and no known mistake explains it"), {}};
  return {text + ", so look at the values, their dimensions and scale, and at what is written" +
              (statistics.empty() ? "" : "; the " + statistics + " wrong, too"),
          {}};
}

/// Unit vectors for values read token t in dimension t. Where other tokens are lost if dimension
/// t + 1 has it, the weights that are read are those of one dimension each.
LikelyCause cause_by_dimensions(KernelUnderTest& kernel, const Evidence& e) {
  const DecodeProblem& p = e.problem;
  // A merge of partitions may read what differs from run to run.
  if (e.seq_len() > p.partition_size || tokens_dropped(e).empty()) return {};
  const LabelledWeights moved = recover_labelled_weights(
      kernel, p, e.slots.labels() + 1, [&](std::int64_t block, int kv_head, int offset) {
        return kv_head == e.kv_head() ? e.slots.label(block, offset) + 1 : -1;
      });
  const int row = e.recovered.seq * p.num_heads + e.recovered.head;
  bool are_others = false, is_one_lost = false;
  for (int token = 0; token < e.seq_len(); ++token) {
    if (!e.is_heavy(token)) continue;
    const double weight = moved.got(row, token + 1);
    are_others |= std::abs(weight - e.got()[token]) > e.reference.weights[token] / 2;
    is_one_lost |= std::abs(weight) <= e.reference.bound[token];
  }
  if (are_others && is_one_lost)
    return {"value-dropped", "values are not added, of other tokens in other dimensions"};
  return {};
}

LikelyCause cause_of_wrong_weights(KernelUnderTest& kernel, const Evidence& e,
                                   const StatisticsCause& of_statistics,
                                   Contradiction& contradiction) {
  if (LikelyCause cause = of_statistics.of_output_elsewhere(); !cause.id.empty()) return cause;
  if (e.is_within_sequence())
    if (LikelyCause cause = of_statistics.of_maximum_beside_right_logits(); !cause.id.empty())
      return cause;
  if (LikelyCause cause = cause_of_rounding(kernel, e); !cause.id.empty()) return cause;
  LikelyCause cause = cause_of(e, kernel.stage().arithmetic, contradiction);
  if (cause.sentence.empty()) cause = cause_by_dimensions(kernel, e);
  if (cause.id != "wrong-kv-head" || e.recovered.by_kv_head.size() == 0) return cause;
  // The weights say which values are read; the LSE, whether the keys lie there, too.
  Eigen::Index heaviest = 0;
  e.recovered.by_kv_head.cwiseAbs().maxCoeff(&heaviest);
  if (heaviest == e.kv_head()) return cause;
  const LikelyCause both = of_statistics.of_keys_and_values_of(static_cast<int>(heaviest));
  return both.id.empty() ? cause : both;
}

}  // namespace

LikelyCause either(const std::vector<LikelyCause>& mistakes) {
  std::vector<std::string> sentences;
  for (const LikelyCause& mistake : mistakes)
    if (std::find(sentences.begin(), sentences.end(), mistake.sentence) == sentences.end())
      sentences.push_back(mistake.sentence);
  LikelyCause cause = mistakes.empty() ? LikelyCause() : mistakes.front();
  if (sentences.size() < 2) return cause;
  cause.is_one_of_several = true;
  cause.sentence = "either " + sentences.front();
  for (std::size_t i = 1; i < sentences.size(); ++i) cause.sentence += ", or " + sentences[i];
  for (const LikelyCause& mistake : mistakes) {
    if (mistake.id != cause.id) cause.id.clear();
    cause.shows_in_one_token &= mistake.shows_in_one_token;
  }
  return cause;
}

Diagnosis diagnose(KernelUnderTest& kernel, const DecodeProblem& problem, int seq, int head) {
  const std::int64_t labels = SlotsOfSequence(problem, seq).labels();
  if (labels > kMostRuns * problem.head_size || labels * problem.seq_lens[seq] > kMostNumbers)
    return {"the weights of so large a case are not recovered; try a smaller one for the cause",
            {},
            false,
            false};
  const StageArithmetic& arithmetic = kernel.stage().arithmetic;
  const DecodeOutputs outputs = kernel.run(problem, RunOptions::with_intermediates());
  const ReferenceAnswer answer = reference_answer(problem, arithmetic);
  const WholeRun run(problem, outputs, answer, traits_of(kernel));
  if (LikelyCause cause = cause_of_writing(kernel, run, {seq, head}); !cause.id.empty())
    return {"likely cause: " + cause.sentence, cause};
  const RecoveredWeights recovered = recover_weights(kernel, problem, seq, head);
  const Evidence evidence = gather_evidence(problem, arithmetic, recovered, traits_of(kernel),
                                            multiples_of_reference(problem, outputs, answer), run);
  const StatisticsCause of_statistics(problem, outputs, answer, seq, head);
  if (evidence.is_right()) return right_weights(kernel, evidence, of_statistics);
  Contradiction contradiction;
  Diagnosis diagnosis{most_wrong(evidence),
                      cause_of_wrong_weights(kernel, evidence, of_statistics, contradiction), true};
  if (diagnosis.cause.sentence.empty()) {
    add_part(diagnosis.text, text_of(contradiction));
    add_part(diagnosis.text, kUnexplainedWeights);
  } else {
    add_part(diagnosis.text, "likely cause: " + diagnosis.cause.sentence);
  }
  return diagnosis;
}

}  // namespace paged
