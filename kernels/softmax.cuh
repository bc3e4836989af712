// From logits in shared memory to weights in the same place.
#pragma once
#include "kernels/cuda.h"
#include "kernels/decode_tensors.cuh"
#include "kernels/phase.h"
#include "kernels/reduction.cuh"

namespace paged::PAGED_BACKEND {

/// What a softmax leaves beside the weights. Valid in every thread.
struct SoftmaxStatistics {
  float maximum;  ///< what was subtracted from the logits: 0 for nothing, -infinity for no token
  float sum;      ///< of the exponentials

  /// Log-sum-exp of the logits; -infinity for no token.
  __device__ float lse() const { return maximum + logf(sum); }
};

/// Hands out those statistics of (seq, head) that the caller asked for; thread 0 writes them.
template <typename scalar_t, typename cache_t>
__device__ void write_statistics(const DecodeTensors<scalar_t, cache_t>& t, int seq, int head,
                                 const SoftmaxStatistics& statistics) {
  if (threadIdx.x != 0) return;
  const std::int64_t row = static_cast<std::int64_t>(seq) * t.num_heads + head;
  if (t.lse != nullptr) t.lse[row] = statistics.lse();
  if (t.maxima != nullptr) t.maxima[row] = statistics.maximum;
  if (t.sums != nullptr) t.sums[row] = statistics.sum;
}

/// Shared memory of a softmax of kThreads threads.
template <int kThreads>
struct SoftmaxScratch {
  float maximum[kThreads / 32];
  float sum[kThreads / 32];
};

/// Calls f(i) for each i below `count`, thread by thread: threadIdx.x, threadIdx.x + kThreads ...
///
/// The lanes of a warp go round equally often, the last time some of them for nothing. So they stay
/// together however a compiler unrolls the loop; with a bound of its own each lane would leave an
/// unrolled loop where it ends for it, and the warp do in several requests what is one.
template <int kThreads, typename F>
__device__ __forceinline__ void for_each_own(int count, F f) {
  const int lane = threadIdx.x % 32;
  for (int first = threadIdx.x - lane; first < count; first += kThreads)
    if (first + lane < count) f(first + lane);
}

/// exp(logit) / sum, with nothing subtracted: overflows above 88, vanishes below -103.
///
/// weights: shared memory, [tokens], the logits on entry. Returns after a barrier: all weights may
/// be read by all threads.
template <int kThreads>
__device__ SoftmaxStatistics naive_softmax(float* weights, int tokens,
                                           SoftmaxScratch<kThreads>& scratch) {
  enter_phase(Phase::softmax);
  // [naive-softmax]
  __syncthreads();  // from here on every thread may read all logits
  float sum = 0.0F;
  for_each_own<kThreads>(tokens, [&](int token) {
    weights[token] = __expf(weights[token]);
    sum += weights[token];
  });
  sum = block_sum<kThreads>(sum, scratch.sum);  // in every thread
  // Divided, not multiplied by 1 / sum: that overflows for the smallest sums. No token at all:
  // zeros.
  const float denominator = sum > 0.0F ? sum : 1.0F;
  for_each_own<kThreads>(tokens, [&](int token) { weights[token] /= denominator; });
  __syncthreads();  // from here on every thread may read all weights
  return {0.0F, sum};
  // [/naive-softmax]
}

/// exp(logit - maximum) / (sum + 1e-6): the two-pass stable softmax.
///
/// weights as in naive_softmax; thread_maximum: the greatest logit of the tokens that this thread
/// or its group computed. Returns after a barrier: all weights may be read by all threads.
template <int kThreads>
__device__ SoftmaxStatistics two_pass_softmax(float* weights, int tokens, float thread_maximum,
                                              SoftmaxScratch<kThreads>& scratch) {
  enter_phase(Phase::softmax);
  // [two-pass-softmax]
  // Its barrier also publishes the logits.
  float maximum = block_max<kThreads>(thread_maximum, scratch.maximum);  // in every thread
  // No token takes part: -infinity - -infinity would be NaN.
  const float shift = maximum == -INFINITY ? 0.0F : maximum;
  float sum = 0.0F;
  for_each_own<kThreads>(tokens, [&](int token) {
    weights[token] = __expf(weights[token] - shift);
    sum += weights[token];
  });
  sum = block_sum<kThreads>(sum, scratch.sum);  // in every thread
  const float normaliser = __fdividef(1.0F, sum + 1e-6F);
  for_each_own<kThreads>(tokens, [&](int token) { weights[token] *= normaliser; });
  __syncthreads();  // from here on every thread may read all weights
  return {maximum, sum};
  // [/two-pass-softmax]
}

}  // namespace paged::PAGED_BACKEND
