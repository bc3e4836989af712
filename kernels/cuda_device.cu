// The first CUDA device: memory, copies, limits, errors.
#include "kernels/device.h"

#include <cuda_runtime.h>

#include <memory>
#include <string>

namespace paged {
namespace {

void check(cudaError_t status, const std::string& what) {
  if (status != cudaSuccess) throw DeviceError(what + ": " + cudaGetErrorString(status));
}

unsigned attribute(cudaDeviceAttr which) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, 0), "cudaDeviceGetAttribute");
  return static_cast<unsigned>(value);
}

DeviceLimits limits_of_device() {
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  return {properties.name,
          attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin),
          attribute(cudaDevAttrMaxThreadsPerBlock),
          attribute(cudaDevAttrMaxGridDimX),
          attribute(cudaDevAttrMaxGridDimY),
          attribute(cudaDevAttrMaxGridDimZ)};
}

class CudaDevice : public Device {
 public:
  CudaDevice() : limits_(limits_of_device()) {}

  Backend backend() const override { return Backend::cuda; }
  const DeviceLimits& limits() const override { return limits_; }

  void* allocate(std::size_t bytes, const std::string& name) override {
    const std::size_t at_least_one = bytes == 0 ? 1 : bytes;
    const std::string what = "allocation of " + std::to_string(bytes) + " bytes for '" + name + "'";
    void* memory = nullptr;
    const cudaError_t status = cudaMalloc(&memory, at_least_one);
    if (status != cudaSuccess) cudaGetLastError();  // not sticky: the next launch must not see it
    check(status, what);
    check(cudaMemset(memory, 0xFF, at_least_one), what);
    return memory;
  }
  // Called by destructors: an error that a kernel left behind must not end the program here; the
  // next copy or finish() reports it.
  void release(void* memory) override { cudaFree(memory); }

  void upload(void* device, const void* host, std::size_t bytes) override {
    check(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice), "upload");
  }
  void download(void* host, const void* device, std::size_t bytes) override {
    check(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost), "download");
  }
  void forget(void*, std::size_t) override {}
  void finish() override { check(cudaDeviceSynchronize(), "a kernel failed"); }
  std::vector<Finding> take_findings() override { return {}; }

 private:
  DeviceLimits limits_;
};

}  // namespace

std::string why_no_cuda_device() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  int driver = 0;
  if (status == cudaErrorInsufficientDriver && cudaDriverGetVersion(&driver) == cudaSuccess &&
      driver == 0)
    return "no CUDA device: this machine has no NVIDIA driver";
  if (status != cudaSuccess) return std::string("no CUDA device: ") + cudaGetErrorString(status);
  return count == 0 ? "no CUDA device: this machine has none" : "";
}

std::unique_ptr<Device> make_cuda_device() {
  if (const std::string why = why_no_cuda_device(); !why.empty()) throw DeviceError(why);
  return std::make_unique<CudaDevice>();
}

}  // namespace paged
