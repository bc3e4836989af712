/* Paged decode attention in plain C, as simply as it can be written: one query head after the other,
 * one token after the other, in f32 and ordinary memory. Copy it and change it.
 *
 *     gcc -shared -fPIC -O2 -I. walkthroughs/your_own_kernel/naive.c -o build/bin/naive.so -lm
 *     build/bin/paged check --kernel build/bin/naive.so
 */
#include "kernels/paged_decode.h"

#include <math.h>

/* Where a token's key or value lies. The description below asks for caches
 * [num_blocks, block_size, num_kv_heads, head_size]. */
typedef struct place {
  int64_t block; /* physical; 64 bits, since it is multiplied by a stride */
  int64_t offset;
  int64_t kv_head;
} place;

static place place_of(const paged_decode_args* a, int seq, int head, int token) {
  const int32_t* block_table = a->block_tables + (int64_t)seq * a->max_num_blocks_per_seq;
  place p;
  p.block = block_table[token / a->block_size];
  p.offset = token % a->block_size;
  p.kv_head = head / (a->num_heads / a->num_kv_heads);
  return p;
}

static float logit_of(const paged_decode_args* a, int seq, int head, int token) {
  const float* query =
      (const float*)a->query + seq * a->query_stride + (int64_t)head * a->head_size;
  const place p = place_of(a, seq, head, token);
  const float* key = (const float*)a->key_cache + p.block * a->key_block_stride +
                     p.offset * a->key_token_stride + p.kv_head * a->key_head_stride;
  float dot = 0;
  for (int dim = 0; dim < a->head_size; ++dim) dot += query[dim] * key[dim];
  return a->scale * dot;
}

/* One query head of one sequence: the maximum first, then the weighted sum. Both compute the logits,
 * so that there is nothing to store. */
static void attend(const paged_decode_args* a, int seq, int head) {
  const int seq_len = a->seq_lens[seq];
  const int64_t row = (int64_t)seq * a->num_heads + head;
  float* output = (float*)a->output + row * a->head_size; /* [head_size] */

  float maximum = -INFINITY;
  for (int token = 0; token < seq_len; ++token)
    maximum = fmaxf(maximum, logit_of(a, seq, head, token));

  float sum = 0;
  for (int dim = 0; dim < a->head_size; ++dim) output[dim] = 0;
  for (int token = 0; token < seq_len; ++token) {
    const float weight = expf(logit_of(a, seq, head, token) - maximum);
    const place p = place_of(a, seq, head, token);
    const float* value = (const float*)a->value_cache + p.block * a->value_block_stride +
                         p.offset * a->value_token_stride + p.kv_head * a->value_head_stride;
    for (int dim = 0; dim < a->head_size; ++dim) output[dim] += weight * value[dim];
    sum += weight;
  }
  if (seq_len > 0)
    for (int dim = 0; dim < a->head_size; ++dim) output[dim] /= sum;
  if (a->lse) a->lse[row] = seq_len > 0 ? maximum + logf(sum) : -INFINITY;
}

int32_t paged_kernel_run(const paged_decode_args* args) {
  for (int seq = 0; seq < args->num_seqs; ++seq)
    for (int head = 0; head < args->num_heads; ++head) attend(args, seq, head);
  return 0;
}

const paged_kernel_description* paged_kernel_describe(void) {
  static paged_kernel_description description; /* all zeros: the plainest kernel */
  description.version = PAGED_DECODE_VERSION;
  description.name = "naive-c";
  description.cache_layout = PAGED_TOKENS_THEN_HEADS;
  description.scalars = 1u << PAGED_F32;
  description.features = PAGED_GIVES_LSE;
  return &description;
}
