// The element types as values, and exact conversions. Host code only.
#pragma once
#include <Eigen/Core>

#include <cstdint>

namespace paged {

using f16 = Eigen::half;       ///< IEEE 754 binary16
using bf16 = Eigen::bfloat16;  ///< upper half of a binary32

/// 8-bit float with 4 exponent and 3 mantissa bits (OCP FP8 E4M3): bias 7, no infinity,
/// NaN = S.1111.111, largest finite value 448.
struct e4m3 {
  std::uint8_t bits = 0;
};

/// 8-bit float with 5 exponent and 2 mantissa bits (OCP FP8 E5M2): bias 15, infinities and NaNs as
/// in IEEE 754, largest finite value 57344.
struct e5m2 {
  std::uint8_t bits = 0;
};

/// Exact value of a stored element; NaN and infinities are kept.
double to_double(float value);
double to_double(f16 value);
double to_double(bf16 value);
double to_double(e4m3 value);
double to_double(e5m2 value);

/// Rounds to the nearest element, ties to the even one, subnormals included, in one rounding from
/// double. f32, f16 and bf16 overflow to infinity. e4m3 and e5m2 saturate to the largest finite
/// value, infinities included (CUDA's __NV_SATFINITE, as caches are written). NaN stays NaN.
template <typename Element>
Element round_to(double value);

template <>
float round_to<float>(double value);
template <>
f16 round_to<f16>(double value);
template <>
bf16 round_to<bf16>(double value);
template <>
e4m3 round_to<e4m3>(double value);
template <>
e5m2 round_to<e5m2>(double value);

}  // namespace paged
