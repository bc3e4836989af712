// The same as naive.c on a GPU: a block for each (query head, sequence), a thread for each dimension.
// Built by this line, after `src=walkthroughs/your_own_kernel/naive.cu`:
//
//     nvcc -shared -Xcompiler -fPIC -arch=native -I. $src -o build/bin/naive_cuda.so
//     build/bin/paged check --kernel build/bin/naive_cuda.so
#include "kernels/paged_decode.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <math.h>

namespace {

__device__ float to_float(float x) { return x; }
__device__ float to_float(__half x) { return __half2float(x); }
__device__ float to_float(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ void store(float& to, float x) { to = x; }
__device__ void store(__half& to, float x) { to = __float2half(x); }
__device__ void store(__nv_bfloat16& to, float x) { to = __float2bfloat16(x); }

// Every thread computes the whole dot product: slow, but nothing is shared and nothing to wait for.
template <typename T>
__device__ float logit_of(const paged_decode_args& a, const T* query, const T* key) {
  float dot = 0;
  for (int dim = 0; dim < a.head_size; ++dim) dot += to_float(query[dim]) * to_float(key[dim]);
  return a.scale * dot;
}

// Grid (num_heads, num_seqs), head_size threads. Caches [num_blocks, block_size, num_kv_heads,
// head_size].
template <typename T>
__global__ void attend(const paged_decode_args a) {
  const int head = blockIdx.x;
  const int seq = blockIdx.y;
  const int dim = threadIdx.x;
  const int seq_len = a.seq_lens[seq];
  const int64_t kv_head = head / (a.num_heads / a.num_kv_heads);
  const int64_t row = static_cast<int64_t>(seq) * a.num_heads + head;
  const int32_t* block_table =
      a.block_tables + static_cast<int64_t>(seq) * a.max_num_blocks_per_seq;
  const T* query = static_cast<const T*>(a.query) + seq * a.query_stride +
                   static_cast<int64_t>(head) * a.head_size;
  const auto key_of = [&](int token) {
    const int64_t block = block_table[token / a.block_size];
    return static_cast<const T*>(a.key_cache) + block * a.key_block_stride +
           token % a.block_size * a.key_token_stride + kv_head * a.key_head_stride;
  };
  const auto value_of = [&](int token) {
    const int64_t block = block_table[token / a.block_size];
    return static_cast<const T*>(a.value_cache) + block * a.value_block_stride +
           token % a.block_size * a.value_token_stride + kv_head * a.value_head_stride;
  };

  float maximum = -INFINITY;
  for (int token = 0; token < seq_len; ++token)
    maximum = fmaxf(maximum, logit_of(a, query, key_of(token)));
  float sum = 0;
  float output = 0;
  for (int token = 0; token < seq_len; ++token) {
    const float weight = __expf(logit_of(a, query, key_of(token)) - maximum);
    output += weight * to_float(value_of(token)[dim]);
    sum += weight;
  }
  store(static_cast<T*>(a.output)[row * a.head_size + dim], seq_len > 0 ? output / sum : 0.0f);
  if (dim == 0 && a.lse != nullptr) a.lse[row] = seq_len > 0 ? maximum + logf(sum) : -INFINITY;
}

template <typename T>
cudaError_t launch(const paged_decode_args& args) {
  const dim3 grid(args.num_heads, args.num_seqs);
  attend<T><<<grid, args.head_size, 0, static_cast<cudaStream_t>(args.stream)>>>(args);
  return cudaGetLastError();
}

}  // namespace

extern "C" int32_t paged_kernel_run(const paged_decode_args* args) {
  switch (args->scalar) {
    case PAGED_F32:
      return launch<float>(*args);
    case PAGED_F16:
      return launch<__half>(*args);
    default:
      return launch<__nv_bfloat16>(*args);
  }
}

extern "C" const char* paged_kernel_error_text(int32_t error) {
  return cudaGetErrorString(static_cast<cudaError_t>(error));
}

extern "C" const paged_kernel_description* paged_kernel_describe(void) {
  static paged_kernel_description description;
  description.version = PAGED_DECODE_VERSION;
  description.name = "naive-cuda";
  description.memory = PAGED_CUDA_MEMORY;
  description.cache_layout = PAGED_TOKENS_THEN_HEADS;
  description.scalars = 1u << PAGED_F32 | 1u << PAGED_F16 | 1u << PAGED_BF16;
  description.features = PAGED_GIVES_LSE;
  return &description;
}
