#include "stages/cost_of_stages.h"

#include "stages/cost_of_parts.h"
#include "stages/cost_of_requests.h"
#include "stages/partition_workspace.h"
#include "stages/v1_v2_policy.h"

#include <algorithm>
#include <set>

namespace paged {

namespace {

/// Adds up f(task, counts) over the grid (num_heads, num_seqs).
template <typename F>
CountsByPhase over_heads(const CallShape& call, F f) {
  CountsByPhase counts;
  for (int seq = 0; seq < call.shape.num_seqs; ++seq)
    for (int head = 0; head < call.shape.num_heads; ++head) f(whole_head(call, seq, head), counts);
  return counts;
}

/// The pages under a warp's neighbouring tokens, as far as they take part.
struct PagesUnderWarp {
  int lanes = 0;                 ///< on them
  std::int64_t key_sectors = 0;  ///< of one dimension: tokens lie 16 bytes apart, two a sector
  std::set<std::int64_t> table_sectors;
  int pages = 0;
};

PagesUnderWarp pages_under_warp(const CallShape& call, const TaskShape& task, int first_token,
                                int lanes) {
  PagesUnderWarp under;
  const int block_size = call.shape.block_size;
  for (int page = first_token / block_size; page * block_size < first_token + lanes; ++page) {
    const PageShape& shape = task.pages[static_cast<std::size_t>(page)];
    if (!shape.takes_part) continue;
    ++under.pages;
    under.lanes += shape.tokens;
    under.key_sectors += sectors_of({0, shape.tokens, 16, 1});
    under.table_sectors.insert(table_byte(call, task, page) / kSectorBytes);
  }
  return under;
}

/// QK of stage 1: one thread owns one token and walks the head dimension.
Counts naive_qk(const CallShape& call, const TaskShape& task) {
  Counts counts;
  for_each_warp_of(task.tokens(), [&](int first, int lanes) {
    const PagesUnderWarp under = pages_under_warp(call, task, first, lanes);
    if (under.lanes > 0) {
      Counts table;  // block_table[page]
      table.global_load_requests = 1;
      table.global_load_sectors = under.table_sectors.size();
      table.global_load_useful_bytes = 4 * static_cast<std::uint64_t>(under.pages);
      Counts key;  // keys[...], of one dimension
      key.global_load_requests = 1;
      key.global_load_sectors = static_cast<std::uint64_t>(under.key_sectors);
      key.global_load_useful_bytes = static_cast<std::uint64_t>(under.lanes * cache_bytes(call));
      const Counts query = global_load(same_for_all(0, scalar_bytes(call)));  // query[dim]
      counts += table + static_cast<std::uint64_t>(call.shape.head_size) * (query + key);
      if (call.alibi) counts += global_load(same_for_all(std::int64_t{4} * task.head, 4));
    }
    counts += shared_store();  // weights[token]
    if (call.logits) counts += global_store(side_by_side(logit_byte(call, task, first), lanes, 4));
  });
  return counts;
}

/// partition_attention() of stage 5, one CUDA block.
void add_partition(const CallShape& call, const TaskShape& task, int partition, int partitions,
                   CountsByPhase& counts) {
  counts[std::nullopt] += cost_of_task(call, task);
  if (task.tokens() == 0) return;
  add_thread_group_qk(call, task, counts);
  counts[Phase::softmax] += cost_of_two_pass_softmax(task.tokens());
  const std::int64_t slot = row_of(call, task) * partitions + partition;
  counts[Phase::softmax] += 2 * global_store({4 * slot, 1, 0, 4});  // maxima[slot], sums[slot]
  const std::int64_t outputs =
      std::int64_t{4} * 2 * call.shape.num_seqs * call.shape.num_heads * partitions;
  counts[Phase::pv] += cost_of_vector_pv(call, task, outputs + 4 * slot * call.shape.head_size, 4);
}

/// reduce_partitions() of stage 5, one CUDA block; `partitions` of the longest sequence, `own` of
/// this one.
Counts reduction(const CallShape& call, const TaskShape& task, int partitions, int own) {
  const std::int64_t slots = std::int64_t{call.shape.num_seqs} * call.shape.num_heads * partitions;
  const std::int64_t first_slot = row_of(call, task) * partitions;
  const int head_size = call.shape.head_size;
  Counts counts = cost_of_task(call, task);
  for_each_warp_of(own, [&](int first, int lanes) {
    const LaneRow maxima = side_by_side(4 * (first_slot + first), lanes, 4);
    const LaneRow sums = side_by_side(4 * (slots + first_slot + first), lanes, 4);
    counts += global_load(maxima);                                       // the first loop
    counts += global_load(sums) + global_load(maxima) + shared_store();  // the second: weights[j]
  });
  counts += 2 * cost_of_block_reduction();  // the maximum, the sum
  counts += cost_of_statistics(call, task);
  for_each_warp_of(head_size, [&](int first_dim, int lanes) {
    for (int j = 0; j < own; ++j)
      counts += shared_load() +  // weights[j], for all lanes
                global_load(side_by_side(4 * (2 * slots + (first_slot + j) * head_size + first_dim),
                                         lanes, 4));
    counts += global_store(
        side_by_side(output_byte(call, task) + std::int64_t{first_dim} * scalar_bytes(call), lanes,
                     scalar_bytes(call)));
  });
  return counts;
}

}  // namespace

CountsByPhase predict_stage_01(const CallShape& call) {
  return over_heads(call, [&](const TaskShape& task, CountsByPhase& counts) {
    counts[std::nullopt] += cost_of_task(call, task);
    counts[Phase::qk] += naive_qk(call, task);
    counts[Phase::softmax] += cost_of_naive_softmax(task.tokens()) + cost_of_statistics(call, task);
    counts[Phase::pv] += cost_of_scalar_pv(call, task);
  });
}

CountsByPhase predict_stage_02(const CallShape& call) {
  return over_heads(call, [&](const TaskShape& task, CountsByPhase& counts) {
    counts[std::nullopt] += cost_of_task(call, task);
    add_thread_group_qk(call, task, counts);
    counts[Phase::softmax] += cost_of_naive_softmax(task.tokens()) + cost_of_statistics(call, task);
    counts[Phase::pv] += cost_of_scalar_pv(call, task);
  });
}

CountsByPhase predict_stage_03(const CallShape& call) {
  return over_heads(call, [&](const TaskShape& task, CountsByPhase& counts) {
    counts[std::nullopt] += cost_of_task(call, task);
    add_thread_group_qk(call, task, counts);
    counts[Phase::softmax] +=
        cost_of_two_pass_softmax(task.tokens()) + cost_of_statistics(call, task);
    counts[Phase::pv] += cost_of_scalar_pv(call, task);
  });
}

CountsByPhase predict_stage_04(const CallShape& call) {
  return over_heads(call, [&](const TaskShape& task, CountsByPhase& counts) {
    counts[std::nullopt] += cost_of_task(call, task);
    add_thread_group_qk(call, task, counts);
    counts[Phase::softmax] +=
        cost_of_two_pass_softmax(task.tokens()) + cost_of_statistics(call, task);
    counts[Phase::pv] += cost_of_vector_pv(call, task, output_byte(call, task), scalar_bytes(call));
  });
}

CountsByPhase predict_stage_05(const CallShape& call) {
  if (takes_v1(call.shape)) return predict_stage_04(call);
  const int size = call.shape.partition_size;
  const int partitions = num_partitions(call.shape.max_seq_len, size);
  return over_heads(call, [&](const TaskShape& head, CountsByPhase& counts) {
    for (int partition = 0; partition < partitions; ++partition) {
      const int first = std::min(partition * size, head.end_token);
      const int end = std::min(first + size, head.end_token);
      add_partition(call, task_of(call, head.seq, head.head, first, end), partition, partitions,
                    counts);
    }
    counts[Phase::reduce] +=
        reduction(call, head, partitions, num_partitions(head.end_token, size));
  });
}

}  // namespace paged
