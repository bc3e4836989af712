// A head of attention the naive way, to measure how fast the CPU machine is.
#include "kernels/reduction.cuh"
#include "tests/simt/sample_kernels.h"

#include <cmath>

namespace paged::PAGED_BACKEND {
namespace {

constexpr int kGatherThreads = 128;

// query [heads, head_size]; keys, values [tokens, head_size]; output [heads, head_size]
__global__ void __launch_bounds__(kGatherThreads)
    gather_attention(int tokens, int head_size, const float* query, const float* keys,
                     const float* values, float* output) {
  float* const weights = reinterpret_cast<float*>(dynamic_shared);  // [tokens]
  __shared__ float scratch[kGatherThreads / 32];
  const float* const own_query = query + blockIdx.x * head_size;  // [head_size]

  enter_phase(Phase::qk);
  float sum = 0.0F;
  for (int token = threadIdx.x; token < tokens; token += kGatherThreads) {
    float dot = 0.0F;
    for (int dim = 0; dim < head_size; ++dim) dot += own_query[dim] * keys[token * head_size + dim];
    weights[token] = __expf(dot);
    sum += weights[token];
  }

  enter_phase(Phase::softmax);
  sum = block_sum<kGatherThreads>(sum, scratch);

  enter_phase(Phase::pv);
  for (int dim = threadIdx.x; dim < head_size; dim += kGatherThreads) {
    float accumulator = 0.0F;
    for (int token = 0; token < tokens; ++token)
      accumulator += weights[token] * values[token * head_size + dim];
    output[blockIdx.x * head_size + dim] = accumulator / sum;
  }
}

}  // namespace

void add_gather(SampleKernels& kernels) {
  kernels.gather_attention = [](int heads, int tokens, int head_size, const float* query,
                                const float* keys, const float* values, float* output) {
    launch(gather_attention, dim3(heads), dim3(kGatherThreads), tokens * sizeof(float), Stream{},
           tokens, head_size, query, keys, values, output);
  };
}

}  // namespace paged::PAGED_BACKEND
