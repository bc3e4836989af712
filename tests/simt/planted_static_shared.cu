// A kernel with more static shared memory than there is: nvcc refuses to compile it.
#include "kernels/cuda.h"
#include "tests/simt/planted_kernels.h"

namespace paged::PAGED_BACKEND {
namespace {

// static_shared_kernels.cu has a kernel of the same name with little of it.
__global__ void hold_all_static(int* result) {
  __shared__ int held[48 * 1024 / sizeof(int) + 1];
  held[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncthreads();
  if (threadIdx.x == 0) *result = held[blockDim.x - 1];
}

}  // namespace

void launch_with_too_much_static_shared(int* result) {
  launch(hold_all_static, dim3(1), dim3(4), 0, Stream{}, result);
}

}  // namespace paged::PAGED_BACKEND
