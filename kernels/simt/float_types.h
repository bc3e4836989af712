// 16-bit and 8-bit floating-point types with CUDA's names. Conversions are exact bit arithmetic,
// always inlined and free of calls.
#pragma once
#include "kernels/simt/keywords.h"
#include "kernels/simt/vector_types.h"

#include <bit>
#include <cstdint>

struct __half {
  std::uint16_t bits;
};
struct __nv_bfloat16 {
  std::uint16_t bits;
};
struct __nv_fp8_e4m3 {
  std::uint8_t __x;
  __forceinline__ explicit operator float() const;
};
struct __nv_fp8_e5m2 {
  std::uint8_t __x;
  __forceinline__ explicit operator float() const;
};
using __nv_fp8_storage_t = std::uint8_t;
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };
/// Only conversions that saturate are here: what a kernel does not use, a compiler may refuse.
enum __nv_saturation_t { __NV_SATFINITE };
using half = __half;
using nv_bfloat16 = __nv_bfloat16;

namespace paged::simt {

// A float with the exponent field of a narrower type is off by a power of two; multiplying by it
// is exact and normalises subnormals on the way.
__forceinline__ float half_bits_to_float(std::uint32_t bits) {
  const std::uint32_t magnitude = (bits & 0x7FFFU) << 13;
  const std::uint32_t special = magnitude >= 0x0F800000U ? 0x7F800000U : 0U;  // infinity, NaN
  const float scaled = std::bit_cast<float>(magnitude) * 0x1p112F;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(scaled) | special |
                              (bits & 0x8000U) << 16);
}

__forceinline__ std::uint16_t float_to_half_bits(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  // Normal results: subtract the bias difference, add half a unit in the last place (a little less
  // for an even result, so that ties go to even); a carry into the exponent is what rounding means.
  const std::uint32_t normal = (magnitude - 0x38000000U + 0xFFFU + (magnitude >> 13 & 1U)) >> 13;
  // Subnormal results: adding 0.5 aligns the binary point with the last bit, and rounds.
  const std::uint32_t subnormal =
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - 0x3F000000U;
  const std::uint32_t special = magnitude > 0x7F800000U ? 0x7E00U : 0x7C00U;
  const std::uint32_t rounded = magnitude >= 0x47800000U  ? special
                                : magnitude < 0x38800000U ? subnormal
                                                          : normal;
  return static_cast<std::uint16_t>(rounded | (bits >> 16 & 0x8000U));
}

__forceinline__ std::uint16_t float_to_bfloat16_bits(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16;
  const bool is_nan = (bits & 0x7FFFFFFFU) > 0x7F800000U;
  return static_cast<std::uint16_t>(is_nan ? 0x7FFFU : rounded);
}

// e4m3 has no infinity: its exponent field 15 is ordinary but for the code of NaN.
__forceinline__ float e4m3_bits_to_float(std::uint32_t bits) {
  const std::uint32_t magnitude = (bits & 0x7FU) << 20;
  const std::uint32_t special = (bits & 0x7FU) == 0x7FU ? 0x7FC00000U : 0U;
  const float scaled = std::bit_cast<float>(magnitude) * 0x1p120F;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(scaled) | special |
                              (bits & 0x80U) << 24);
}

// Rounds as float_to_half_bits() does. Too large, infinity included, becomes the largest finite
// code, and every NaN becomes 0x7F, as PTX's cvt.rn.satfinite has it.
template <int kMantissaBits, std::uint32_t kLargest>
__forceinline__ std::uint8_t float_to_fp8_bits(float value) {
  constexpr int kDropped = 23 - kMantissaBits;
  constexpr std::uint32_t kBias = (1U << (6 - kMantissaBits)) - 1;
  constexpr std::uint32_t kBiasDifference = (127 - kBias) << 23;
  constexpr std::uint32_t kLeastNormal = kBiasDifference + (1U << 23);
  // A float whose last bit weighs as much as the least subnormal, 2^(1 - bias - mantissa bits).
  constexpr std::uint32_t kAligning = kLeastNormal + (kDropped << 23);
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  const std::uint32_t just_below_half = (1U << (kDropped - 1)) - 1;
  const std::uint32_t normal =
      (magnitude - kBiasDifference + just_below_half + (magnitude >> kDropped & 1U)) >> kDropped;
  const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) +
                                                               std::bit_cast<float>(kAligning)) -
                                  kAligning;
  const std::uint32_t rounded = magnitude < kLeastNormal ? subnormal
                                : normal < kLargest      ? normal
                                                         : kLargest;
  const bool is_nan = magnitude > 0x7F800000U;
  return static_cast<std::uint8_t>(is_nan ? 0x7FU : rounded | (bits >> 24 & 0x80U));
}

}  // namespace paged::simt

