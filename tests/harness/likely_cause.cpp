#include "tests/harness/likely_cause.h"

#include "tests/harness/missing_rescale.h"
#include "tests/harness/mistaken_problem.h"
#include "tests/harness/rounded_probabilities.h"
#include "tests/harness/statistics_cause.h"
#include "tests/harness/sum_over_warp.h"
#include "tests/harness/weight_evidence.h"
#include "tests/harness/weight_patterns.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

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

LikelyCause cause_of(const Evidence& e, const StageArithmetic& arithmetic) {
  if (e.is_right()) return {};
  if (LikelyCause cause = cause_of_plain_pattern(e); !cause.id.empty()) return of_table(cause, e);
  LikelyCause in_proportion;
  for (const MistakenProblem& mistake :
       mistaken_problems(e.problem, e.recovered.seq, e.recovered.head, e.kernel)) {
    const ExpectedWeights expected =
        expected_weights(mistake.problem(), arithmetic, e.recovered.seq, e.recovered.head, e.slots);
    if (mistake.changes_logits && is_one_token(expected) && is_one_token(e.reference)) continue;
    if (e.are_explained_by(mistake.factor * expected.weights,
                           std::max(1.0, mistake.factor) * expected.bound))
      return named(mistake, e);
    if (in_proportion.id.empty() && explain_proportions(e, expected))
      in_proportion = cause_of(mistake, ", and weights are lost and the sum is wrong, too");
  }
  if (LikelyCause cause = cause_of_sum_over_warp(e); !cause.id.empty()) return cause;
  const LikelyCause cause = cause_of_pattern(e, arithmetic);
  return cause.sentence.empty() ? in_proportion : cause;
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
      return cause_of(
          mistake,
          " (it moves all logits alike, so that the weights are right and the LSE is not)");
  }
  return {};
}

/// Where the weights are right, what else was handed out may say more.
Diagnosis right_weights(KernelUnderTest& kernel, const Evidence& e,
                        const StatisticsCause& of_statistics) {
  LikelyCause cause = of_statistics.cause();
  if (cause.id.empty()) cause = cause_of_moved_logits(e, kernel.stage().arithmetic, of_statistics);
  if (cause.id.empty()) cause = cause_of_rounded_probabilities(kernel, e);
  std::string text = head_text(e) + ": all weights are right";
  if (of_statistics.only_lse_is_wrong()) {
    text += "; the output is right; only the LSE is wrong";
    return {cause.id.empty() ? text : text + "; likely cause: " + cause.sentence, cause};
  }
  if (cause.id.empty())
    return {text +
                ", so look at the values, their dimensions and scale, at statistics, and at what "
                "is written",
            {}};
  return {text + "; likely cause: " + cause.sentence, cause};
}

LikelyCause cause_of_wrong_weights(KernelUnderTest& kernel, const Evidence& e,
                                   const StatisticsCause& of_statistics) {
  if (LikelyCause cause = of_statistics.of_output_elsewhere(); !cause.id.empty()) return cause;
  if (e.is_within_sequence())
    if (LikelyCause cause = of_statistics.of_maximum_beside_right_logits(); !cause.id.empty())
      return cause;
  if (LikelyCause cause = cause_of_rounded_probabilities(kernel, e); !cause.id.empty())
    return cause;
  LikelyCause cause = cause_of(e, kernel.stage().arithmetic);
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
            {}};
  const StageArithmetic& arithmetic = kernel.stage().arithmetic;
  const RecoveredWeights recovered = recover_weights(kernel, problem, seq, head);
  const DecodeOutputs outputs = kernel.run(problem, RunOptions::with_intermediates());
  const ReferenceAnswer answer = reference_answer(problem, arithmetic);
  const Evidence evidence = gather_evidence(problem, arithmetic, recovered, traits_of(kernel),
                                            multiples_of_reference(problem, outputs, answer));
  const StatisticsCause of_statistics(problem, outputs, answer, seq, head);
  if (evidence.is_right()) return right_weights(kernel, evidence, of_statistics);
  Diagnosis diagnosis{most_wrong(evidence), cause_of_wrong_weights(kernel, evidence, of_statistics),
                      true};
  diagnosis.text += "; ";
  if (diagnosis.cause.sentence.empty())
    diagnosis.text += kUnexplainedWeights;
  else
    diagnosis.text += "likely cause: " + diagnosis.cause.sentence;
  return diagnosis;
}

Diagnosis diagnose_longest_too(KernelUnderTest& kernel, const DecodeProblem& problem, int seq,
                               int head) {
  const Diagnosis first = diagnose(kernel, problem, seq, head);
  const auto& lengths = problem.seq_lens;
  const auto longest =
      static_cast<int>(std::max_element(lengths.begin(), lengths.end()) - lengths.begin());
  if (!first.has_several_causes() || lengths[longest] == lengths[seq]) return first;
  Diagnosis second = diagnose(kernel, problem, longest, head);
  if (second.cause.id.empty() || second.has_several_causes()) return first;
  second.text = "several mistakes have the weights of sequence " + std::to_string(seq) +
                ", and sequence " + std::to_string(longest) + " tells them apart: " + second.text;
  return second;
}

}  // namespace paged
