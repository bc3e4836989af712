// Stage 2: thread-group QK.
//
// Adds      thread groups: 32 / block_size lanes share one token, and each loads a vector of its
//           key, so that a warp covers one page and a group moves 16 bytes at a time. The query is
//           staged once in shared memory. Read kernels/thread_group_qk.cuh.
// Expect    QK in whole sectors where the cache has the scalar's own type: a request of a warp
//           takes the sectors it needs and no more. An fp8 key fills only part of what a request
//           touches.
// Still     exp() of the bare logit (stage 3). Values one scalar at a time (stage 4). All logits of
// wrong     a sequence in shared memory (stage 5).
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
    thread_group_qk_attention(const DecodeTensors<scalar_t, cache_t> t) {
  const HeadTask task = whole_head(t, blockIdx.y, blockIdx.x, kBlockSize);
  float* weights = reinterpret_cast<float*>(dynamic_shared);  // [pages * kBlockSize]

  thread_group_qk<kHeadSize, kBlockSize, kThreads>(t, task, weights);

  __shared__ SoftmaxScratch<kThreads> scratch;
  const SoftmaxStatistics statistics = naive_softmax(weights, task.tokens(), scratch);
  write_statistics(t, task.seq, task.head, statistics);

  scalar_pv<kThreads>(t, task, kBlockSize, weights);
}

LaunchPlan plan(const DecodeShape& shape) {
  return plan_per_head(shape, kThreads, bytes_of_logits(shape));
}

void run(const paged_decode_args& args) {
  launch_per_head(args, plan(shape_of(args)), [](auto instance) {
    using I = decltype(instance);
    return thread_group_qk_attention<typename I::scalar_t, typename I::cache_t, I::kHeadSize,
                                     I::kBlockSize>;
  });
}

}  // namespace

Stage stage_02_thread_group_qk() {
  Stage stage;
  stage.number = 2;
  stage.name = "thread-group-qk";
  stage.idea =
      "groups of 32/B lanes share a token and load 16 bytes of key at a time; the query is staged "
      "in shared memory";
  stage.supports = every_type_and_size(kInstances);
  stage.promises = promises_of_every_stage();
  stage.breaks = {
      {"large-logits",
       "exp() of the bare logit overflows above 88 and vanishes below -103; the two-pass "
       "softmax of stage 3 subtracts the maximum first"},
      {"shift-invariance", "the same: logits moved by 200 leave the range of exp()"}};
  stage.arithmetic.lanes_per_dot = kPartialSumsPerDot;
  stage.arithmetic.has_dot_order = true;
  stage.arithmetic.exp_of_zero_is_one = stage.arithmetic.has_precise_log = true;
  stage.arithmetic.lanes_per_sum = kThreads;
  stage.arithmetic.subtracts_maximum = false;
  stage.arithmetic.guards_denominator = false;
  stage.plan = plan;
  stage.run = run;
  stage.predict = predict_stage_02;
  return stage;
}

}  // namespace paged::PAGED_BACKEND
