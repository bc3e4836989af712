// The weighted sum of values, one scalar at a time: one thread owns one output dimension.
#pragma once
#include "kernels/conversion.cuh"
#include "kernels/head_task.cuh"
#include "kernels/phase.h"
#include "kernels/vector_load.cuh"

namespace paged::PAGED_BACKEND {

/// Weights of neighbouring tokens that a thread reads at once: 16 bytes, the same for all lanes.
inline constexpr int kWeightsAtOnce = 4;

/// Writes the output of the task's head. weights: shared memory, [tokens of the task], 16-byte
/// aligned. block_size: a multiple of 4.
template <int kThreads, typename scalar_t, typename cache_t>
__device__ void scalar_pv(const DecodeTensors<scalar_t, cache_t>& t, const HeadTask& task,
                          int block_size, const float* weights) {
  enter_phase(Phase::pv);
  // [scalar-pv]
  const int* block_table = t.block_table_of(task.seq);
  for (int dim = threadIdx.x; dim < t.head_size; dim += kThreads) {
    float accumulator = 0.0F;
    for (int page = task.first_page; page < task.end_page; ++page) {
      if (!t.sparsity.takes_part(page, task.seq_len, block_size, task.stripe)) continue;
      const cache_t* values = t.value_page(block_table[page], task.kv_head);
      const int first = page * block_size;
      const int tokens = min(block_size, task.end_token - first);
      const float* page_weights = weights + (first - task.first_token);  // [tokens]
      const auto value = [&](int offset) {
        return to_float(values[value_offset_in_page(offset, dim, block_size)]);
      };
      const int in_fours = tokens - tokens % kWeightsAtOnce;
      for (int offset = 0; offset < in_fours; offset += kWeightsAtOnce) {
        const Vec<float, kWeightsAtOnce> four = load_vec<kWeightsAtOnce>(page_weights + offset);
#pragma unroll
        for (int i = 0; i < kWeightsAtOnce; ++i) accumulator += four[i] * value(offset + i);
      }
      // What is left of the last page, up to three: no compiler needs to make more of it.
#pragma unroll 1
      for (int offset = in_fours; offset < tokens; ++offset)
        accumulator += page_weights[offset] * value(offset);
    }
    t.output_of(task.seq, task.head)[dim] = from_float<scalar_t>(t.v_scale * accumulator);
  }
  // [/scalar-pv]
}

}  // namespace paged::PAGED_BACKEND
