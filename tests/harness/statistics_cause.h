// From wrong statistics beside right attention weights to the mistake that makes them.
#pragma once
#include "tests/harness/comparison.h"
#include "tests/harness/likely_cause.h"

#include <Eigen/Core>

#include <string>

namespace paged {

/// What logits, maximum and LSE of one (sequence, head) say. What moves all logits of a head alike,
/// such as an ALiBi position that is one off, no weight can show. What a run doesn't hand out is
/// not looked at.
class StatisticsCause {
 public:
  /// `outputs` of a run of `problem`. All must outlive this object.
  StatisticsCause(const DecodeProblem& problem, const DecodeOutputs& outputs,
                  const ReferenceAnswer& answer, int seq, int head);

  /// The mistake that explains statistics that are wrong though the weights are right; none if they
  /// are within their bounds, or if nothing explains them.
  LikelyCause cause() const;
  /// A wrong maximum of right logits. It also makes weights wrong where exponentials leave their
  /// range, or where threads subtract different ones.
  LikelyCause of_maximum_beside_right_logits() const;
  /// "LSE is", "maximum and sum are": which of LSE, maximum, sum and logits, as far as they were
  /// handed out, are wrong; "" if none is.
  std::string wrong_statistics() const;
  bool output_is_right() const;
  /// The output that stands here where it, and not the LSE, is that of another (sequence, head).
  LikelyCause of_output_elsewhere() const;
  /// That keys and values, as the LSE shows, are those of KV head `other`; none if they aren't
  /// both.
  LikelyCause of_keys_and_values_of(int other) const;
  /// Whether the LSE, or the logits, are wrong, and are these: those of another problem, whose
  /// weights may be the same.
  bool are_those_of(const HeadAttention& other) const;

 private:
  struct Statistic;
  bool is_output(int row, const Eigen::VectorXd& expected, const Eigen::VectorXd& bound) const;
  bool lse_is_right() const;
  const HeadAttention& attention() const { return answer_.attention[row_]; }
  int seq_len() const { return problem_.seq_lens[seq_]; }
  Statistic logit(int token) const;
  LikelyCause of_lse(const Statistic& lse) const;
  LikelyCause of_one_partition(const Statistic& lse) const;
  LikelyCause of_shift(const Statistic& statistic) const;
  LikelyCause of_maximum() const;

  const DecodeProblem& problem_;
  const DecodeOutputs& outputs_;
  const ReferenceAnswer& answer_;
  int seq_, head_, row_;
};

}  // namespace paged
