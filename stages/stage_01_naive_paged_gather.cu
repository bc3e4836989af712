// Stage 1: naive paged gather.
//
// Adds      the page walk: token -> logical block -> physical block -> address, and around it the
//           whole of decode attention, one scalar at a time.
// Expect    right answers for ordinary inputs, and about the worst use of memory there is: lanes of
//           a warp sit on neighbouring tokens, 16 bytes apart, so a load of one scalar of 32 keys
//           touches 16 sectors of 32 bytes, where 2 (f16) or 4 (f32) hold as many scalars.
// Still     exp() of the bare logit: above 88 it overflows, below -103 it vanishes (stage 3 mends
// wrong     it). No vector loads (stage 2 for keys, stage 4 for values). The query is read again
//           from global memory for every token (stage 2). All logits of a sequence must fit in
//           shared memory (stage 5).
//
// Grid (num_heads, num_seqs), 128 threads: one CUDA block owns one (sequence, query head).
#include "kernels/conversion.cuh"
#include "kernels/head_task.cuh"
#include "kernels/phase.h"
#include "kernels/scalar_pv.cuh"
#include "kernels/softmax.cuh"
#include "stages/cost_of_stages.h"
#include "stages/dispatch.cuh"
#include "stages/shared_memory.h"
#include "stages/stage.h"

#include <cmath>

namespace paged::PAGED_BACKEND {
namespace {

constexpr int kThreads = 128;

template <typename scalar_t, typename cache_t>
__global__ void __launch_bounds__(kThreads)
    naive_paged_gather(const DecodeTensors<scalar_t, cache_t> t) {
  const HeadTask task = whole_head(t, blockIdx.y, blockIdx.x, t.block_size);
  const scalar_t* query = t.query_of(task.seq, task.head);    // [head_size]
  const int* block_table = t.block_table_of(task.seq);        // [pages]
  float* weights = reinterpret_cast<float*>(dynamic_shared);  // [seq_len], logits until the softmax

  // [page-walk]
  // QK: one thread owns one token and walks the head dimension.
  enter_phase(Phase::qk);
  for (int token = threadIdx.x; token < task.seq_len; token += kThreads) {
    const int page = token / t.block_size;
    const int offset = token % t.block_size;
    float logit = -INFINITY;
    if (t.sparsity.takes_part(page, task.seq_len, t.block_size, task.stripe)) {
      const cache_t* keys = t.key_page(block_table[page], task.kv_head);
      float dot = 0.0F;
      for (int dim = 0; dim < t.head_size; ++dim)
        dot += to_float(query[dim]) *
               to_float(keys[key_offset_in_page(offset, dim, t.block_size, t.kKeyVector)]);
      logit = t.scale * (t.k_scale * dot) + t.position_bias(task.head, token, task.seq_len);
    }
    weights[token] = logit;
    if (t.logits != nullptr) t.logits_of(task.seq, task.head)[token] = logit;
  }
  // [/page-walk]

  __shared__ SoftmaxScratch<kThreads> scratch;
  const SoftmaxStatistics statistics = naive_softmax(weights, task.seq_len, scratch);
  write_statistics(t, task.seq, task.head, statistics);

  scalar_pv<kThreads>(t, task, t.block_size, weights);
}

LaunchPlan plan(const DecodeShape& shape) {
  return {.grid_x = shape.num_heads,
          .grid_y = shape.num_seqs,
          .threads = kThreads,
          .shared_bytes = sizeof(float) * static_cast<std::size_t>(shape.max_seq_len),
          .static_shared_bytes = bytes_of_softmax_scratch(kThreads)};
}

void run(const paged_decode_args& args) {
  const LaunchPlan launch_plan = plan(shape_of(args));
  with_scalar_type(args, [&](auto scalar) {
    using scalar_t = typename decltype(scalar)::type;
    with_cache_type<scalar_t>(args, [&](auto cache) {
      using cache_t = typename decltype(cache)::type;
      launch(naive_paged_gather<scalar_t, cache_t>, dim3(args.num_heads, args.num_seqs),
             dim3(launch_plan.threads), launch_plan.shared_bytes, stream_of(args),
             DecodeTensors<scalar_t, cache_t>(args));
    });
  });
}

}  // namespace

Stage stage_01_naive_paged_gather() {
  Stage stage;
  stage.number = 1;
  stage.name = "naive-paged-gather";
  stage.idea = "the page walk, one scalar at a time";
  stage.supports = every_type_and_size();  // its sizes are run-time values
  stage.promises = promises_of_every_stage();
  stage.breaks = {
      {"large-logits",
       "exp() of the bare logit overflows above 88 and vanishes below -103; the two-pass "
       "softmax of stage 3 subtracts the maximum first"},
      {"shift-invariance", "the same: logits moved by 200 leave the range of exp()"}};
  stage.arithmetic.lanes_per_dot = 1;
  stage.arithmetic.has_dot_order = true;
  stage.arithmetic.exp_of_zero_is_one = stage.arithmetic.has_precise_log = true;
  stage.arithmetic.lanes_per_sum = kThreads;
  stage.arithmetic.subtracts_maximum = false;
  stage.arithmetic.guards_denominator = false;
  stage.plan = plan;
  stage.run = run;
  stage.predict = predict_stage_01;
  return stage;
}

}  // namespace paged::PAGED_BACKEND
