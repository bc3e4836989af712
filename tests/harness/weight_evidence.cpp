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

Evidence gather_evidence(const DecodeProblem& problem, const StageArithmetic& arithmetic,
                         const RecoveredWeights& recovered, const KernelTraits& kernel) {
  SlotsOfSequence slots(problem, recovered.seq);
  ExpectedWeights reference =
      expected_weights(problem, arithmetic, recovered.seq, recovered.head, slots);
  const int kv_head = kv_head_of(recovered.head, problem.num_heads, problem.num_kv_heads);
  HeadAttention attention =
      attend(problem, gather(problem, recovered.seq, kv_head), recovered.seq, recovered.head);
  return {problem, recovered, std::move(slots), std::move(reference), std::move(attention), kernel};
}

}  // namespace paged
