// Stage 4: vectorised PV.
//
// Adds      vectorised PV: a lane loads 16 bytes, several tokens of one output dimension; tokens
//           past the end are set to zero before the product, since 0 * NaN is NaN; sums of lanes
//           and warps are added through the shared memory that held the weights. Read
//           kernels/vector_pv.cuh. This is the complete classical kernel, V1.
// Expect    values in whole sectors too, and four warps at work on one output.
// Still     one CUDA block walks a whole sequence, and its logits must fit in shared memory
// wrong     (stage 5).
//
// Grid (num_heads, num_seqs), 128 threads: one CUDA block owns one (sequence, query head).
#include "kernels/occupancy.cuh"
#include "kernels/softmax.cuh"
#include "kernels/thread_group_qk.cuh"
#include "kernels/vector_pv.cuh"
#include "stages/cost_of_stages.h"
#include "stages/dispatch.cuh"
#include "stages/shared_memory.h"
#include "stages/stage.h"

namespace paged::PAGED_BACKEND {
namespace {

constexpr int kThreads = 128;

template <typename scalar_t, typename cache_t, int kHeadSize, int kBlockSize,
          typename probability_t>
__global__ void __launch_bounds__(
    kThreads, kBlocksPerMultiprocessor<cache_t, kHeadSize, kBlockSize, probability_t>)
    vectorised_pv_attention(const DecodeTensors<scalar_t, cache_t> t) {
  // [kernel]
  const HeadTask task = whole_head(t, blockIdx.y, blockIdx.x, kBlockSize);
  float* weights = reinterpret_cast<float*>(dynamic_shared);  // [pages * kBlockSize]

  const float thread_maximum = thread_group_qk<kHeadSize, kBlockSize, kThreads>(t, task, weights);

  __shared__ SoftmaxScratch<kThreads> scratch;
  const SoftmaxStatistics statistics =
      two_pass_softmax(weights, task.tokens(), thread_maximum, scratch);
  write_statistics(t, task.seq, task.head, statistics);

  float sums[ValueRows<scalar_t, kHeadSize, kBlockSize>::kRowsPerLane] = {};
  add_weighted_values<kHeadSize, kBlockSize, kThreads, probability_t>(t, task, weights, sums);
  __syncthreads();  // from here on nobody reads the weights: their memory may be used again
  add_over_warps<kHeadSize, kBlockSize, kThreads, scalar_t>(sums, weights);
  scalar_t* output = t.output_of(task.seq, task.head);  // [kHeadSize]
  for_each_output<kHeadSize, kBlockSize, scalar_t>(
      sums, [&](int dim, float sum) { output[dim] = from_float<scalar_t>(t.v_scale * sum); });
  // [/kernel]
}

}  // namespace

// Stage 5 takes this kernel as its V1.
LaunchPlan plan_of_stage_04(const DecodeShape& shape) {
  return plan_per_head(shape, kThreads, bytes_of_v1(shape, kThreads));
}

void run_stage_04(const paged_decode_args& args) {
  launch_per_head(args, plan_of_stage_04(shape_of(args)), [&](auto instance) {
    using I = decltype(instance);
    using scalar_t = typename I::scalar_t;
    using cache_t = typename I::cache_t;
    return with_probability_type<cache_t>(args, [](auto probability) {
      return vectorised_pv_attention<scalar_t, cache_t, I::kHeadSize, I::kBlockSize,
                                     typename decltype(probability)::type>;
    });
  });
}

Stage stage_04_vectorised_pv() {
  Stage stage;
  stage.number = 4;
  stage.name = "vectorised-pv";
  stage.idea =
      "16-byte loads of values, tails zeroed against NaN, one buffer for weights and partial "
      "outputs: the complete V1";
  stage.supports = every_type_and_size(kInstances);
  stage.supports.probabilities.push_back(ScalarType::f16);
  stage.promises = promises_of_every_stage();
  stage.promises.push_back("large-logits");
  stage.promises.push_back("shift-invariance");
  stage.arithmetic.lanes_per_dot = kPartialSumsPerDot;
  stage.arithmetic.has_dot_order = true;
  stage.arithmetic.exp_of_zero_is_one = stage.arithmetic.has_precise_log = true;
  stage.arithmetic.lanes_per_sum = kThreads;
  stage.arithmetic.warps_per_output = kThreads / 32;
  stage.plan = plan_of_stage_04;
  stage.run = run_stage_04;
  stage.predict = predict_stage_04;
  return stage;
}

}  // namespace paged::PAGED_BACKEND
