// Recovered weights of one (sequence, head) beside what they must be, and what can be read off
// them.
#pragma once
#include "reference/decode_attention.h"
#include "tests/harness/comparison.h"
#include "tests/harness/mistaken_problem.h"
#include "tests/harness/recovered_weights.h"
#include "tests/harness/whole_run.h"

#include <cmath>
#include <functional>
#include <optional>
#include <vector>

namespace paged {

/// Every number of `got` lies within `bound` of `expected`; NaN lies nowhere.
bool agree(const Eigen::VectorXd& got, const Eigen::VectorXd& expected,
           const Eigen::VectorXd& bound);

/// A (sequence, head) whose output is one multiple of the reference's: all its weights have it. Or
/// one whose output is far from any, which speaks against a mistake that gives it one.
struct MultipleOfReference {
  int seq = 0;
  int head = 0;
  double factor = 1;
  double tolerance = 0;  ///< of the factor, for each 1 of it and no less
  const HeadAttention* attention = nullptr;
  bool is_multiple = true;

  MultipleOfReference none() const {
    MultipleOfReference far = *this;
    far.is_multiple = false;
    return far;
  }
};

/// Those of a run. `answer` must outlive them.
std::vector<MultipleOfReference> multiples_of_reference(const DecodeProblem& problem,
                                                        const DecodeOutputs& outputs,
                                                        const ReferenceAnswer& answer);

/// Weights, what they must be, and the sequence they belong to.
struct Evidence {
  const DecodeProblem& problem;
  const RecoveredWeights& recovered;
  SlotsOfSequence slots;
  ExpectedWeights reference;
  HeadAttention attention;
  KernelTraits kernel;
  std::vector<MultipleOfReference> multiples;  ///< of the same run, this (sequence, head) included
  const WholeRun& run;                         ///< the same run

  const Eigen::VectorXd& got() const { return recovered.weights; }
  int seq_len() const { return problem.seq_lens[recovered.seq]; }
  int kv_head() const;
  bool is_right() const { return agree(got(), reference.weights, reference.bound); }
  /// Whether no weight is off by more than rounding it to 16 bits explains.
  bool is_nearly_right() const {
    constexpr double kRoundingToBf16 = 0x1p-8;
    return agree(got(), reference.weights,
                 2 * reference.bound + 2 * kRoundingToBf16 * reference.weights);
  }
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
  /// Whether a mistake that gives the weights `expected` explains them: they agree, and better than
  /// with the reference, so that wide bounds alone don't make an explanation.
  bool are_explained_by(const Eigen::VectorXd& expected, const Eigen::VectorXd& bound) const {
    return agree(got(), expected, bound) &&
           2 * (got() - expected).lpNorm<1>() <= (got() - reference.weights).lpNorm<1>();
  }
  /// Whether no other (sequence, head) speaks against a mistake that gives all weights of one a
  /// factor: one number agrees by chance sooner than several. `factor_of` says nothing of those
  /// that the mistake says nothing of.
  bool are_all_multiples(
      const std::function<std::optional<double>(const MultipleOfReference& row)>& factor_of) const;
  /// The same of weights that the sequence's own tokens alone have, [seq_len], within the relative
  /// error that the arithmetic allows a token of some weight.
  bool are_explained_by_tokens(const Eigen::VectorXd& weights) const;
  /// Whether nothing but the sequence's own tokens weighs.
  bool is_within_sequence() const {
    const Eigen::Index others = got().size() - seq_len();
    return agree(got().tail(others), reference.weights.tail(others),
                 reference.bound.tail(others) * 2);
  }
};

Evidence gather_evidence(const DecodeProblem& problem, const StageArithmetic& arithmetic,
                         const RecoveredWeights& recovered, const KernelTraits& kernel,
                         std::vector<MultipleOfReference> multiples, const WholeRun& run);

}  // namespace paged
