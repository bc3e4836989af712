// What the building blocks of kernels/ cost, for one CUDA block of 128 threads, from the shape alone.
//
// Read each beside the code that it counts: one term a loop or access of the source, in its order.
// tests/stages/predicted_cost_test.cpp holds them against the CPU machine's counts, to the digit.
#pragma once
#include "kernels/counts.h"
#include "stages/call_shape.h"

#include <cstdint>
#include <vector>

namespace paged {

inline constexpr int kLanes = 32;
inline constexpr int kWarps = 4;

/// One page of a task.
struct PageShape {
  int index = 0;   ///< in its sequence
  int tokens = 0;  ///< of the task on it: block_size, or fewer on the last
  bool takes_part = true;
};

/// What one CUDA block works on: kernels/head_task.cuh.
struct TaskShape {
  int seq = 0, head = 0;
  int first_token = 0, end_token = 0;
  std::vector<PageShape> pages;

  int tokens() const { return end_token - first_token; }
  int pages_taking_part() const;
  int tokens_taking_part() const;
};

/// The task of (seq, head) over [first_token, end_token); first_token begins a page.
TaskShape task_of(const CallShape& call, int seq, int head, int first_token, int end_token);
/// Over all tokens.
TaskShape whole_head(const CallShape& call, int seq, int head);

/// Bytes of an element.
int scalar_bytes(const CallShape& call);
int cache_bytes(const CallShape& call);

/// Number of (sequence, head) in row-major order.
std::int64_t row_of(const CallShape& call, const TaskShape& task);
/// First byte of (seq, head)'s query and output.
std::int64_t query_byte(const CallShape& call, const TaskShape& task);
std::int64_t output_byte(const CallShape& call, const TaskShape& task);
/// Byte of a page's entry in the block table.
std::int64_t table_byte(const CallShape& call, const TaskShape& task, int page);
/// Byte of a token's logit in global memory.
std::int64_t logit_byte(const CallShape& call, const TaskShape& task, int token);

/// Calls f(first, lanes) for each warp that a loop `for (i = threadIdx.x; i < count; i += 128)`
/// sends out: 32 neighbours, the last with what is left.
template <typename F>
void for_each_warp_of(int count, F f) {
  for (int first = 0; first < count; first += kLanes)
    f(first, count - first < kLanes ? count - first : kLanes);
}
/// How many warps that are.
constexpr int warps_of(int count) { return (count + kLanes - 1) / kLanes; }

/// whole_head(), partition_of_head(): each warp reads the sequence's length.
Counts cost_of_task(const CallShape& call, const TaskShape& task);

/// block_sum() or block_max() of reduction.cuh.
Counts cost_of_block_reduction();
/// naive_softmax() and two_pass_softmax() of softmax.cuh.
Counts cost_of_naive_softmax(int tokens);
Counts cost_of_two_pass_softmax(int tokens);
/// write_statistics() of softmax.cuh.
Counts cost_of_statistics(const CallShape& call, const TaskShape& task);

/// thread_group_qk() of thread_group_qk.cuh: phases QK and gather.
void add_thread_group_qk(const CallShape& call, const TaskShape& task, CountsByPhase& counts);

/// scalar_pv() of scalar_pv.cuh.
Counts cost_of_scalar_pv(const CallShape& call, const TaskShape& task);

/// add_weighted_values(), the barrier behind it, add_over_warps() and for_each_output() of
/// vector_pv.cuh. The output begins at `output_begin` and has elements of `output_bytes`.
Counts cost_of_vector_pv(const CallShape& call, const TaskShape& task, std::int64_t output_begin,
                         int output_bytes);

}  // namespace paged
