// Several elements to float, in as few instructions as the type allows.
#pragma once
#include "kernels/conversion.cuh"
#include "kernels/vector_load.cuh"

#include <cstring>
#include <type_traits>

namespace paged::PAGED_BACKEND {

/// The exact values of N elements, the same as to_float() of each.
///
/// All but f32 go two at a time. Of 16-bit types a 32-bit register holds two: for f16 there is an
/// instruction, and a bf16 is the upper half of a float. One by one, nvcc would first cut the
/// register into halves, and that on the slower of the two integer pipes. 8-bit types have an
/// instruction for a pair, to f16, which holds every value of both exactly.
template <typename T, int N>
__device__ __forceinline__ void to_floats(const Vec<T, N>& elements, float (&values)[N]) {
  if constexpr (std::is_same_v<T, __half> && N % 2 == 0) {
#pragma unroll
    for (int i = 0; i < N; i += 2) {
      __half2 pair;
      memcpy(static_cast<void*>(&pair), &elements.elements[i], sizeof(pair));
      const float2 two = __half22float2(pair);
      values[i] = two.x;
      values[i + 1] = two.y;
    }
  } else if constexpr (std::is_same_v<T, __nv_bfloat16> && N % 2 == 0) {
#pragma unroll
    for (int i = 0; i < N; i += 2) {
      unsigned pair;
      memcpy(&pair, &elements.elements[i], sizeof(pair));
      values[i] = __uint_as_float(pair << 16);
      values[i + 1] = __uint_as_float(pair & 0xFFFF0000U);
    }
  } else if constexpr (sizeof(T) == 1 && N % 2 == 0) {
    constexpr auto kFormat = std::is_same_v<T, __nv_fp8_e4m3> ? __NV_E4M3 : __NV_E5M2;
#pragma unroll
    for (int i = 0; i < N; i += 2) {
      unsigned short pair;
      memcpy(&pair, &elements.elements[i], sizeof(pair));
      const float2 two = __half22float2(__half2(__nv_cvt_fp8x2_to_halfraw2(pair, kFormat)));
      values[i] = two.x;
      values[i + 1] = two.y;
    }
  } else {
#pragma unroll
    for (int i = 0; i < N; ++i) values[i] = to_float(elements[i]);
  }
}

}  // namespace paged::PAGED_BACKEND
