#include "tests/harness/intermediate_comparison.h"

#include "stages/partition_workspace.h"
#include "tests/harness/coordinates.h"
#include "tests/harness/telling_sequence.h"

#include <algorithm>
#include <cmath>

namespace paged {
namespace {

/// A number that is wrong, and how; no text if it is right.
struct Difference {
  std::string text;
  double got = 0;
  bool is_none() const { return text.empty(); }
  Difference at(const std::string& place) const {
    return is_none() ? *this : Difference{place + text, got};
  }
};

Difference value_difference(const char* name, double got, double expected, double bound) {
  const bool both_nan = std::isnan(expected) && std::isnan(got);
  const bool equal_infinity = std::isinf(expected) && got == expected;
  // An infinite bound allows any number, but no infinity in a number's place.
  const bool within = std::isfinite(got) && std::abs(got - expected) <= bound;
  if (both_nan || equal_infinity || within) return {};
  return {std::string(" ") + name + " is " + number(got) + "; the reference is " +
              number(expected) + " +- " + number(bound),
          got};
}

Difference maximum_difference(double got, double expected, double bound) {
  return std::isnan(expected) ? Difference{} : value_difference("maximum", got, expected, bound);
}

/// LSE, maximum and sum of one (sequence, head).
Difference statistics_difference(const DecodeOutputs& outputs, const ReferenceAnswer& reference,
                                 std::size_t i) {
  const HeadAttention& attention = reference.attention[i];
  const HeadErrorBound& bound = reference.bounds[i];
  const ExpectedStatistics expected = expected_statistics(attention, reference.arithmetic);
  Difference wrong;
  if (!outputs.lse.empty())
    wrong = value_difference("LSE", outputs.lse[i], attention.lse, bound.lse);
  if (wrong.is_none() && !outputs.maxima.empty())
    wrong = maximum_difference(outputs.maxima[i], expected.maximum, bound.maximum);
  if (wrong.is_none() && !outputs.sums.empty())
    wrong = value_difference("sum", outputs.sums[i], expected.sum, bound.sum);
  return wrong;
}

Difference logits_difference(const DecodeOutputs& outputs, const ReferenceAnswer& reference,
                             std::size_t i) {
  if (outputs.logits.empty()) return {};
  for (int token = 0; token < reference.attention[i].logits.size(); ++token) {
    const Difference wrong =
        value_difference("logit", outputs.logits[i * outputs.max_seq_len + token],
                         reference.attention[i].logits[token], reference.bounds[i].logits[token]);
    if (!wrong.is_none()) return wrong.at(", token " + std::to_string(token));
  }
  return {};
}

/// One partition of one (sequence, head), which lies at `slot` of the outputs.
Difference partition_difference(const PartitionOutputs& outputs, std::size_t slot,
                                const HeadAttention& expected, const HeadErrorBound& bound) {
  Difference wrong = maximum_difference(outputs.maxima[slot], expected.maximum, bound.maximum);
  if (wrong.is_none()) wrong = value_difference("sum", outputs.sums[slot], expected.sum, bound.sum);
  const auto head_size = expected.output.size();
  for (Eigen::Index dim = 0; dim < head_size && wrong.is_none(); ++dim) {
    wrong = value_difference("output", outputs.outputs[slot * head_size + dim],
                             expected.output[dim], bound.output[dim])
                .at(", dimension " + std::to_string(dim));
  }
  return wrong;
}

Difference partitions_difference(const DecodeProblem& problem, const DecodeOutputs& outputs,
                                 const ReferenceAnswer& reference, const GatheredKv& kv, int seq,
                                 int head) {
  const std::size_t i = static_cast<std::size_t>(seq) * problem.num_heads + head;
  const int seq_len = problem.seq_lens[seq];
  for (int j = 0; j < num_partitions(seq_len, problem.partition_size); ++j) {
    const int first = j * problem.partition_size;
    const int end = first + std::min(problem.partition_size, seq_len - first);
    const HeadAttention expected =
        attend_partition(problem, kv, reference.attention[i], seq, head, first, end);
    const HeadErrorBound bound = bound_partition_error(problem, kv, expected, reference.bounds[i],
                                                       reference.arithmetic, first);
    const Difference wrong = partition_difference(
        outputs.partitions, i * outputs.partitions.partitions + j, expected, bound);
    if (!wrong.is_none()) return wrong.at(", partition " + std::to_string(j));
  }
  return {};
}

}  // namespace

IntermediateDifference intermediate_difference(const DecodeProblem& problem,
                                               const DecodeOutputs& outputs,
                                               const ReferenceAnswer& reference) {
  const int group = problem.num_heads / problem.num_kv_heads;
  const bool partitioned = outputs.partitions.partitions > 0;
  IntermediateDifference telling;
  for (int seq = 0; seq < problem.num_seqs(); ++seq) {
    GatheredKv kv;
    for (int head = 0; head < problem.num_heads && tells_more(problem, seq, telling.seq); ++head) {
      const std::size_t i = static_cast<std::size_t>(seq) * problem.num_heads + head;
      Difference wrong = statistics_difference(outputs, reference, i);
      if (wrong.is_none()) wrong = logits_difference(outputs, reference, i);
      if (partitioned && head % group == 0) kv = gather(problem, seq, head / group);
      if (partitioned && wrong.is_none())
        wrong = partitions_difference(problem, outputs, reference, kv, seq, head);
      if (!wrong.is_none())
        telling = {place(seq, head) + wrong.text, seq, head, WrongNumber{wrong.got}};
    }
  }
  return telling;
}

}  // namespace paged
