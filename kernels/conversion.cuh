// Element types to and from float, in one spelling for all of them.
#pragma once
#include "kernels/cuda.h"

namespace paged::PAGED_BACKEND {

/// The exact value of an element. NaN stays NaN, infinities stay.
__device__ __forceinline__ float to_float(float value) { return value; }
__device__ __forceinline__ float to_float(__half value) { return __half2float(value); }
__device__ __forceinline__ float to_float(__nv_bfloat16 value) { return __bfloat162float(value); }
__device__ __forceinline__ float to_float(__nv_fp8_e4m3 value) { return static_cast<float>(value); }
__device__ __forceinline__ float to_float(__nv_fp8_e5m2 value) { return static_cast<float>(value); }

/// The nearest element, ties to even, subnormals included. Too large becomes infinity; in fp8 it
/// saturates, infinity included: 448 in e4m3, 57344 in e5m2. NaN stays NaN; in fp8 it is 0x7F.
template <typename T>
__device__ T from_float(float value);

template <>
__device__ __forceinline__ float from_float<float>(float value) {
  return value;
}
template <>
__device__ __forceinline__ __half from_float<__half>(float value) {
  return __float2half_rn(value);
}
template <>
__device__ __forceinline__ __nv_bfloat16 from_float<__nv_bfloat16>(float value) {
  return __float2bfloat16_rn(value);
}
template <>
__device__ __forceinline__ __nv_fp8_e4m3 from_float<__nv_fp8_e4m3>(float value) {
  __nv_fp8_e4m3 element;
  element.__x = __nv_cvt_float_to_fp8(value, __NV_SATFINITE, __NV_E4M3);
  return element;
}
template <>
__device__ __forceinline__ __nv_fp8_e5m2 from_float<__nv_fp8_e5m2>(float value) {
  __nv_fp8_e5m2 element;
  element.__x = __nv_cvt_float_to_fp8(value, __NV_SATFINITE, __NV_E5M2);
  return element;
}

}  // namespace paged::PAGED_BACKEND
