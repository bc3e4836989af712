#include "kernels/conversion.cuh"
#include "kernels/cuda.h"
#include "kernels/device.h"
#include "tests/benchmarks/normal_device_memory.h"

#include <cuda_runtime.h>

namespace paged {
namespace {

// Two steps of Box and Muller's method on the bits of SplitMix64.
template <typename T>
__global__ void write_normal(T* data, std::int64_t count, std::uint64_t seed) {
  using PAGED_BACKEND::from_float;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    std::uint64_t z = seed + 0x9E3779B97F4A7C15ULL * static_cast<std::uint64_t>(i + 1);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    z ^= z >> 31;
    const float u = (static_cast<unsigned>(z) + 1.0F) * 0x1p-32F;
    const float v = static_cast<unsigned>(z >> 32) * 0x1p-32F;
    data[i] = from_float<T>(sqrtf(-2.0F * logf(u)) * cospif(2.0F * v));
  }
}

template <typename T>
void launch(void* d_data, std::int64_t count, std::uint64_t seed) {
  write_normal<<<2048, 256>>>(static_cast<T*>(d_data), count, seed);
  if (const cudaError_t status = cudaGetLastError(); status != cudaSuccess)
    throw DeviceError(cudaGetErrorString(status));
}

}  // namespace

void fill_normal(CacheType type, void* d_data, std::int64_t count, std::uint64_t seed) {
  if (type == CacheType::f16)
    launch<__half>(d_data, count, seed);
  else if (type == CacheType::bf16)
    launch<__nv_bfloat16>(d_data, count, seed);
  else
    launch<__nv_fp8_e4m3>(d_data, count, seed);
}

}  // namespace paged
