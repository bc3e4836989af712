// kernels/reduction.cuh and kernels/softmax.cuh.
#include "stages/cost_of_parts.h"
#include "stages/cost_of_requests.h"

namespace paged {

Counts cost_of_block_reduction() {
  constexpr int kSteps = 5;            // of a butterfly over 32 lanes
  return kWarps * (shuffles(kSteps) +  // warp_sum(value)
                   shared_store()) +   // lane 0: scratch[warp]
         barriers(1) +
         kWarps * (shared_load() +     // scratch[lane], of lanes 0 to 3 or of all
                   shuffles(kSteps));  // of the warps' values
}

Counts cost_of_naive_softmax(int tokens) {
  const auto warps = static_cast<std::uint64_t>(warps_of(tokens));
  return barriers(1) +                               // before all logits are read
         warps * (shared_load() + shared_store()) +  // weights[token] = exp(weights[token])
         cost_of_block_reduction() +                 // of the sums
         warps * (shared_load() + shared_store()) +  // weights[token] /= denominator
         barriers(1);
}

Counts cost_of_two_pass_softmax(int tokens) {
  const auto warps = static_cast<std::uint64_t>(warps_of(tokens));
  return cost_of_block_reduction() +                 // of the maxima; its barrier publishes logits
         warps * (shared_load() + shared_store()) +  // weights[token] = exp(weights[token] - max)
         cost_of_block_reduction() +                 // of the sums
         warps * (shared_load() + shared_store()) +  // weights[token] *= normaliser
         barriers(1);
}

Counts cost_of_statistics(const CallShape& call, const TaskShape& task) {
  const LaneRow thread_0 = {4 * row_of(call, task), 1, 0, 4};
  return static_cast<std::uint64_t>(call.lse + call.maxima + call.sums) * global_store(thread_0);
}

}  // namespace paged
