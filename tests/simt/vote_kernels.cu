// Votes over a warp and over parts of one.
#include "kernels/cuda.h"
#include "tests/simt/sample_kernels.h"

namespace paged::PAGED_BACKEND {
namespace {

__global__ void vote(const int* predicates, unsigned* results) {
  const int i = threadIdx.x;
  const int threads = blockDim.x;
  results[i] = __ballot_sync(0xFFFFFFFFU, predicates[i]);
  results[threads + i] = __any_sync(0xFFFFFFFFU, predicates[i]);
  results[2 * threads + i] = __all_sync(0xFFFFFFFFU, predicates[i]);
}

__global__ void vote_in_halves(const int* predicates, unsigned* results) {
  const int i = threadIdx.x;
  if (i % 32 < 16) {
    results[i] = __ballot_sync(0x0000FFFFU, predicates[i]);
  } else {
    results[i] = __ballot_sync(0xFFFF0000U, predicates[i]);
  }
  __syncwarp();
}

__global__ void active_masks(unsigned* results) {
  const int i = threadIdx.x;
  unsigned mask;
  if (i % 2 == 0) {
    mask = __activemask();
  } else {
    mask = __activemask();
  }
  results[i] = mask;
}

}  // namespace

void add_votes(SampleKernels& kernels) {
  kernels.vote = [](int threads, const int* predicates, unsigned* results) {
    launch(vote, dim3(1), dim3(threads), 0, Stream{}, predicates, results);
  };
  kernels.vote_in_halves = [](int threads, const int* predicates, unsigned* results) {
    launch(vote_in_halves, dim3(1), dim3(threads), 0, Stream{}, predicates, results);
  };
  kernels.active_masks = [](int threads, unsigned* results) {
    launch(active_masks, dim3(1), dim3(threads), 0, Stream{}, results);
  };
}

}  // namespace paged::PAGED_BACKEND
