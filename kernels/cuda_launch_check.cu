#include "kernels/cuda_launch_check.h"
#include "kernels/device.h"
#include "kernels/kernel_name.h"

namespace paged {
namespace {

std::string name_of_kernel(const void* kernel) {
#if CUDART_VERSION >= 12030
  const char* name = nullptr;
  if (cudaFuncGetName(&name, kernel) == cudaSuccess) return bare_kernel_name(name);
#else
  static_cast<void>(kernel);
#endif
  return "kernel";
}

}  // namespace

// What may be used unasked is 48 KB less the kernel's static shared memory. What was asked for
// stays with the kernel: the device is asked each time, since a program may have several.
cudaError_t allow_shared_memory(const void* kernel, std::size_t shared_bytes) {
  if (shared_bytes == 0) return cudaSuccess;
  cudaFuncAttributes attributes;
  const cudaError_t status = cudaFuncGetAttributes(&attributes, kernel);
  if (status != cudaSuccess) return status;
  if (shared_bytes <= static_cast<std::size_t>(attributes.maxDynamicSharedSizeBytes))
    return cudaSuccess;
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              static_cast<int>(shared_bytes));
}

void check_cuda_launch(cudaError_t status, const void* kernel, dim3 grid, dim3 block,
                       std::size_t shared_bytes) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // reported now: the next launch must not see it
  throw DeviceError(text_of_launch(name_of_kernel(kernel), grid, block, shared_bytes) + ": " +
                    cudaGetErrorString(status));
}

}  // namespace paged
