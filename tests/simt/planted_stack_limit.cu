// As much stack as a thread has on the CPU machine: what must fit there must fit on a GPU, too.
#include "kernels/cuda.h"
#include "tests/simt/planted_kernels.h"

#include <stdexcept>

namespace paged::PAGED_BACKEND {

void set_stack_limit(std::size_t bytes) {
  if (const cudaError_t status = cudaDeviceSetLimit(cudaLimitStackSize, bytes);
      status != cudaSuccess)
    throw std::runtime_error(std::string("cannot set the stack limit: ") +
                             cudaGetErrorString(status));
}

}  // namespace paged::PAGED_BACKEND
