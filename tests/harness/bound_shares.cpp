#include "tests/harness/bound_shares.h"

#include "stages/partition_workspace.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace paged {
namespace {

constexpr double kLeastShare = 0.125;

/// Never smaller than it was, and never NaN.
void use(double& share, double got, double expected, double bound) {
  // Infinities of one sign are equal, and what is NaN by right has no bound.
  if (got == expected || (std::isnan(got) && std::isnan(expected))) return;
  const double used = std::abs(got - expected) / bound;
  share = std::isnan(used) ? std::numeric_limits<double>::infinity() : std::max(share, used);
}

BoundShares shares_of_partitions(const DecodeProblem& problem, const PartitionOutputs& outputs,
                                 const ReferenceAnswer& reference, int seq, int head) {
  BoundShares shares;
  const std::size_t i = static_cast<std::size_t>(seq) * problem.num_heads + head;
  const GatheredKv kv = gather(problem, seq, head / (problem.num_heads / problem.num_kv_heads));
  const int seq_len = problem.seq_lens[seq];
  for (int j = 0; j < num_partitions(seq_len, problem.partition_size); ++j) {
    const int first = j * problem.partition_size;
    const int end = std::min(first + problem.partition_size, seq_len);
    const HeadAttention expected =
        attend_partition(problem, kv, reference.attention[i], seq, head, first, end);
    const HeadErrorBound bound = bound_partition_error(problem, kv, expected, reference.bounds[i],
                                                       reference.arithmetic, first);
    const std::size_t slot = i * outputs.partitions + j;
    use(shares.partition_maximum, outputs.maxima[slot], expected.maximum, bound.maximum);
    use(shares.partition_sum, outputs.sums[slot], expected.sum, bound.sum);
    for (Eigen::Index dim = 0; dim < expected.output.size(); ++dim)
      use(shares.partition_output, outputs.outputs[slot * problem.head_size + dim],
          expected.output[dim], bound.output[dim]);
  }
  return shares;
}

}  // namespace

const std::vector<BoundShareName>& bound_share_names() {
  static const std::vector<BoundShareName> names = {
      {"output", &BoundShares::output},
      {"logits", &BoundShares::logits},
      {"maximum", &BoundShares::maximum},
      {"sum", &BoundShares::sum},
      {"LSE", &BoundShares::lse},
      {"partitions: maximum", &BoundShares::partition_maximum},
      {"partitions: sum", &BoundShares::partition_sum},
      {"partitions: output", &BoundShares::partition_output}};
  return names;
}

void BoundShares::include(const BoundShares& other) {
  for (const BoundShareName& one : bound_share_names())
    this->*one.share = std::max(this->*one.share, other.*one.share);
}

bool has_errors_in(const BoundShareName& share, const StageArithmetic& arithmetic) {
  const bool of_partitions = share.share == &BoundShares::partition_maximum ||
                             share.share == &BoundShares::partition_sum ||
                             share.share == &BoundShares::partition_output;
  if (of_partitions && !arithmetic.partitions) return false;
  return share.share != &BoundShares::maximum || arithmetic.subtracts_maximum;
}

std::vector<std::string> complaints_about(const BoundShares& shares,
                                          const StageArithmetic& arithmetic) {
  std::vector<std::string> complaints;
  for (const BoundShareName& one : bound_share_names()) {
    const double share = shares.*one.share;
    const auto complain = [&](const std::string& why) {
      complaints.push_back(std::string(one.name) + " uses " + std::to_string(share) +
                           " of its bound: " + why);
    };
    if (!has_errors_in(one, arithmetic)) {
      if (share != 0) complain("it should be exact");
    } else if (!(share <= 1)) {
      complain("the bound is exceeded");
    } else if (share < kLeastShare) {
      complain("less than 1/8, so that it proves little");
    }
  }
  return complaints;
}

BoundShares shares_of(const DecodeProblem& problem, const DecodeOutputs& outputs,
                      const ReferenceAnswer& reference) {
  BoundShares shares;
  for (int seq = 0; seq < problem.num_seqs(); ++seq)
    for (int head = 0; head < problem.num_heads; ++head) {
      const std::size_t i = static_cast<std::size_t>(seq) * problem.num_heads + head;
      const HeadAttention& exact = reference.attention[i];
      const HeadErrorBound& bound = reference.bounds[i];
      const ExpectedStatistics statistics = expected_statistics(exact, reference.arithmetic);
      for (int dim = 0; dim < problem.head_size; ++dim)
        use(shares.output,
            outputs.output.read(static_cast<std::int64_t>(i) * problem.head_size + dim),
            exact.output[dim], bound.output[dim]);
      use(shares.lse, outputs.lse[i], exact.lse, bound.lse);
      use(shares.maximum, outputs.maxima[i], statistics.maximum, bound.maximum);
      use(shares.sum, outputs.sums[i], statistics.sum, bound.sum);
      for (int token = 0; token < exact.logits.size(); ++token)
        use(shares.logits, outputs.logits[i * outputs.max_seq_len + token], exact.logits[token],
            bound.logits[token]);
      if (outputs.partitions.partitions > 0)
        shares.include(shares_of_partitions(problem, outputs.partitions, reference, seq, head));
    }
  return shares;
}

}  // namespace paged