__forceinline__ float __half2float(__half value) {
  return paged::simt::half_bits_to_float(value.bits);
}
__forceinline__ __half __float2half(float value) {
  return {paged::simt::float_to_half_bits(value)};
}
__forceinline__ __half __float2half_rn(float value) { return __float2half(value); }

__forceinline__ float __bfloat162float(__nv_bfloat16 value) {
  return std::bit_cast<float>(std::uint32_t{value.bits} << 16);
}
__forceinline__ __nv_bfloat16 __float2bfloat16(float value) {
  return {paged::simt::float_to_bfloat16_bits(value)};
}
__forceinline__ __nv_bfloat16 __float2bfloat16_rn(float value) { return __float2bfloat16(value); }

__forceinline__ __nv_fp8_e4m3::operator float() const {
  return paged::simt::e4m3_bits_to_float(__x);
}
// e5m2 is the upper half of a binary16.
__forceinline__ __nv_fp8_e5m2::operator float() const {
  return paged::simt::half_bits_to_float(std::uint32_t{__x} << 8);
}
__forceinline__ __nv_fp8_storage_t __nv_cvt_float_to_fp8(float value, __nv_saturation_t,
                                                         __nv_fp8_interpretation_t format) {
  return format == __NV_E4M3 ? paged::simt::float_to_fp8_bits<3, 0x7EU>(value)
                             : paged::simt::float_to_fp8_bits<2, 0x7BU>(value);
}

namespace paged::simt {

/// Two 16-bit elements whose copy is one 4-byte access.
template <typename Element>
struct alignas(4) Pair {
  union {
    __extension__ struct { Element x, y; };
    std::uint32_t whole;
  };
  Pair() = default;
  __forceinline__ Pair(Element x_, Element y_)
      : whole(std::uint32_t{x_.bits} | std::uint32_t{y_.bits} << 16) {}
  __forceinline__ Pair(const Pair& other) : whole(other.whole) {}
  __forceinline__ Pair& operator=(const Pair& other) {
    whole = other.whole;
    return *this;
  }
};

}  // namespace paged::simt

using __half2 = paged::simt::Pair<__half>;
using __nv_bfloat162 = paged::simt::Pair<__nv_bfloat16>;
using half2 = __half2;
using nv_bfloat162 = __nv_bfloat162;

__forceinline__ float2 __half22float2(__half2 pair) {
  return {__half2float(pair.x), __half2float(pair.y)};
}
__forceinline__ __half2 __floats2half2_rn(float x, float y) {
  return {__float2half(x), __float2half(y)};
}
__forceinline__ __half2 __halves2half2(__half x, __half y) { return {x, y}; }

/// Two fp8 elements, the first in the lower byte. CUDA's is a struct of bits that turns into
/// __half2.
using __nv_fp8x2_storage_t = std::uint16_t;
__forceinline__ __half2 __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t pair,
                                                   __nv_fp8_interpretation_t format) {
  const auto widened = [format](std::uint32_t bits) -> __half {
    return format == __NV_E4M3 ? __float2half(paged::simt::e4m3_bits_to_float(bits))
                               : __half{static_cast<std::uint16_t>(bits << 8)};
  };
  return {widened(pair & 0xFFU), widened(pair >> 8)};
}

// Through float, and still rounded as if once: a product of two halves is exact in float, and a sum
// is rounded to 24 bits first, which does no harm to a rounding to 11 since 24 >= 2 * 11 + 2 (S.
// Figueroa, "When is double rounding innocuous?", 1995). Subnormal sums are exact.
__forceinline__ __half2 __hmul2_rn(__half2 a, __half2 b) {
  return {__float2half(__half2float(a.x) * __half2float(b.x)),
          __float2half(__half2float(a.y) * __half2float(b.y))};
}
__forceinline__ __half2 __hadd2_rn(__half2 a, __half2 b) {
  return {__float2half(__half2float(a.x) + __half2float(b.x)),
          __float2half(__half2float(a.y) + __half2float(b.y))};
}

__forceinline__ float2 __bfloat1622float2(__nv_bfloat162 pair) {
  return {__bfloat162float(pair.x), __bfloat162float(pair.y)};
}
__forceinline__ __nv_bfloat162 __floats2bfloat162_rn(float x, float y) {
  return {__float2bfloat16(x), __float2bfloat16(y)};
}
