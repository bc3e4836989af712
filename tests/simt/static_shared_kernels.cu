// A kernel with 16 bytes of static shared memory, besides dynamic.
#include "kernels/cuda.h"
#include "tests/simt/sample_kernels.h"

namespace paged::PAGED_BACKEND {
namespace {

// planted_static_shared.cu has a kernel of the same name with far more of it.
__global__ void hold_static(int* result) {
  __shared__ int held[4];
  held[threadIdx.x] = static_cast<int>(threadIdx.x) + 1;
  __syncthreads();
  if (threadIdx.x == 0) *result = held[0] + held[1] + held[2] + held[3];
}

}  // namespace

void add_static_shared(SampleKernels& kernels) {
  kernels.static_besides_dynamic = [](std::size_t shared_bytes, int* result) {
    launch(hold_static, dim3(1), dim3(4), shared_bytes, Stream{}, result);
  };
}

}  // namespace paged::PAGED_BACKEND
