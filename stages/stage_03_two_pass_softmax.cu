// Stage 3: two-pass stable softmax.
//
// Adds      the two-pass stable softmax: the greatest logit, found by shuffles within warps and
//           through shared memory between them, is subtracted before exp(). Read
//           kernels/softmax.cuh.
// Expect    right answers for logits of any size; as many barriers as stage 2, since the barrier
//           that shares the maxima publishes the logits, too.
// Still     values one scalar at a time (stage 4). All logits of a sequence in shared memory
// wrong     (stage 5).
//
// Grid (num_heads, num_seqs), 128 threads: one CUDA block owns one (sequence, query head).
#include "kernels/scalar_pv.cuh"
#include "kernels/softmax.cuh"
#include "kernels/thread_group_qk.cuh"
#include "stages/cost_of_stages.h"
#include "stages/dispatch.cuh"
#include "stages/shared_memory.h"
#include "stages/stage.h"

namespace paged::PAGED_BACKEND {
namespace {

constexpr int kThreads = 128;

template <typename scalar_t, typename cache_t, int kHeadSize, int kBlockSize>
__global__ void __launch_bounds__(kThreads)
    stable_softmax_attention(const DecodeTensors<scalar_t, cache_t> t) {
  // [kernel]
  const HeadTask task = whole_head(t, blockIdx.y, blockIdx.x, kBlockSize);
  float* weights = reinterpret_cast<float*>(dynamic_shared);  // [pages * kBlockSize]

  const float thread_maximum = thread_group_qk<kHeadSize, kBlockSize, kThreads>(t, task, weights);

  __shared__ SoftmaxScratch<kThreads> scratch;
  const SoftmaxStatistics statistics =
      two_pass_softmax(weights, task.tokens(), thread_maximum, scratch);
  write_statistics(t, task.seq, task.head, statistics);

  scalar_pv<kThreads>(t, task, kBlockSize, weights);
  // [/kernel]
}

LaunchPlan plan(const DecodeShape& shape) {
  return plan_per_head(shape, kThreads, bytes_of_logits(shape));
}

void run(const paged_decode_args& args) {
  launch_per_head(args, plan(shape_of(args)), [](auto instance) {
    using I = decltype(instance);
    return stable_softmax_attention<typename I::scalar_t, typename I::cache_t, I::kHeadSize,
                                    I::kBlockSize>;
  });
}

}  // namespace

Stage stage_03_two_pass_softmax() {
  Stage stage;
  stage.number = 3;
  stage.name = "two-pass-softmax";
  stage.idea = "the maximum, by shuffles and shared memory, is subtracted before the exponential";
  stage.supports = every_type_and_size(kInstances);
  stage.promises = promises_of_every_stage();
  stage.promises.push_back("large-logits");
  stage.promises.push_back("shift-invariance");
  stage.arithmetic.lanes_per_dot = kPartialSumsPerDot;
  stage.arithmetic.has_dot_order = true;
  stage.arithmetic.exp_of_zero_is_one = stage.arithmetic.has_precise_log = true;
  stage.arithmetic.lanes_per_sum = kThreads;
  stage.plan = plan;
  stage.run = run;
  stage.predict = predict_stage_03;
  return stage;
}

}  // namespace paged::PAGED_BACKEND
