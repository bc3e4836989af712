// kernels/vector_load.cuh and CUDA's vector types at work.
#include "kernels/vector_load.cuh"
#include "tests/simt/sample_kernels.h"

#include <cstdint>

namespace paged::PAGED_BACKEND {
namespace {

template <typename T, int N>
__global__ void copy_vectors(int count, const T* from, T* to) {
  const int i = static_cast<int>(threadIdx.x) * N;
  if (i < count) {
    const Vec<T, N> in = load_vec<N>(from + i);
    Vec<T, N> out;
    for (int k = 0; k < N; ++k) out[k] = in[k];
    store_vec(to + i, out);
  }
}

__global__ void copy_float4(const float4* from, float4* to) {
  const float4 value = from[threadIdx.x];
  to[threadIdx.x] = make_float4(value.x, value.y, value.z, value.w);
}

template <typename T, int N>
void launch_copy(int bytes, const void* from, void* to) {
  const int count = bytes / static_cast<int>(sizeof(T));
  launch(copy_vectors<T, N>, dim3(1), dim3(count / N), 0, Stream{}, count,
         static_cast<const T*>(from), static_cast<T*>(to));
}

template <typename T>
void launch_copy_of_width(int width, int bytes, const void* from, void* to) {
  if (width * sizeof(T) == 16) return launch_copy<T, 16 / sizeof(T)>(bytes, from, to);
  if (width * sizeof(T) == 8) return launch_copy<T, 8 / sizeof(T)>(bytes, from, to);
  if constexpr (sizeof(T) <= 4)
    if (width * sizeof(T) == 4) return launch_copy<T, 4 / sizeof(T)>(bytes, from, to);
  if constexpr (sizeof(T) <= 2)
    if (width * sizeof(T) == 2) return launch_copy<T, 2 / sizeof(T)>(bytes, from, to);
}

}  // namespace

void add_vectors(SampleKernels& kernels) {
  kernels.copy_vectors = [](int element_bytes, int width, int bytes, const void* from, void* to) {
    if (element_bytes == 1) return launch_copy_of_width<__nv_fp8_e4m3>(width, bytes, from, to);
    if (element_bytes == 2) return launch_copy_of_width<__half>(width, bytes, from, to);
    return launch_copy_of_width<float>(width, bytes, from, to);
  };
  kernels.copy_float4 = [](int count, const float* from, float* to) {
    launch(copy_float4, dim3(1), dim3(count / 4), 0, Stream{},
           reinterpret_cast<const float4*>(from), reinterpret_cast<float4*>(to));
  };
}

}  // namespace paged::PAGED_BACKEND
