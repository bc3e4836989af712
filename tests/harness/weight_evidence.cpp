#include "tests/harness/weight_evidence.h"

#include "reference/cache_layout.h"

#include <algorithm>
#include <utility>

namespace paged {

bool agree(const Eigen::VectorXd& got, const Eigen::VectorXd& expected,
           const Eigen::VectorXd& bound) {
  for (Eigen::Index i = 0; i < got.size(); ++i)
    if (!(std::abs(got[i] - expected[i]) <= bound[i])) return false;
  return true;
}

int Evidence::kv_head() const {
  return kv_head_of(recovered.head, problem.num_heads, problem.num_kv_heads);
}

std::optional<double> Evidence::common_factor(int first, int end) const {
  const double of_reference = reference.weights.segment(first, end - first).sum();
  if (of_reference == 0) return std::nullopt;
  const double factor = got().segment(first, end - first).sum() / of_reference;
  for (int token = first; token < end; ++token)
    if (!(std::abs(got()[token] - factor * reference.weights[token]) <=
          2 * std::max(1.0, std::abs(factor)) * reference.bound[token]))  // rounding, on both sides
      return std::nullopt;
  return factor;
}

/// How much of an output may be off for it to be nearly a multiple: by a second, smaller mistake,
/// such as rounded probabilities. Of those nothing is said, nor of NaN and infinity, which numbers
/// that leave their range become.
constexpr double kFarFromMultiple = 1.0 / 16;

std::vector<MultipleOfReference> multiples_of_reference(const DecodeProblem& problem,
                                                        const DecodeOutputs& outputs,
                                                        const ReferenceAnswer& answer) {
  std::vector<MultipleOfReference> multiples;
  for (int row = 0; row < static_cast<int>(answer.attention.size()); ++row) {
    const Eigen::VectorXd& expected = answer.attention[row].output;
    const Eigen::VectorXd& bound = answer.bounds[row].output;
    const double square = expected.squaredNorm();
    if (!(square > 0)) continue;
    Eigen::VectorXd got(problem.head_size);
    for (int dim = 0; dim < problem.head_size; ++dim)
      got[dim] = outputs.output.read(std::int64_t{row} * problem.head_size + dim);
    const double factor = got.dot(expected) / square;
    MultipleOfReference multiple{row / problem.num_heads, row % problem.num_heads, factor,
                                 expected.cwiseAbs().dot(bound) / square, &answer.attention[row]};
    const Eigen::VectorXd off = got - factor * expected;
    if (agree(got, factor * expected, 2 * std::max(1.0, std::abs(factor)) * bound))
      multiples.push_back(multiple);
    else if (got.allFinite() && off.norm() > kFarFromMultiple * got.norm())
      multiples.push_back(multiple.none());
  }
  return multiples;
}

bool Evidence::are_all_multiples(
    const std::function<std::optional<double>(const MultipleOfReference& row)>& factor_of) const {
  return std::all_of(multiples.begin(), multiples.end(), [&](const MultipleOfReference& row) {
    const std::optional<double> expected = factor_of(row);
    if (!expected) return true;
    return row.is_multiple && std::isfinite(*expected) &&
           std::abs(row.factor - *expected) <=
               2 * row.tolerance * std::max(1.0, std::abs(*expected));
  });
}

bool Evidence::are_explained_by_tokens(const Eigen::VectorXd& weights) const {
  const double heavy = reference.weights.maxCoeff() / 16;
  double relative_bound = 0;
  for (int token = 0; token < seq_len(); ++token)
    if (reference.weights[token] >= heavy)
      relative_bound = std::max(relative_bound, reference.bound[token] / reference.weights[token]);
  Eigen::VectorXd expected = Eigen::VectorXd::Zero(got().size());
  expected.head(weights.size()) = weights;
  return are_explained_by(expected,
                          2 * (relative_bound * expected.array() + reference.bound.array()));
}

Evidence gather_evidence(const DecodeProblem& problem, const StageArithmetic& arithmetic,
                         const RecoveredWeights& recovered, const KernelTraits& kernel,
                         std::vector<MultipleOfReference> multiples, const WholeRun& run) {
  SlotsOfSequence slots(problem, recovered.seq);
  ExpectedWeights reference =
      expected_weights(problem, arithmetic, recovered.seq, recovered.head, slots);
  const int kv_head = kv_head_of(recovered.head, problem.num_heads, problem.num_kv_heads);
  HeadAttention attention =
      attend(problem, gather(problem, recovered.seq, kv_head), recovered.seq, recovered.head);
  return {problem,
          recovered,
          std::move(slots),
          std::move(reference),
          std::move(attention),
          kernel,
          std::move(multiples),
          run};
}

}  // namespace paged
