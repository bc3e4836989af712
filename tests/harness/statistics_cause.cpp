#include "tests/harness/statistics_cause.h"

#include "reference/error_bound.h"
#include "tests/harness/coordinates.h"

#include <cmath>
#include <string>
#include <vector>

namespace paged {

/// One number that a run handed out, and what it must be.
struct StatisticsCause::Statistic {
  double got, reference, bound;

  bool is(double expected) const { return std::abs(got - expected) <= 2 * bound; }
  bool is_right() const { return got == reference || std::abs(got - reference) <= bound; }
};

StatisticsCause::StatisticsCause(const DecodeProblem& problem, const DecodeOutputs& outputs,
                                 const ReferenceAnswer& answer, int seq, int head)
    : problem_(problem),
      outputs_(outputs),
      answer_(answer),
      seq_(seq),
      head_(head),
      row_(seq * problem.num_heads + head) {}

LikelyCause StatisticsCause::cause() const {
  if (seq_len() == 0) return {};
  if (!outputs_.lse.empty()) {
    const Statistic lse{outputs_.lse[row_], attention().lse, answer_.bounds[row_].lse};
    if (!lse.is_right()) return of_lse(lse);
  }
  if (!outputs_.logits.empty()) {
    const Statistic last = logit(seq_len() - 1);
    if (!last.is_right()) return of_shift(last);
  }
  return of_maximum();
}

LikelyCause StatisticsCause::of_maximum_beside_right_logits() const {
  if (seq_len() == 0 || outputs_.logits.empty()) return {};
  for (int token = 0; token < seq_len(); ++token)
    if (!logit(token).is_right()) return {};
  return of_maximum();
}

bool StatisticsCause::are_those_of(const HeadAttention& other) const {
  // Nearly the same would be by chance.
  const auto differs = [](const Statistic& s, double expected) {
    return !s.is_right() && std::abs(expected - s.reference) > 8 * s.bound;
  };
  bool differ = false;
  if (!outputs_.lse.empty()) {
    const Statistic lse{outputs_.lse[row_], attention().lse, answer_.bounds[row_].lse};
    if (!lse.is(other.lse)) return false;
    differ |= differs(lse, other.lse);
  }
  if (!outputs_.logits.empty())
    for (int token = 0; token < seq_len(); ++token) {
      const Statistic its = logit(token);
      if (std::isinf(its.got) || std::isinf(its.reference)) continue;  // it takes no part
      if (!its.is(other.logits[token])) return false;
      differ |= differs(its, other.logits[token]);
    }
  return differ;
}

bool StatisticsCause::is_output(int row, const Eigen::VectorXd& expected,
                                const Eigen::VectorXd& bound) const {
  for (int dim = 0; dim < problem_.head_size; ++dim) {
    const double got = outputs_.output.read(std::int64_t{row} * problem_.head_size + dim);
    if (!(std::abs(got - expected[dim]) <= bound[dim])) return false;
  }
  return true;
}

bool StatisticsCause::lse_is_right() const {
  return !outputs_.lse.empty() &&
         Statistic{outputs_.lse[row_], attention().lse, answer_.bounds[row_].lse}.is_right();
}

bool StatisticsCause::output_is_right() const {
  return is_output(row_, attention().output, answer_.bounds[row_].output);
}

std::string StatisticsCause::wrong_statistics() const {
  const ExpectedStatistics expected = expected_statistics(attention(), answer_.arithmetic);
  const HeadErrorBound& bound = answer_.bounds[row_];
  std::vector<std::string> wrong;
  const auto look_at = [&](const std::vector<float>& numbers, double reference, double allowed,
                           const char* name) {
    if (!numbers.empty() && !Statistic{numbers[row_], reference, allowed}.is_right())
      wrong.emplace_back(name);
  };
  look_at(outputs_.lse, attention().lse, bound.lse, "LSE");
  look_at(outputs_.maxima, expected.maximum, bound.maximum, "maximum");
  look_at(outputs_.sums, expected.sum, bound.sum, "sum");
  bool logits_are_right = true;
  for (int token = 0; token < seq_len() && !outputs_.logits.empty(); ++token)
    logits_are_right &= logit(token).is_right();
  if (!logits_are_right) wrong.emplace_back("logits");
  std::string text;
  for (std::size_t i = 0; i < wrong.size(); ++i)
    text += (i == 0 ? "" : i + 1 < wrong.size() ? ", " : " and ") + wrong[i];
  if (wrong.empty()) return "";
  return text + (wrong.size() == 1 && logits_are_right ? " is" : " are");
}

LikelyCause StatisticsCause::of_output_elsewhere() const {
  // An LSE that is right says that query, keys and lengths are this row's own.
  if (!lse_is_right() || is_output(row_, attention().output, answer_.bounds[row_].output))
    return {};
  for (int kv_head = 0; kv_head < problem_.num_kv_heads; ++kv_head) {
    // Values of another KV head under this head's own weights look alike where there is one token.
    const Eigen::VectorXd of_values =
        gather(problem_, seq_, kv_head).values.transpose() * attention().weights;
    if (is_output(row_, of_values, 2 * answer_.bounds[row_].output)) return {};
  }
  for (int other = 0; other < static_cast<int>(answer_.attention.size()); ++other) {
    const int seq = other / problem_.num_heads, head = other % problem_.num_heads;
    const HeadAttention& its = answer_.attention[other];
    // One that weighs nothing is any output that was not written.
    if (other == row_ || !(its.sum > 0) || problem_.seq_lens[seq] < 2 || its.output.norm() == 0 ||
        !is_output(row_, its.output, answer_.bounds[other].output))
      continue;
    if (seq == seq_)
      return {"output-elsewhere", "the output of head " + std::to_string(head) +
                                      " stands where that of head " + std::to_string(head_) +
                                      " belongs"};
    return {"output-elsewhere", "the output of " + place(seq, head) + " stands where that of " +
                                    place(seq_, head_) + " belongs"};
  }
  return {};
}

LikelyCause StatisticsCause::of_keys_and_values_of(int other) const {
  const auto with = [&](int kv_head, int head) {
    return attend(problem_, gather(problem_, seq_, kv_head), seq_, head);
  };
  if (!are_those_of(with(other, head_))) return {};
  std::string sentence = "keys and values are those of KV head " + std::to_string(other);
  bool is_modulo = true;
  for (int head = 0; head < problem_.num_heads && is_modulo; ++head) {
    const int row = seq_ * problem_.num_heads + head;
    is_modulo = is_output(row, with(head % problem_.num_kv_heads, head).output,
                          4 * answer_.bounds[row].output);
  }
  if (is_modulo)
    sentence += ", as head % num_kv_heads has it, and head / (num_heads / num_kv_heads) is right";
  return {"wrong-kv-head", sentence};
}

StatisticsCause::Statistic StatisticsCause::logit(int token) const {
  const std::size_t i = static_cast<std::size_t>(row_) * outputs_.max_seq_len + token;
  return {outputs_.logits[i], attention().logits[token], answer_.bounds[row_].logits[token]};
}

LikelyCause StatisticsCause::of_maximum() const {
  if (outputs_.maxima.empty()) return {};
  const Statistic maximum{outputs_.maxima[row_],
                          expected_statistics(attention(), answer_.arithmetic).maximum,
                          answer_.bounds[row_].maximum};
  if (maximum.is_right() || !std::isfinite(maximum.got)) return {};
  const std::string numbers =
      number(maximum.got) + ", and the greatest logit is " + number(maximum.reference);
  // Tokens past the end may have a 0, too; either way it is no token's logit.
  if (maximum.got == 0 && maximum.reference < 0)
    return {"maximum", "the maximum is " + numbers +
                           ": the search begins at 0, or slots past the sequence's end take part"};
  // So little more is a logit that was rounded to bf16 or less coarsely.
  if (maximum.got > maximum.reference &&
      maximum.got - maximum.reference <= 0x1p-8 * std::abs(maximum.reference))
    return {};
  if (maximum.got > maximum.reference)
    return {"maximum", "the maximum is " + numbers +
                           ": more than the sequence's tokens took part in the search"};
  if (maximum.got == 0)
    return {"maximum", "the maximum is " + numbers +
                           ": nothing is subtracted from the logits, or what is, is not handed out "
                           "(where that is meant, declare no_maximum)"};
  for (int token = 0; token < seq_len(); ++token)
    if (Statistic{maximum.got, attention().logits[token], answer_.bounds[row_].logits[token]}
            .is_right())
      return {"maximum", "the maximum is " + numbers +
                             ": not all tokens took part in the search, "
                             "whose result is the logit of token " +
                             std::to_string(token)};
  return {};  // no token's: it is the logits that are wrong
}

LikelyCause StatisticsCause::of_lse(const Statistic& lse) const {
  if (std::isnan(lse.got)) return {"lse-unwritten", "the LSE is NaN: is it written?"};
  if (LikelyCause cause = of_shift(lse); !cause.id.empty()) return cause;
  if (lse.is(attention().maximum))
    return {"lse-without-sum",
            "the LSE is the maximum alone: the logarithm of the sum is not added"};
  if (LikelyCause cause = of_one_partition(lse); !cause.id.empty()) return cause;
  if (lse.is(std::log(attention().sum)))
    return {"lse-without-maximum", "the LSE is the logarithm of the sum alone: the maximum, " +
                                       number(attention().maximum) + ", is not added"};
  if (lse.is(lse.reference + attention().maximum))
    return {"maximum",
            "the LSE has the maximum twice: it is added, but was not subtracted from the logits"};
  if (lse.is(lse.reference / std::log(2.0)))
    return {"lse-in-base-2", "the LSE is a logarithm to base 2"};
  if (lse.is(attention().maximum + std::log2(attention().sum)))
    return {"lse-in-base-2",
            "the logarithm of the sum is one to base 2 in the LSE, which is the maximum plus its "
            "natural logarithm"};
  for (int other = 0; other < static_cast<int>(answer_.attention.size()); ++other)
    if (other != row_ && lse.is(answer_.attention[other].lse))
      return {"statistics-of-another-row",
              "the LSE is that of " +
                  place(other / problem_.num_heads, other % problem_.num_heads) +
                  ": rows of the statistics are mixed up"};
  return {};
}

LikelyCause StatisticsCause::of_one_partition(const Statistic& lse) const {
  const int size = problem_.partition_size;
  const int last = (seq_len() - 1) / size * size;
  if (last == 0) return {};
  const auto is_of = [&](int first, int tokens) {
    return lse.is(
        attention().maximum +
        std::log(
            (attention().logits.segment(first, tokens).array() - attention().maximum).exp().sum()));
  };
  const bool is_of_last = is_of(last, seq_len() - last);
  if (!is_of_last && !is_of(0, size)) return {};
  return {"lse-of-one-partition", std::string("the LSE is that of the ") +
                                      (is_of_last ? "last" : "first") + " partition, not of all"};
}

/// All logits, and so the LSE, are off by one number.
LikelyCause StatisticsCause::of_shift(const Statistic& statistic) const {
  if (problem_.alibi_slopes.empty()) return {};
  const double slope = problem_.alibi_slopes[head_];
  const auto off_by = [&](double slopes) {
    return statistic.is(statistic.reference + slopes * slope);
  };
  const auto cause = [&](double slopes, const std::string& how_many, const char* from) {
    return LikelyCause{"alibi-position",
                       "logits, maximum and LSE are off by " + number(slopes * slope) + ", " +
                           how_many + ", which no weight can show: the distance is counted from " +
                           from + ", not from the last position, seq_len - 1"};
  };
  if (off_by(-1)) return cause(-1, "minus one ALiBi slope", "seq_len");
  if (off_by(1)) return cause(1, "one ALiBi slope", "seq_len - 2");
  const int last = seq_len() - 1;
  const auto slopes_text = [](int slopes) { return std::to_string(slopes) + " ALiBi slopes"; };
  if (off_by(last)) return cause(last, slopes_text(last), "the first token");
  const int past_end = seq_len() - problem_.shape().max_seq_len;
  if (past_end < -1 && off_by(past_end))
    return cause(past_end, slopes_text(past_end), "the longest sequence's end");
  return {};
}

}  // namespace paged
