#include "tests/harness/statistics_cause.h"

#include "tests/harness/coordinates.h"

#include <cmath>
#include <optional>

namespace paged {
namespace {

/// One number that a run handed out, and what it must be.
struct Statistic {
  double got, reference, bound;

  bool is(double expected) const { return std::abs(got - expected) <= 2 * bound; }
  bool is_right() const { return got == reference || std::abs(got - reference) <= bound; }
};

class Statistics {
 public:
  Statistics(const DecodeProblem& problem, const DecodeOutputs& outputs,
             const ReferenceAnswer& answer, int seq, int head)
      : problem_(problem),
        outputs_(outputs),
        answer_(answer),
        seq_(seq),
        head_(head),
        row_(seq * problem.num_heads + head) {}

  LikelyCause cause() const {
    const std::optional<Statistic> lse = lse_of_row();
    if (lse && !lse->is_right()) {
      if (LikelyCause cause = of_lse(*lse); !cause.id.empty()) return cause;
      return of_shift(*lse);
    }
    // Without an LSE the logits show a common shift.
    const std::optional<Statistic> logit = last_logit();
    if (logit && !logit->is_right()) return of_shift(*logit);
    return of_maximum();
  }

 private:
  const HeadAttention& attention() const { return answer_.attention[row_]; }
  int seq_len() const { return problem_.seq_lens[seq_]; }

  std::optional<Statistic> lse_of_row() const {
    if (outputs_.lse.empty() || seq_len() == 0) return {};
    return Statistic{outputs_.lse[row_], attention().lse, answer_.bounds[row_].lse};
  }

  std::optional<Statistic> last_logit() const {
    if (outputs_.logits.empty() || seq_len() == 0) return {};
    const int last = seq_len() - 1;
    const std::size_t i = static_cast<std::size_t>(row_) * outputs_.max_seq_len + last;
    return Statistic{outputs_.logits[i], attention().logits[last],
                     answer_.bounds[row_].logits[last]};
  }

  /// Whatever is subtracted, weights and LSE are right, unless exponentials leave their range.
  LikelyCause of_maximum() const {
    if (outputs_.maxima.empty() || seq_len() == 0) return {};
    const Statistic maximum{outputs_.maxima[row_],
                            expected_statistics(attention(), answer_.arithmetic).maximum,
                            answer_.bounds[row_].maximum};
    if (maximum.is_right() || !std::isfinite(maximum.got)) return {};
    const std::string numbers =
        number(maximum.got) + ", and the greatest logit is " + number(maximum.reference);
    if (maximum.got > maximum.reference)
      return {"maximum", "the maximum is " + numbers +
                             ": more than the sequence's tokens took part in the search"};
    return {"maximum", "the maximum is " + numbers + ": not all tokens took part in the search"};
  }

  LikelyCause of_lse(const Statistic& lse) const {
    if (std::isnan(lse.got)) return {"lse-unwritten", "the LSE is NaN: is it written?"};
    if (lse.is(std::log(attention().sum)))
      return {"lse-without-maximum", "the LSE is the logarithm of the sum alone: the maximum, " +
                                         number(attention().maximum) + ", is not added"};
    if (lse.is(lse.reference / std::log(2.0)))
      return {"lse-in-base-2", "the LSE is a logarithm to base 2"};
    for (std::size_t other = 0; other < answer_.attention.size(); ++other)
      if (static_cast<int>(other) != row_ && lse.is(answer_.attention[other].lse))
        return {"statistics-of-another-row",
                "the LSE is that of " +
                    place(static_cast<int>(other) / problem_.num_heads,
                          static_cast<int>(other) % problem_.num_heads) +
                    ": rows of the statistics are mixed up"};
    return {};
  }

  /// All logits, and so the LSE, are off by one number.
  LikelyCause of_shift(const Statistic& statistic) const {
    if (problem_.alibi_slopes.empty()) return {};
    const double slope = problem_.alibi_slopes[head_];
    const auto off_by = [&](double slopes) {
      return statistic.is(statistic.reference + slopes * slope);
    };
    const auto cause = [&](double slopes, const std::string& how_many, const char* from) {
      return LikelyCause{"alibi-position",
                         "logits, maximum and LSE are off by " + number(slopes * slope) + ", " +
                             how_many +
                             ", which no weight can show: the distance is counted from " + from +
                             ", not from the last position, seq_len - 1"};
    };
    if (off_by(-1)) return cause(-1, "minus one ALiBi slope", "seq_len");
    if (off_by(1)) return cause(1, "one ALiBi slope", "seq_len - 2");
    const int last = seq_len() - 1;
    if (off_by(last)) return cause(last, std::to_string(last) + " ALiBi slopes", "the first token");
    return {};
  }

  const DecodeProblem& problem_;
  const DecodeOutputs& outputs_;
  const ReferenceAnswer& answer_;
  int seq_, head_, row_;
};

}  // namespace

LikelyCause cause_of_statistics(const DecodeProblem& problem, const DecodeOutputs& outputs,
                                const ReferenceAnswer& answer, int seq, int head) {
  return Statistics(problem, outputs, answer, seq, head).cause();
}

}  // namespace paged
