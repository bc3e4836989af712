// Stage 1: naive paged gather.
//
// Adds      the page walk: token -> logical block -> physical block -> address, and around it the
//           whole of decode attention, one scalar at a time.
// Expect    right answers for ordinary inputs, and about the worst use of memory there is: lanes of
//           a warp sit on neighbouring tokens, so each key load of a warp touches one 32-byte
//           sector for every other token instead of four for the whole warp.
// Still     exp() of the bare logit: above 88 it overflows, below -87 it vanishes (stage 3 mends
// wrong     it). No vector loads (stage 2 for keys, stage 4 for values). The query is read again
//           from global memory for every token (stage 2). All logits of a sequence must fit in
//           shared memory (stage 5).
//
// Grid (num_heads, num_seqs), 128 threads: one CUDA block owns one (sequence, query head).
#include "kernels/conversion.cuh"
#include "kernels/decode_tensors.cuh"
#include "kernels/phase.h"
#include "kernels/reduction.cuh"
#include "stages/dispatch.cuh"
#include "stages/stage.h"

#include <algorithm>
#include <cmath>

namespace paged::PAGED_BACKEND {
namespace {

constexpr int kThreads = 128;

template <typename scalar_t, typename cache_t>
__global__ void __launch_bounds__(kThreads)
    naive_paged_gather(const DecodeTensors<scalar_t, cache_t> t) {
  const int head = blockIdx.x;
  const int seq = blockIdx.y;
  const int kv_head = t.kv_head(head);
  const int seq_len = t.seq_lens[seq];
  const int pages = num_pages(seq_len, t.block_size);
  const int stripe = t.sparsity.stripe_offset(head, t.num_heads, kv_head, t.num_kv_heads);
  const scalar_t* query = t.query_of(seq, head);              // [head_size]
  const int* block_table = t.block_table_of(seq);             // [pages]
  float* weights = reinterpret_cast<float*>(dynamic_shared);  // [seq_len]

  // QK: one thread owns one token and walks the head dimension.
  enter_phase(Phase::qk);
  float sum = 0.0F;
  for (int token = threadIdx.x; token < seq_len; token += kThreads) {
    const int page = token / t.block_size;
    const int offset = token % t.block_size;
    float logit = -INFINITY;
    if (t.sparsity.takes_part(page, seq_len, t.block_size, stripe)) {
      const cache_t* keys = t.key_page(block_table[page], kv_head);  // [head_size/x, block_size, x]
      float dot = 0.0F;
      for (int dim = 0; dim < t.head_size; ++dim)
        dot += to_float(query[dim]) *
               to_float(keys[key_offset_in_page(offset, dim, t.block_size, t.kKeyVector)]);
      logit = t.scale * (t.k_scale * dot) + t.position_bias(head, token, seq_len);
    }
    if (t.logits != nullptr) t.logits_of(seq, head)[token] = logit;
    weights[token] = __expf(logit);
    sum += weights[token];
  }

  // Softmax without its maximum: the sum alone.
  enter_phase(Phase::softmax);
  __shared__ float scratch[kThreads / 32];
  sum = block_sum<kThreads>(sum, scratch);  // in every thread; its barriers publish weights too
  const float normaliser = sum > 0.0F ? 1.0F / sum : 0.0F;  // no token at all: zeros
  if (t.lse != nullptr && threadIdx.x == 0) t.lse[seq * t.num_heads + head] = logf(sum);

  // PV: one thread owns one output dimension and walks the tokens.
  enter_phase(Phase::pv);
  for (int dim = threadIdx.x; dim < t.head_size; dim += kThreads) {
    float accumulator = 0.0F;
    for (int page = 0; page < pages; ++page) {
      if (!t.sparsity.takes_part(page, seq_len, t.block_size, stripe)) continue;
      const cache_t* values = t.value_page(block_table[page], kv_head);  // [head_size, block_size]
      const int first = page * t.block_size;
      const int tokens = min(t.block_size, seq_len - first);
      for (int offset = 0; offset < tokens; ++offset)
        accumulator += weights[first + offset] *
                       to_float(values[value_offset_in_page(offset, dim, t.block_size)]);
    }
    t.output_of(seq, head)[dim] = from_float<scalar_t>(t.v_scale * (normaliser * accumulator));
  }
}

LaunchPlan plan(const DecodeShape& shape) {
  return {shape.num_heads, shape.num_seqs, 1, kThreads, sizeof(float) * shape.max_seq_len};
}

void run(const paged_decode_args& args) {
  const dim3 grid(args.num_heads, args.num_seqs);
  const std::size_t shared_bytes = sizeof(float) * args.max_seq_len;
  with_scalar_type(args, [&](auto scalar) {
    using scalar_t = typename decltype(scalar)::type;
    with_cache_type<scalar_t>(args, [&](auto cache) {
      using cache_t = typename decltype(cache)::type;
      launch(naive_paged_gather<scalar_t, cache_t>, grid, dim3(kThreads), shared_bytes, Stream{},
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
  stage.supports = {
      {ScalarType::f32, ScalarType::f16, ScalarType::bf16},
      {CacheType::f32, CacheType::f16, CacheType::bf16, CacheType::e4m3, CacheType::e5m2},
      {32, 64, 80, 96, 112, 120, 128, 192, 256},
      {8, 16, 32}};
  stage.promises = {"reference",       "block-permutation", "table-padding", "tail-isolation",
                    "block-isolation", "head-isolation",    "determinism",   "single-token",
                    "empty-sequence",  "writes-only-output"};
  stage.breaks = {
      {"large-logits",
       "exp() of the bare logit overflows above 88 and vanishes below -103; the two-pass "
       "softmax of stage 3 subtracts the maximum first"}};
  stage.arithmetic.lanes_per_dot = 1;
  stage.arithmetic.lanes_per_sum = kThreads;
  stage.arithmetic.lanes_per_output = 1;
  stage.arithmetic.subtracts_maximum = false;
  stage.arithmetic.guards_denominator = false;
  stage.plan = plan;
  stage.run = run;
  return stage;
}

}  // namespace paged::PAGED_BACKEND
