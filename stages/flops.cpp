#include "stages/flops.h"

#include "stages/cost_of_parts.h"
#include "stages/partition_workspace.h"
#include "stages/stage.h"

#include <cstdint>

namespace paged {

Flops flops_of(const Stage& stage, const CallShape& call) {
  const auto head_size = static_cast<std::uint64_t>(call.shape.head_size);
  const std::uint64_t of_softmax = stage.arithmetic.subtracts_maximum ? 4 : 3;
  const bool partitioned = stage.plan(call.shape).partitions > 0;
  Flops flops;
  for (int seq = 0; seq < call.shape.num_seqs; ++seq)
    for (int head = 0; head < call.shape.num_heads; ++head) {
      const TaskShape task = whole_head(call, seq, head);
      const auto tokens = static_cast<std::uint64_t>(task.tokens_taking_part());
      flops.qk += 2 * head_size * tokens;
      flops.softmax += of_softmax * tokens;
      flops.pv += 2 * head_size * tokens;
      if (!partitioned) continue;
      const auto partitions =
          static_cast<std::uint64_t>(num_partitions(task.tokens(), call.shape.partition_size));
      flops.reduce += (4 + 2 * head_size) * partitions + head_size;
    }
  return flops;
}

}  // namespace paged
