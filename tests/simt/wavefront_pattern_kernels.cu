// One shared load or store of a pattern, with as little as possible around it.
#include "kernels/cuda.h"
#include "kernels/vector_load.cuh"
#include "tests/simt/wavefront_pattern_list.h"

namespace paged::PAGED_BACKEND {
namespace {

__device__ __forceinline__ unsigned sum_of(unsigned word) { return word; }
__device__ __forceinline__ unsigned sum_of(uint2 word) { return word.x + word.y; }
__device__ __forceinline__ unsigned sum_of(uint4 word) { return word.x + word.y + word.z + word.w; }
__device__ __forceinline__ void set(unsigned& word, unsigned value) { word = value; }
__device__ __forceinline__ void set(uint2& word, unsigned value) {
  word = make_uint2(value, value);
}
__device__ __forceinline__ void set(uint4& word, unsigned value) {
  word = make_uint4(value, value, value, value);
}

/// Writes all of the shared memory, a word a lane at a time.
__device__ __forceinline__ void fill_shared() {
  unsigned* const words = reinterpret_cast<unsigned*>(dynamic_shared);
  for (int i = threadIdx.x; i < kPatternSharedBytes / 4; i += 32) words[i] = i;
  __syncthreads();
}

// offsets, results: [32]
template <int kBytes>
__global__ void __launch_bounds__(32) load_pattern(const int* offsets, unsigned* results) {
  using Word = typename MemoryWord<kBytes>::type;
  fill_shared();
  const int offset = offsets[threadIdx.x];
  unsigned sum = 0;
  if (offset >= 0) sum = sum_of(*reinterpret_cast<const Word*>(dynamic_shared + offset));
  results[threadIdx.x] = sum;
}

template <int kBytes>
__global__ void __launch_bounds__(32) store_pattern(const int* offsets, unsigned* results) {
  using Word = typename MemoryWord<kBytes>::type;
  fill_shared();
  const int offset = offsets[threadIdx.x];
  Word word;
  set(word, threadIdx.x);
  if (offset >= 0) *reinterpret_cast<Word*>(dynamic_shared + offset) = word;
  __syncthreads();  // from here on what was stored may be read
  results[threadIdx.x] = reinterpret_cast<const unsigned*>(dynamic_shared)[threadIdx.x];
}

}  // namespace

/// offsets, results: [32] on this backend's device.
void launch_wavefront_pattern(bool store, int bytes, const int* offsets, unsigned* results) {
  const auto run = [&](void (*kernel)(const int*, unsigned*)) {
    launch(kernel, dim3(1), dim3(32), kPatternSharedBytes, Stream{}, offsets, results);
  };
  if (bytes == 4) run(store ? store_pattern<4> : load_pattern<4>);
  if (bytes == 8) run(store ? store_pattern<8> : load_pattern<8>);
  if (bytes == 16) run(store ? store_pattern<16> : load_pattern<16>);
}

}  // namespace paged::PAGED_BACKEND
