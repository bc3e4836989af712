// The weighted sum of values, 16 bytes of tokens at a time, summed over lanes and warps.
#pragma once
#include "kernels/conversion.cuh"
#include "kernels/head_task.cuh"
#include "kernels/phase.h"
#include "kernels/reduction.cuh"
#include "kernels/vector_conversion.cuh"
#include "kernels/vector_load.cuh"

#include <cstring>

namespace paged::PAGED_BACKEND {

/// How a warp walks a page of values, [kHeadSize, kBlockSize]: each lane loads kVector tokens of
/// one row (one output dimension), kLanesPerRow lanes make a row, and the warp covers kRowsPerStep
/// rows.
///
///   f16, block_size 16: vectors of 8 tokens, 2 lanes a row, 16 rows a step, 8 steps for 128 rows
template <typename scalar_t, int kHeadSize, int kBlockSize>
struct ValueRows {
  // [value-rows]
  static constexpr int kVector = 16 / static_cast<int>(sizeof(scalar_t)) < kBlockSize
                                     ? 16 / static_cast<int>(sizeof(scalar_t))
                                     : kBlockSize;
  static constexpr int kLanesPerRow = kBlockSize / kVector;
  static constexpr int kRowsPerStep = 32 / kLanesPerRow;
  static constexpr int kRowsPerLane = (kHeadSize + kRowsPerStep - 1) / kRowsPerStep;
  // [/value-rows]
};

/// Zeroes all but the first `valid` tokens of each row; valid may be negative or more than there
/// are. What lies past a sequence's end may be NaN, and 0 * NaN is NaN: it must become 0 before the
/// product.
template <typename cache_t, int kVector, int kRows>
__device__ __forceinline__ void zero_past_end(Vec<cache_t, kVector> (&rows)[kRows], int valid) {
  if constexpr (sizeof(cache_t) == 1) {
    // Four elements at a time: alone, each would fill a register, and there are too few.
#pragma unroll
    for (int first = 0; first < kVector; first += 4) {
      const int valid_bits = 8 * (valid - first);
      const unsigned keep = valid_bits >= 32  ? 0xFFFFFFFFU
                            : valid_bits <= 0 ? 0U
                                              : (1U << valid_bits) - 1;
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        unsigned four;
        memcpy(&four, &rows[i][first], sizeof(four));
        four &= keep;
        memcpy(static_cast<void*>(&rows[i][first]), &four, sizeof(four));
      }
    }
  } else {
    // [zero-tail]
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
#pragma unroll
      for (int k = 0; k < kVector; ++k)
        if (k >= valid) rows[i][k] = from_float<cache_t>(0.0F);
    }
    // [/zero-tail]
  }
}

/// sum + weights . values over one vector of tokens. Products and sums in f32.
template <typename cache_t, int kVector>
__device__ __forceinline__ float add_products(float sum, const Vec<float, kVector>& weights,
                                              const Vec<cache_t, kVector>& values) {
  float v[kVector];
  to_floats(values, v);
#pragma unroll
  for (int k = 0; k < kVector; ++k) sum += weights.elements[k] * v[k];
  return sum;
}

/// The same as vLLM v0.6.0 has it in f16: products in f16, pairs of them added one after the other
/// in f16, and only the two halves of the last pair, and sums of vectors, in f32. _rn: each rounded
/// by itself; nvcc would make one operation of a product and a sum.
template <int kVector>
__device__ __forceinline__ float add_products(float sum, const Vec<__half, kVector>& weights,
                                              const Vec<__half, kVector>& values) {
  const auto product = [&](int k) {
    return __hmul2_rn(__halves2half2(weights[k], weights[k + 1]),
                      __halves2half2(values[k], values[k + 1]));
  };
  __half2 pair = product(0);
#pragma unroll
  for (int k = 2; k < kVector; k += 2) pair = __hadd2_rn(pair, product(k));
  const float2 halves = __half22float2(pair);
  return sum + (halves.x + halves.y);
}

/// Adds weight * value over the task's pages, warps taking pages in turn. probability_t: the type
/// that weights are rounded to first, float or, beside an f16 cache, __half.
///
/// weights: shared memory, [pages of the task * kBlockSize]; slots past the end hold finite
/// numbers. sums: the lane's share of its rows, [kRowsPerLane]; row i of a lane is lane /
/// kLanesPerRow + i * kRowsPerStep.
template <int kHeadSize, int kBlockSize, int kThreads, typename probability_t = float,
          typename scalar_t, typename cache_t>
