// kernels/thread_group_qk.cuh.
#include "stages/cost_of_parts.h"
#include "stages/cost_of_requests.h"

#include <algorithm>
#include <bit>

namespace paged {

namespace {

/// ThreadGroups, of sizes known at run time.
struct GroupShape {
  int lanes;             ///< that share a token: kGroupSize
  int vector;            ///< elements of a lane's vector: kVector
  int vectors_per_lane;  ///< kVectorsPerLane
  int query_piece;       ///< elements of the staged query that a lane reads at once: kQueryPiece

  explicit GroupShape(const CallShape& call)
      : lanes(kLanes / call.shape.block_size),
        vector(16 / (lanes * scalar_bytes(call))),
        vectors_per_lane(call.shape.head_size / (lanes * vector)),
        query_piece(std::min(vector, 4)) {}
};

/// Bytes of an element of the staged query.
constexpr int kFloat = 4;

/// stage_query(), and the barrier behind it.
Counts staging(const CallShape& call, const TaskShape& task, const GroupShape& group) {
  const int from = group.query_piece * scalar_bytes(call);
  const int to = group.query_piece * kFloat;
  Counts counts;
  for_each_warp_of(call.shape.head_size / group.query_piece, [&](int first, int lanes) {
    counts += global_load(side_by_side(query_byte(call, task) + first * from, lanes, from));
    counts += shared_store(lanes, to, [&](int lane) { return (first + lane) * to; });
  });
  return counts + barriers(1);
}

/// The entry of the block table, and the loop over vectors that loads the page's key: tokens lie 16
/// bytes apart, and a group's lanes take 16 bytes of each, or what of them an fp8 cache has.
Counts gathering(const CallShape& call, const TaskShape& task, const GroupShape& group, int page) {
  const LaneRow key = {0, call.shape.block_size, 16,
                       group.lanes * group.vector * cache_bytes(call)};
  return global_load(same_for_all(table_byte(call, task, page), 4)) +
         static_cast<std::uint64_t>(group.vectors_per_lane) * global_load(key);
}

/// The loop over vectors that multiplies, the sum over the group's lanes, and the position bias.
Counts multiplying(const CallShape& call, const TaskShape& task, const GroupShape& group) {
  // Lanes of a group read neighbouring vectors, all groups the same: the banks of the first vector,
  // and the same moved on for the others.
  const Counts piece = shared_load(kLanes, group.query_piece * kFloat, [&](int lane) {
    return lane % group.lanes * group.vector * kFloat;
  });
  Counts counts =
      static_cast<std::uint64_t>(group.vectors_per_lane * group.vector / group.query_piece) * piece;
  counts += shuffles(std::countr_zero(static_cast<unsigned>(group.lanes)));  // warp_sum
  if (call.alibi) counts += global_load(same_for_all(std::int64_t{4} * task.head, 4));
  return counts;
}

}  // namespace

void add_thread_group_qk(const CallShape& call, const TaskShape& task, CountsByPhase& counts) {
  const GroupShape group(call);
  counts[Phase::qk] += staging(call, task, group);
  for (const PageShape& page : task.pages) {  // one warp each
    if (page.takes_part) {
      counts[Phase::gather] += gathering(call, task, group, page.index);
      counts[Phase::qk] += multiplying(call, task, group);
    }
    counts[Phase::qk] += shared_store();  // logits[token], of the first lane of each group
    if (call.logits)                      // of tokens before the sequence's end
      counts[Phase::qk] += global_store(
          side_by_side(logit_byte(call, task, page.index * call.shape.block_size), page.tokens, 4));
  }
}

}  // namespace paged
