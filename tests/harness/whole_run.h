// What a run put out for every (sequence, head): a mistake must explain all of it, not one alone.
#pragma once
#include "tests/harness/comparison.h"
#include "tests/harness/mistaken_problem.h"

#include <Eigen/Core>

#include <functional>
#include <optional>
#include <string>

namespace paged {

/// A (sequence, head).
struct OutputRow {
  int seq = 0;
  int head = 0;
};

/// What the tokens of a (sequence, head) weigh with a mistake, [seq_len]; nothing where the mistake
/// leaves that open. `right` is the reference's.
using TokenWeights = std::function<Eigen::VectorXd(OutputRow row, const HeadAttention& right)>;

/// The outputs of a run beside the reference's. All it is made of must outlive it.
class WholeRun {
 public:
  WholeRun(const DecodeProblem& problem, const DecodeOutputs& outputs,
           const ReferenceAnswer& answer, const KernelTraits& traits)
      : problem_(problem), outputs_(outputs), answer_(answer), traits_(traits) {}

  const DecodeProblem& problem() const { return problem_; }
  const HeadAttention& attention(OutputRow row) const { return answer_.attention[index(row)]; }
  const HeadErrorBound& bound(OutputRow row) const { return answer_.bounds[index(row)]; }
  Eigen::VectorXd output(OutputRow row) const;  ///< [head_size]
  bool is_right(OutputRow row) const { return is_output(row, attention(row).output, 1); }

  /// Whether a row's output is `expected`, within `times` the bound of the reference's.
  bool is_output(OutputRow row, const Eigen::VectorXd& expected, double times) const;
  /// Whether weights that were read through the output make this output of the values there are.
  bool is_made_of(const Eigen::VectorXd& weights, OutputRow row) const;
  /// Whether the output of a row is what a kernel with the mistake puts out. Nothing where that is
  /// no number.
  std::optional<bool> is_output_of(const MistakenProblem& mistake, OutputRow row) const;

  /// The same, and nearer to it than to the reference.
  bool is_nearly_output_of(const MistakenProblem& mistake, OutputRow row) const;
  /// The first row that speaks against a mistake with this rule (MistakenProblem::rule). A row of
  /// which the rule says nothing, as it reads what nobody knows there, does not.
  std::optional<OutputRow> first_against(const std::string& rule) const;
  /// The same of one about where values are read (MistakenReading::rule).
  std::optional<OutputRow> first_against_reading(const std::string& rule) const;
  /// The same for a mistake that says what tokens weigh; none if it says nothing at all.
  /// `times`: how many times as far as a right one an output may be off.
  std::optional<OutputRow> first_against(const TokenWeights& weights, double times = 1) const;

 private:
  /// The first row for which `allows` is false; rows of empty sequences are not asked for.
  std::optional<OutputRow> first_row(const std::function<bool(OutputRow row)>& allows) const;
  std::size_t index(OutputRow row) const {
    return static_cast<std::size_t>(row.seq) * problem_.num_heads + row.head;
  }
  bool allows(const std::string& rule, OutputRow row) const;
  bool allows_reading(const std::string& rule, OutputRow row) const;
  /// Whether the output of a row is `factor` times that of another problem; nothing where that is
  /// no number.
  std::optional<bool> is_output_of(const DecodeProblem& problem, double factor,
                                   OutputRow row) const;
  /// Beside what a right row may be off, weights may be, each by so great a share of it.
  bool is_output_of(const Eigen::VectorXd& weights, OutputRow row, double times,
                    double weights_off = 0) const;

  const DecodeProblem& problem_;
  const DecodeOutputs& outputs_;
  const ReferenceAnswer& answer_;
  KernelTraits traits_;
};

}  // namespace paged
