// q . k by thread groups: several lanes share one token and load 16 bytes of its key at a time.
#pragma once
#include "kernels/conversion.cuh"
#include "kernels/head_task.cuh"
#include "kernels/phase.h"
#include "kernels/reduction.cuh"
#include "kernels/vector_conversion.cuh"
#include "kernels/vector_load.cuh"

namespace paged::PAGED_BACKEND {

/// How a warp is cut into thread groups so that one pass over it covers one page.
///
///   block_size   kGroupSize   lanes of a warp
///        8            4       0 0 0 0 1 1 1 1 2 2 2 2 ...   (token of the page)
///       16            2       0 0 1 1 2 2 ...
///       32            1       0 1 2 3 ...
template <typename scalar_t, typename cache_t, int kHeadSize, int kBlockSize>
struct ThreadGroups {
  // [thread-groups]
  static constexpr int kGroupSize = kBlockSize >= 32 ? 1 : 32 / kBlockSize;
  /// Elements of a lane's vector: a group takes 16 bytes of query at a time.
  static constexpr int kVector = 16 / (kGroupSize * static_cast<int>(sizeof(scalar_t)));
  static constexpr int kVectorsPerLane = kHeadSize / (kGroupSize * kVector);
  /// x of the key layout.
  static constexpr int kX = 16 / static_cast<int>(sizeof(cache_t));

  static_assert(32 % kBlockSize == 0, "a warp covers whole pages");
  static_assert(kHeadSize % (kGroupSize * kVector) == 0, "lanes share the head evenly");
  static_assert(kHeadSize % kX == 0, "a key is whole 16-byte vectors");
  // [/thread-groups]

  /// Elements of the staged query that a lane reads at once: 16 bytes of floats, or its vector.
  static constexpr int kQueryPiece = kVector < 4 ? kVector : 4;
};

/// Partial sums of one dot product, in every instance: 16 bytes of query are 4 or 8 elements, each
/// with a sum of its own.
inline constexpr int kPartialSumsPerDot = 4;

/// Converts the query of (seq, head) to float, once for all tokens, and leaves it in shared memory
/// in its own order. [kHeadSize]. A barrier must follow before it is read.
///
/// The classic kernel keeps the query's type, and an order by lanes: [offset in the group][vector].
/// Then each token converts the query anew, and the lanes of a group read from the same banks. In
/// this order a group reads neighbouring vectors, and all groups the same ones, a broadcast. What
/// that gains is in docs/measurements.
// [stage-query]
template <int kPiece, int kHeadSize, int kThreads, typename scalar_t>
__device__ void stage_query(const scalar_t* query, float* staged) {
  for (int piece = threadIdx.x; piece < kHeadSize / kPiece; piece += kThreads) {
    float values[kPiece];
    to_floats(load_vec<kPiece>(query + piece * kPiece), values);
    Vec<float, kPiece> floats;
#pragma unroll
    for (int i = 0; i < kPiece; ++i) floats[i] = values[i];
    store_vec(staged + piece * kPiece, floats);
  }
}
// [/stage-query]

/// Computes the logits of the task's tokens, warps taking pages in turn.
///
/// logits: shared memory, [pages of the task * kBlockSize], index 0 being first_token. Slots past
/// the sequence's end get 0 (from stage 4 on they are read, with values that are 0: a NaN would stay
/// one); tokens of pages that block-sparse attention leaves out get -infinity.
/// Returns the greatest logit that this thread's group saw, -infinity for none. A barrier must
/// follow before other threads' logits are read.
template <int kHeadSize, int kBlockSize, int kThreads, typename scalar_t, typename cache_t>
__device__ float thread_group_qk(const DecodeTensors<scalar_t, cache_t>& t, const HeadTask& task,
                                 float* logits) {
  using Groups = ThreadGroups<scalar_t, cache_t, kHeadSize, kBlockSize>;
  constexpr int kWarps = kThreads / 32;
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int lane_offset = lane % Groups::kGroupSize;
  const int token_in_page = lane / Groups::kGroupSize;

  enter_phase(Phase::qk);
  alignas(16) __shared__ float query[kHeadSize];
  stage_query<Groups::kQueryPiece, kHeadSize, kThreads>(t.query_of(task.seq, task.head), query);
  __syncthreads();  // from here on every thread may read the whole query

  // [page-loop]
  float greatest = -INFINITY;
  for (int page = task.first_page + warp; page < task.end_page; page += kWarps) {
    const int token = page * kBlockSize + token_in_page;
    float logit = -INFINITY;
    // [/page-loop]
    if (t.sparsity.takes_part(page, task.seq_len, kBlockSize, task.stripe)) {
      // [gather]
      enter_phase(Phase::gather);
      const int physical_block = t.block_table_of(task.seq)[page];
      const cache_t* keys =
          t.key_page(physical_block, task.kv_head);  // [kHeadSize/x, kBlockSize, x]
      Vec<cache_t, Groups::kVector> key[Groups::kVectorsPerLane];
#pragma unroll
      for (int vector = 0; vector < Groups::kVectorsPerLane; ++vector) {
        const int dim = (vector * Groups::kGroupSize + lane_offset) * Groups::kVector;
        key[vector] = load_vec<Groups::kVector>(
            keys + key_offset_in_page(token_in_page, dim, kBlockSize, Groups::kX));
      }
      // [/gather]
      enter_phase(Phase::qk);
      // [dot-product]
      // One partial sum an element of the vector: independent chains hide the latency of the adds.
      float partial[Groups::kVector] = {};
#pragma unroll
      for (int vector = 0; vector < Groups::kVectorsPerLane; ++vector) {
        const int dim = (vector * Groups::kGroupSize + lane_offset) * Groups::kVector;
        float k[Groups::kVector];
        to_floats(key[vector], k);
#pragma unroll
        for (int first = 0; first < Groups::kVector; first += Groups::kQueryPiece) {
          const auto q = load_vec<Groups::kQueryPiece>(query + dim + first);
#pragma unroll
          for (int i = 0; i < Groups::kQueryPiece; ++i) partial[first + i] += q[i] * k[first + i];
        }
      }
      float dot = 0.0F;
#pragma unroll
      for (int i = 0; i < Groups::kVector; ++i) dot += partial[i];
      dot = warp_sum<Groups::kGroupSize>(dot);  // in every lane of the group
      logit = t.scale * (t.k_scale * dot) + t.position_bias(task.head, token, task.seq_len);
      // [/dot-product]
    }
    // [mask]
    const bool past_end = token >= task.seq_len;
    if (lane_offset == 0) {
      logits[token - task.first_token] = past_end ? 0.0F : logit;
      if (t.logits != nullptr && !past_end) t.logits_of(task.seq, task.head)[token] = logit;
    }
    if (!past_end) greatest = fmaxf(greatest, logit);
    // [/mask]
  }
  return greatest;
}

}  // namespace paged::PAGED_BACKEND
