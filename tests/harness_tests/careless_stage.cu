// One CUDA block a (sequence, head), one thread a token at most, f32 only: as plain as a kernel can
// be, so that each mistake stands out.
#include "kernels/cuda.h"
#include "kernels/paged_decode.h"
#include "tests/harness_tests/careless_stage.h"

#include <cmath>

namespace paged::PAGED_BACKEND {
namespace {

using testing::Carelessness;

constexpr int kThreads = 64;

template <Carelessness careless>
__global__ void __launch_bounds__(kThreads) careless_attention(const paged_decode_args a) {
  float* const weights = reinterpret_cast<float*>(dynamic_shared);  // [max_seq_len + 1]
  const int head = blockIdx.x;
  const int seq = blockIdx.y;
  const int seq_len = a.seq_lens[seq];
  const int kv_head = head / (a.num_heads / a.num_kv_heads);
  const int row = seq * a.num_heads + head;
  const float* query =
      static_cast<const float*>(a.query) + seq * a.query_stride + head * a.head_size;
  const auto page_of = [&](const void* cache, int token, std::int64_t block_stride,
                           std::int64_t head_stride) {
    const int block = a.block_tables[static_cast<std::int64_t>(seq) * a.max_num_blocks_per_seq +
                                     token / a.block_size];
    return static_cast<const float*>(cache) + block * block_stride + kv_head * head_stride;
  };

  for (int token = threadIdx.x; token < seq_len; token += kThreads) {
    const float* keys = page_of(a.key_cache, token, a.key_block_stride, a.key_head_stride);
    const int offset = token % a.block_size;
    float dot = 0;
    for (int dim = 0; dim < a.head_size; ++dim)
      dot += query[dim] * keys[(dim / 4 * a.block_size + offset) * 4 + dim % 4];
    weights[token] = a.scale * dot;
    if (careless == Carelessness::barrier_in_branch) __syncthreads();
  }
  if (careless == Carelessness::table_read_too_far && threadIdx.x == 0)
    weights[a.max_seq_len] = static_cast<float>(
        a.block_tables[static_cast<std::int64_t>(a.num_seqs) * a.max_num_blocks_per_seq]);
  if (careless != Carelessness::barrier_missing) __syncthreads();

  float maximum = -INFINITY;
  for (int token = 0; token < seq_len; ++token) maximum = fmaxf(maximum, weights[token]);
  float sum = 0;
  for (int token = 0; token < seq_len; ++token) sum += __expf(weights[token] - maximum);
  if (careless == Carelessness::weights_never_filled) sum += 0 * weights[a.max_seq_len];
  for (int dim = threadIdx.x; dim < a.head_size; dim += kThreads) {
    float output = 0;
    for (int token = 0; token < seq_len; ++token) {
      const float* values =
          page_of(a.value_cache, token, a.value_block_stride, a.value_head_stride);
      output +=
          __expf(weights[token] - maximum) * values[dim * a.block_size + token % a.block_size];
    }
    static_cast<float*>(a.output)[static_cast<std::int64_t>(row) * a.head_size + dim] =
        seq_len == 0 ? 0.0F : output / (sum + 1e-6F);
  }
  if (threadIdx.x != 0) return;
  a.lse[row] = seq_len == 0 ? -INFINITY : maximum + logf(sum);
}

LaunchPlan plan(const DecodeShape& shape) {
  return {.grid_x = shape.num_heads,
          .grid_y = shape.num_seqs,
          .threads = kThreads,
          .shared_bytes = sizeof(float) * (static_cast<std::size_t>(shape.max_seq_len) + 1)};
}

template <Carelessness careless>
void run(const paged_decode_args& args) {
  launch(careless_attention<careless>, dim3(args.num_heads, args.num_seqs), dim3(kThreads),
         plan(shape_of(args)).shared_bytes, Stream{}, args);
}

}  // namespace

Stage careless_stage(Carelessness carelessness) {
  using enum Carelessness;
  Stage stage;
  stage.number = 98;
  stage.name = "careless";
  stage.idea = "a kernel whose execution is not clean";
  stage.supports = every_type_and_size();
  stage.supports.scalars = {ScalarType::f32};
  stage.supports.caches = {CacheType::f32};
  stage.promises = {"in-bounds", "no-uninitialised", "no-race", "no-barrier-divergence"};
  stage.plan = plan;
  stage.run = carelessness == barrier_missing        ? run<barrier_missing>
              : carelessness == weights_never_filled ? run<weights_never_filled>
              : carelessness == table_read_too_far   ? run<table_read_too_far>
              : carelessness == barrier_in_branch    ? run<barrier_in_branch>
                                                     : run<none>;
  return stage;
}

}  // namespace paged::PAGED_BACKEND
