// kernels/scalar_pv.cuh and kernels/vector_pv.cuh.
#include "stages/cost_of_parts.h"
#include "stages/cost_of_requests.h"

#include <algorithm>
#include <bit>

namespace paged {

Counts cost_of_scalar_pv(const CallShape& call, const TaskShape& task) {
  const std::int64_t row_bytes = std::int64_t{call.shape.block_size} * cache_bytes(call);
  Counts counts;
  for_each_warp_of(call.shape.head_size, [&](int first_dim, int lanes) {
    for (const PageShape& page : task.pages) {
      if (!page.takes_part) continue;
      counts += global_load(same_for_all(table_byte(call, task, page.index), 4));
      // Weights, the same for all lanes: four at a time, then what is left one by one.
      counts += static_cast<std::uint64_t>(page.tokens / 4) *
                    shared_load(lanes, 16, [](int) { return 0; }) +
                static_cast<std::uint64_t>(page.tokens % 4) * shared_load();
    }
    // A value a token, of each lane's own row.
    const LaneRow values = {first_dim * row_bytes, lanes, row_bytes, cache_bytes(call)};
    counts += static_cast<std::uint64_t>(task.tokens_taking_part()) * global_load(values);
    counts += global_store(  // output[dim]
        side_by_side(output_byte(call, task) + std::int64_t{first_dim} * scalar_bytes(call), lanes,
                     scalar_bytes(call)));
  });
  return counts;
}

namespace {

/// ValueRows, of sizes known at run time.
struct RowShape {
  int vector;         ///< tokens in a lane's vector: kVector
  int lanes_per_row;  ///< kLanesPerRow
  int rows_per_step;  ///< kRowsPerStep
  int steps;          ///< kRowsPerLane
  int head_size;

  explicit RowShape(const CallShape& call)
      : vector(std::min(16 / scalar_bytes(call), call.shape.block_size)),
        lanes_per_row(call.shape.block_size / vector),
        rows_per_step(kLanes / lanes_per_row),
        steps((call.shape.head_size + rows_per_step - 1) / rows_per_step),
        head_size(call.shape.head_size) {}

  /// Rows of a step: the last may have fewer.
  int rows(int step) const { return std::min(rows_per_step, head_size - step * rows_per_step); }
};

/// add_weighted_values(): a warp and a page.
Counts weighting(const CallShape& call, const TaskShape& task, const RowShape& rows, int page) {
  Counts counts = global_load(same_for_all(table_byte(call, task, page), 4));
  const int bytes = rows.vector * cache_bytes(call);
  for (int step = 0; step < rows.steps; ++step)  // rows lie one after the other, without gaps
    counts += global_load(side_by_side(std::int64_t{step} * kLanes * bytes,
                                       rows.rows(step) * rows.lanes_per_row, bytes));
  for (int i = 0; i < rows.vector; i += 4)  // four weights; lanes of a row have different ones
    counts += shared_load(
        kLanes, 16, [&](int lane) { return (lane % rows.lanes_per_row * rows.vector + i) * 4; });
  return counts;
}

/// add_over_warps(): sums over the lanes of a row, then a tree over warps.
Counts adding_over_warps(const RowShape& rows) {
  const auto steps = static_cast<std::uint64_t>(rows.steps);
  const int distances = std::countr_zero(static_cast<unsigned>(rows.lanes_per_row));
  Counts counts = kWarps * steps * shuffles(distances);
  for (int half = kWarps / 2; half >= 1; half /= 2)
    counts += static_cast<std::uint64_t>(half) * steps * shared_store() + barriers(1) +
              static_cast<std::uint64_t>(half) * steps * shared_load() + barriers(1);
  return counts;
}

}  // namespace

Counts cost_of_vector_pv(const CallShape& call, const TaskShape& task, std::int64_t output_begin,
                         int output_bytes) {
  const RowShape rows(call);
  Counts counts;
  for (const PageShape& page : task.pages)
    if (page.takes_part) counts += weighting(call, task, rows, page.index);
  counts += barriers(1);  // before the weights' memory is used again
  counts += adding_over_warps(rows);
  for (int step = 0; step < rows.steps; ++step)  // for_each_output(): warp 0
    counts += global_store(
        side_by_side(output_begin + std::int64_t{step} * rows.rows_per_step * output_bytes,
                     rows.rows(step), output_bytes));
  return counts;
}

}  // namespace paged
