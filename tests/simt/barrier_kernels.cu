// Barriers between writing and reading shared memory, static and dynamic.
#include "kernels/cuda.h"
#include "tests/simt/sample_kernels.h"

namespace paged::PAGED_BACKEND {
namespace {

__device__ int rotate(int* shared, int rounds, int value) {
  const int i = threadIdx.x;
  const int next = (i + 1) % static_cast<int>(blockDim.x);
  for (int round = 0; round < rounds; ++round) {
    shared[i] = value;
    __syncthreads();  // all values of this round may be read
    value = shared[next];
    __syncthreads();  // and, from here on, written again
  }
  return value;
}

__global__ void rotate_static(int rounds, const int* values, int* results) {
  __shared__ int shared[1024];
  results[threadIdx.x] = rotate(shared, rounds, values[threadIdx.x]);
}

__global__ void rotate_dynamic(int rounds, const int* values, int* results) {
  int* const shared = reinterpret_cast<int*>(dynamic_shared);
  results[threadIdx.x] = rotate(shared, rounds, values[threadIdx.x]);
}

__global__ void barrier_votes(const int* predicates, int* results) {
  const int i = threadIdx.x;
  const int threads = blockDim.x;
  results[i] = __syncthreads_or(predicates[i]) != 0;
  results[threads + i] = __syncthreads_and(predicates[i]) != 0;
  results[2 * threads + i] = __syncthreads_count(predicates[i]);
}

__global__ void fill_dynamic(int count, unsigned* results) {
  unsigned* const shared = reinterpret_cast<unsigned*>(dynamic_shared);
  for (int i = threadIdx.x; i < count; i += blockDim.x) shared[i] = 3U * i + 1U;
  __syncthreads();
  if (threadIdx.x == 0)
    for (int i = 0; i < count; ++i) results[i] = shared[i];
}

__global__ void do_nothing() {}

}  // namespace

void add_barriers(SampleKernels& kernels) {
  kernels.rotate_static = [](int threads, int rounds, const int* values, int* results) {
    launch(rotate_static, dim3(1), dim3(threads), 0, Stream{}, rounds, values, results);
  };
  kernels.rotate_dynamic = [](int threads, int rounds, const int* values, int* results) {
    launch(rotate_dynamic, dim3(1), dim3(threads), threads * sizeof(int), Stream{}, rounds, values,
           results);
  };
  kernels.barrier_votes = [](int threads, const int* predicates, int* results) {
    launch(barrier_votes, dim3(1), dim3(threads), 0, Stream{}, predicates, results);
  };
  kernels.fill_dynamic = [](int threads, std::size_t bytes, unsigned* results) {
    launch(fill_dynamic, dim3(1), dim3(threads), bytes, Stream{}, static_cast<int>(bytes / 4),
           results);
  };
  kernels.empty = [](const unsigned(&grid)[3], const unsigned(&block)[3],
                     std::size_t shared_bytes) {
    launch(do_nothing, dim3(grid[0], grid[1], grid[2]), dim3(block[0], block[1], block[2]),
           shared_bytes, Stream{});
  };
}

}  // namespace paged::PAGED_BACKEND
