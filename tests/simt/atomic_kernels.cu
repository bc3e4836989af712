// Atomic operations from many threads on the same words.
#include "kernels/cuda.h"
#include "tests/simt/sample_kernels.h"

namespace paged::PAGED_BACKEND {
namespace {

// tickets: [threads of the grid + 1], all zero; the last is the word that tickets go through.
__global__ void atomics(int total, unsigned* tickets, SampleKernels::AtomicResults* results) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int value = i + 1;
  atomicAdd(&results->sum_int, value);
  atomicAdd(&results->sum_unsigned, static_cast<unsigned>(value));
  atomicAdd(&results->sum_long, static_cast<unsigned long long>(value));
  atomicAdd(&results->sum_float, static_cast<float>(value));
  atomicAdd(&results->sum_double, static_cast<double>(value));
  atomicMax(&results->largest, value);
  atomicMin(&results->smallest, -value);
  atomicMax(&results->largest_unsigned, static_cast<unsigned>(value));
  atomicMin(&results->smallest_unsigned, static_cast<unsigned>(value));
  // Every ticket but the one left in the word comes back to somebody.
  const unsigned ticket = atomicExch(&tickets[total], static_cast<unsigned>(value));
  if (ticket != 0) atomicAdd(&results->num_exchanged, 1U);
  // Two threads try for each slot; one gets it.
  if (atomicCAS(&tickets[i / 2], 0U, 1U) == 0U) atomicAdd(&results->num_won, 1U);
}

__global__ void shared_atomics(int* block_sums) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, static_cast<int>(threadIdx.x));
  __syncthreads();
  if (threadIdx.x == 0) block_sums[blockIdx.x] = sum;
}

__global__ void sum_in_last_block(volatile int* partial_sums, unsigned* num_finished, int* sum) {
  __shared__ int of_block;
  if (threadIdx.x == 0) of_block = 0;
  __syncthreads();
  atomicAdd(&of_block, static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x));
  __threadfence_block();
  __syncthreads();
  if (threadIdx.x != 0) return;
  partial_sums[blockIdx.x] = of_block;
  __threadfence();  // the partial sum before the count of it
  if (atomicAdd(num_finished, 1U) != gridDim.x - 1) return;
  __threadfence();  // the count of all before their partial sums
  int total = 0;
  for (unsigned block = 0; block < gridDim.x; ++block) total += partial_sums[block];
  *sum = total;
}

}  // namespace

void add_atomics(SampleKernels& kernels) {
  kernels.atomics = [](int blocks, int threads, unsigned* tickets,
                       SampleKernels::AtomicResults* results) {
    launch(atomics, dim3(blocks), dim3(threads), 0, Stream{}, blocks * threads, tickets, results);
  };
  kernels.shared_atomics = [](int blocks, int threads, int* block_sums) {
    launch(shared_atomics, dim3(blocks), dim3(threads), 0, Stream{}, block_sums);
  };
  kernels.sum_in_last_block = [](int blocks, int threads, int* partial_sums, unsigned* num_finished,
                                 int* sum) {
    launch(sum_in_last_block, dim3(blocks), dim3(threads), 0, Stream{}, partial_sums, num_finished,
           sum);
  };
}

}  // namespace paged::PAGED_BACKEND