__device__ void add_weighted_values(
    const DecodeTensors<scalar_t, cache_t>& t, const HeadTask& task, const float* weights,
    float (&sums)[ValueRows<scalar_t, kHeadSize, kBlockSize>::kRowsPerLane]) {
  using Rows = ValueRows<scalar_t, kHeadSize, kBlockSize>;
  enter_phase(Phase::pv);
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int first_row = lane / Rows::kLanesPerRow;
  const int offset = lane % Rows::kLanesPerRow * Rows::kVector;
  const int* block_table = t.block_table_of(task.seq);

  // [weighted-values]
  for (int page = task.first_page + warp; page < task.end_page; page += kThreads / 32) {
    if (!t.sparsity.takes_part(page, task.seq_len, kBlockSize, task.stripe)) continue;
    const cache_t* values =
        t.value_page(block_table[page], task.kv_head);  // [kHeadSize, kBlockSize]
    // All rows of the page are asked for before any is used, so that one wait serves them all.
    // Rows past the head size, which the last step may have, stay zero.
    Vec<cache_t, Rows::kVector> value[Rows::kRowsPerLane] = {};
#pragma unroll
    for (int i = 0; i < Rows::kRowsPerLane; ++i) {
      const int row = first_row + i * Rows::kRowsPerStep;
      if (row < kHeadSize)
        value[i] = load_vec<Rows::kVector>(values + value_offset_in_page(offset, row, kBlockSize));
    }
    const int token = page * kBlockSize + offset;
    Vec<probability_t, Rows::kVector> weight;
#pragma unroll
    for (int i = 0; i < Rows::kVector; i += 4) {
      const Vec<float, 4> four = load_vec<4>(weights + token - task.first_token + i);
#pragma unroll
      for (int k = 0; k < 4; ++k) weight[i + k] = from_float<probability_t>(four[k]);
    }
    // Only the last page can have a tail.
    if (page == task.end_page - 1) zero_past_end(value, task.seq_len - token);
#pragma unroll
    for (int i = 0; i < Rows::kRowsPerLane; ++i) {
      if (first_row + i * Rows::kRowsPerStep >= kHeadSize) continue;
      sums[i] = add_products(sums[i], weight, value[i]);
    }
  }
  // [/weighted-values]
}

/// Adds the sums of all lanes and warps that share a row; valid in warp 0, in the first lane of
/// each row's kLanesPerRow lanes. exchange: shared memory, [warps / 2, kHeadSize], which no thread
/// may still be using.
template <int kHeadSize, int kBlockSize, int kThreads, typename scalar_t>
__device__ void add_over_warps(
    float (&sums)[ValueRows<scalar_t, kHeadSize, kBlockSize>::kRowsPerLane], float* exchange) {
  using Rows = ValueRows<scalar_t, kHeadSize, kBlockSize>;
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  // [add-over-warps]
  // First over the lanes of a row, by shuffles; then a tree over the warps: the upper half hands
  // its rows to the lower half, which adds them.
#pragma unroll
  for (int i = 0; i < Rows::kRowsPerLane; ++i) sums[i] = warp_sum<Rows::kLanesPerRow>(sums[i]);
#pragma unroll
  for (int half = kThreads / 32 / 2; half >= 1; half /= 2) {
    const auto each_row = [&](auto f) {
#pragma unroll
      for (int i = 0; i < Rows::kRowsPerLane; ++i) {
        const int row = lane / Rows::kLanesPerRow + i * Rows::kRowsPerStep;
        if (row < kHeadSize && lane % Rows::kLanesPerRow == 0) f(i, row);
      }
    };
    if (warp >= half && warp < 2 * half)
      each_row([&](int i, int row) { exchange[(warp - half) * kHeadSize + row] = sums[i]; });
    __syncthreads();  // from here on the upper half's sums may be read
    if (warp < half) each_row([&](int i, int row) { sums[i] += exchange[warp * kHeadSize + row]; });
    __syncthreads();  // from here on exchange may be written again
  }
  // [/add-over-warps]
}

/// Calls write(dim, sum) for every output dimension, once, in the lanes that hold the sums of
/// add_over_warps().
template <int kHeadSize, int kBlockSize, typename scalar_t, typename Write>
__device__ void for_each_output(
    const float (&sums)[ValueRows<scalar_t, kHeadSize, kBlockSize>::kRowsPerLane], Write write) {
  using Rows = ValueRows<scalar_t, kHeadSize, kBlockSize>;
  if (threadIdx.x / 32 != 0) return;
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < Rows::kRowsPerLane; ++i) {
    const int row = lane / Rows::kLanesPerRow + i * Rows::kRowsPerStep;
    if (row < kHeadSize && lane % Rows::kLanesPerRow == 0) write(row, sums[i]);
  }
}

}  // namespace paged::PAGED_BACKEND
