// kernels/vector_load.cuh and CUDA's vector types at work.
#include "kernels/vector_load.cuh"
#include "kernels/vector_pv.cuh"
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

// Inlined: a vector that is passed in memory would be an access that no GPU makes.
__device__ __forceinline__ int2 remade(int2 v) { return make_int2(v.x, v.y); }
__device__ __forceinline__ uint2 remade(uint2 v) { return make_uint2(v.x, v.y); }
__device__ __forceinline__ float2 remade(float2 v) { return make_float2(v.x, v.y); }
__device__ __forceinline__ int4 remade(int4 v) { return make_int4(v.x, v.y, v.z, v.w); }
__device__ __forceinline__ uint4 remade(uint4 v) { return make_uint4(v.x, v.y, v.z, v.w); }
__device__ __forceinline__ float4 remade(float4 v) { return make_float4(v.x, v.y, v.z, v.w); }

template <typename V>
__global__ void remake_vectors(const V* from, V* to) {
  to[threadIdx.x] = remade(from[threadIdx.x]);
}

template <typename V>
void launch_remake(int bytes, const void* from, void* to) {
  launch(remake_vectors<V>, dim3(1), dim3(bytes / static_cast<int>(sizeof(V))), 0, Stream{},
         static_cast<const V*>(from), static_cast<V*>(to));
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

template <typename T, int N>
struct GuardedRows {
  unsigned before[4];
  Vec<T, N> rows[3];
  unsigned after[4];
};

template <typename T, int N>
__global__ void zero_between_guards(int valid, const GuardedRows<T, N>* from,
                                    GuardedRows<T, N>* to) {
  GuardedRows<T, N> guarded;
  for (int i = 0; i < 4; ++i) guarded.before[i] = from->before[i];
  for (int i = 0; i < 4; ++i) guarded.after[i] = from->after[i];
  for (int i = 0; i < 3; ++i) guarded.rows[i] = load_vec<N>(from->rows[i].elements);
  zero_past_end(guarded.rows, valid);
  for (int i = 0; i < 4; ++i) to->before[i] = guarded.before[i];
  for (int i = 0; i < 4; ++i) to->after[i] = guarded.after[i];
  for (int i = 0; i < 3; ++i) store_vec(to->rows[i].elements, guarded.rows[i]);
}

template <typename T, int N>
void launch_zero_past_end(int valid, const void* from, void* to) {
  launch(zero_between_guards<T, N>, dim3(1), dim3(1), 0, Stream{}, valid,
         static_cast<const GuardedRows<T, N>*>(from), static_cast<GuardedRows<T, N>*>(to));
}

}  // namespace

void add_vectors(SampleKernels& kernels) {
  kernels.zero_past_end = [](int element_bytes, int width, int valid, const void* from, void* to) {
    if (element_bytes == 4) return launch_zero_past_end<float, 4>(valid, from, to);
    if (element_bytes == 2) return launch_zero_past_end<__half, 8>(valid, from, to);
    if (width == 4) return launch_zero_past_end<__nv_fp8_e4m3, 4>(valid, from, to);
    launch_zero_past_end<__nv_fp8_e4m3, 8>(valid, from, to);
  };
  kernels.copy_vectors = [](int element_bytes, int width, int bytes, const void* from, void* to) {
    if (element_bytes == 1) return launch_copy_of_width<__nv_fp8_e4m3>(width, bytes, from, to);
    if (element_bytes == 2) return launch_copy_of_width<__half>(width, bytes, from, to);
    return launch_copy_of_width<float>(width, bytes, from, to);
  };
  kernels.remake_vectors = [](VectorType type, int bytes, const void* from, void* to) {
    switch (type) {
      case VectorType::int2:
        return launch_remake<int2>(bytes, from, to);
      case VectorType::uint2:
        return launch_remake<uint2>(bytes, from, to);
      case VectorType::float2:
        return launch_remake<float2>(bytes, from, to);
      case VectorType::int4:
        return launch_remake<int4>(bytes, from, to);
      case VectorType::uint4:
        return launch_remake<uint4>(bytes, from, to);
      case VectorType::float4:
        return launch_remake<float4>(bytes, from, to);
    }
  };
}

}  // namespace paged::PAGED_BACKEND
