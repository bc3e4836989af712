/* A first attempt at paged decode attention, with one mistake. README.md shows how it is found. */
#include "kernels/paged_decode.h"

#include <math.h>

/* One page after the other: of a page's tokens, the softmax so far is rescaled and added to
 * (M. Milakov, N. Gimelshein, "Online normalizer calculation for softmax", 2018). Caches are
 * [num_blocks, num_kv_heads, block_size, head_size]. */
static void attend(const paged_decode_args* a, int seq, int head) {
  const int pages = (a->seq_lens[seq] + a->block_size - 1) / a->block_size;
  const int kv_head = head / (a->num_heads / a->num_kv_heads);
  const float* query =
      (const float*)a->query + seq * a->query_stride + (int64_t)head * a->head_size;
  float* output =
      (float*)a->output + ((int64_t)seq * a->num_heads + head) * a->head_size; /* [head_size] */
  float maximum = -INFINITY;
  float sum = 0;
  for (int dim = 0; dim < a->head_size; ++dim) output[dim] = 0;

  for (int page = 0; page < pages; ++page) {
    const int64_t block = a->block_tables[(int64_t)seq * a->max_num_blocks_per_seq + page];
    const float* keys = (const float*)a->key_cache + block * a->key_block_stride +
                        kv_head * a->key_head_stride; /* [block_size, head_size] */
    const float* values = (const float*)a->value_cache + block * a->value_block_stride +
                          kv_head * a->value_head_stride; /* [block_size, head_size] */
    for (int token = 0; token < a->block_size; ++token) {
      float logit = 0;
      for (int dim = 0; dim < a->head_size; ++dim)
        logit += a->scale * query[dim] * keys[token * a->key_token_stride + dim];
      const float greatest = fmaxf(maximum, logit);
      const float rescale = sum > 0 ? expf(maximum - greatest) : 0;
      const float weight = expf(logit - greatest);
      for (int dim = 0; dim < a->head_size; ++dim)
        output[dim] = output[dim] * rescale + weight * values[token * a->value_token_stride + dim];
      sum = sum * rescale + weight;
      maximum = greatest;
    }
  }
  if (pages > 0)
    for (int dim = 0; dim < a->head_size; ++dim) output[dim] /= sum;
}

int32_t paged_kernel_run(const paged_decode_args* args) {
  for (int seq = 0; seq < args->num_seqs; ++seq)
    for (int head = 0; head < args->num_heads; ++head) attend(args, seq, head);
  return 0;
}

const paged_kernel_description* paged_kernel_describe(void) {
  static paged_kernel_description description;
  description.version = PAGED_DECODE_VERSION;
  description.name = "first-attempt";
  description.cache_layout = PAGED_HEADS_THEN_TOKENS;
  description.scalars = 1u << PAGED_F32;
  /* Whenever the maximum grows, one more exponential and product for what is there already. */
  description.arithmetic.merges_partitions = 1;
  return &description;
}
