// kernels/conversion.cuh at work, on arrays of codes.
#include "kernels/conversion.cuh"
#include "tests/simt/sample_kernels.h"

namespace paged::PAGED_BACKEND {
namespace {

constexpr int kConvertThreads = 256;

template <typename T>
__global__ void widen(int count, const T* from, float* to) {
  const int i = blockIdx.x * kConvertThreads + threadIdx.x;
  if (i < count) to[i] = to_float(from[i]);
}

template <typename T>
__global__ void narrow(int count, const float* from, T* to) {
  const int i = blockIdx.x * kConvertThreads + threadIdx.x;
  if (i < count) to[i] = from_float<T>(from[i]);
}

__global__ void half_pairs(int count, const __half2* from, __half2* to) {
  const int i = blockIdx.x * kConvertThreads + threadIdx.x;
  if (2 * i >= count) return;
  const float2 pair = __half22float2(from[i]);
  to[i] = __floats2half2_rn(pair.x, pair.y);
}

__global__ void bfloat16_pairs(int count, const __nv_bfloat162* from, __nv_bfloat162* to) {
  const int i = blockIdx.x * kConvertThreads + threadIdx.x;
  if (2 * i >= count) return;
  const float2 pair = __bfloat1622float2(from[i]);
  to[i] = __floats2bfloat162_rn(pair.x, pair.y);
}

dim3 blocks_for(int count) { return dim3((count + kConvertThreads - 1) / kConvertThreads); }

template <typename T, typename Code>
void launch_widen(int count, const Code* from, float* to) {
  static_assert(sizeof(T) == sizeof(Code));
  launch(widen<T>, blocks_for(count), dim3(kConvertThreads), 0, Stream{}, count,
         reinterpret_cast<const T*>(from), to);
}

template <typename T, typename Code>
void launch_narrow(int count, const float* from, Code* to) {
  static_assert(sizeof(T) == sizeof(Code));
  launch(narrow<T>, blocks_for(count), dim3(kConvertThreads), 0, Stream{}, count, from,
         reinterpret_cast<T*>(to));
}

}  // namespace

void add_conversions(SampleKernels& kernels) {
  kernels.half_to_float = launch_widen<__half>;
  kernels.bfloat16_to_float = launch_widen<__nv_bfloat16>;
  kernels.e4m3_to_float = launch_widen<__nv_fp8_e4m3>;
  kernels.e5m2_to_float = launch_widen<__nv_fp8_e5m2>;
  kernels.float_to_half = launch_narrow<__half>;
  kernels.float_to_bfloat16 = launch_narrow<__nv_bfloat16>;
  kernels.half_pairs = [](int count, const std::uint16_t* from, std::uint16_t* to) {
    launch(half_pairs, blocks_for(count / 2), dim3(kConvertThreads), 0, Stream{}, count,
           reinterpret_cast<const __half2*>(from), reinterpret_cast<__half2*>(to));
  };
  kernels.bfloat16_pairs = [](int count, const std::uint16_t* from, std::uint16_t* to) {
    launch(bfloat16_pairs, blocks_for(count / 2), dim3(kConvertThreads), 0, Stream{}, count,
           reinterpret_cast<const __nv_bfloat162*>(from), reinterpret_cast<__nv_bfloat162*>(to));
  };
}

}  // namespace paged::PAGED_BACKEND
