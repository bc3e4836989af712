#include "reference/element_types.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace paged {
namespace {

// What rounding past the largest finite value gives.
enum class Overflow { to_infinity, saturates };
// What the largest exponent encodes: infinity and NaNs, or finite values and, with all mantissa
// bits set, one NaN.
enum class TopExponent { special, finite };

// Codes of a binary format narrower than double: sign, exponent, mantissa, from the highest bit.
template <int kExponentBits, int kMantissaBits, Overflow kOverflow, TopExponent kTop>
struct NarrowFormat {
  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  static constexpr std::uint32_t kSign = 1U << (kExponentBits + kMantissaBits);
  static constexpr std::uint32_t kInfinity = kSign - (1U << kMantissaBits);
  static constexpr std::uint32_t kLargest =
      kTop == TopExponent::special ? kInfinity - 1 : kSign - 2;
  static constexpr std::uint32_t kNaN =
      kTop == TopExponent::special ? kInfinity | 1U << (kMantissaBits - 1) : kSign - 1;
  static constexpr std::uint32_t kOverflowed =
      kOverflow == Overflow::saturates ? kLargest : kInfinity;
  static_assert(kTop == TopExponent::special || kOverflow == Overflow::saturates);

  static double decode(std::uint32_t code) {
    const std::uint32_t magnitude = code & (kSign - 1);
    const double value = magnitude <= kLargest ? decode_finite(magnitude)
                         : kTop == TopExponent::special && magnitude == kInfinity
                             ? std::numeric_limits<double>::infinity()
                             : std::numeric_limits<double>::quiet_NaN();
    return std::copysign(value, (code & kSign) != 0 ? -1.0 : 1.0);
  }

  static std::uint32_t encode(double value) {
    const std::uint32_t sign = std::signbit(value) ? kSign : 0;
    if (std::isnan(value)) return sign | kNaN;
    const std::uint64_t magnitude = round_magnitude(std::bit_cast<std::uint64_t>(value) << 1 >> 1);
    return sign | (magnitude > kLargest ? kOverflowed : static_cast<std::uint32_t>(magnitude));
  }

 private:
  static double decode_finite(std::uint32_t magnitude) {
    constexpr auto kSmallestSubnormal =
        std::bit_cast<double>(static_cast<std::uint64_t>(1024 - kBias - kMantissaBits) << 52);
    if (magnitude >> kMantissaBits == 0) return magnitude * kSmallestSubnormal;
    const std::uint64_t rebiased = magnitude + (std::uint64_t{1023 - kBias} << kMantissaBits);
    return std::bit_cast<double>(rebiased << (52 - kMantissaBits));
  }

  // Nearest code of a non-negative double (given as its bits), as if the exponent had no limit.
  //
  // The significand is rounded once, at the last bit that the result has: further up where the
  // result is subnormal. A carry out of the mantissa then runs into the exponent, as it should.
  // Doubles that are subnormal themselves are far below half of any result, so that giving them an
  // implicit bit does no harm; infinity acts as 2^1024 and overflows.
  static std::uint64_t round_magnitude(std::uint64_t bits) {
    constexpr std::uint64_t kImplicitBit = std::uint64_t{1} << 52;
    const int exponent = static_cast<int>(bits >> 52) - 1023;
    const int result_exponent = std::max(exponent, 1 - kBias);
    // From 54 on, half of the last place exceeds any significand and the result is 0.
    const int dropped = std::min(52 - kMantissaBits + result_exponent - exponent, 54);
    const std::uint64_t significand = (bits & (kImplicitBit - 1)) | kImplicitBit;
    const std::uint64_t is_odd = significand >> dropped & 1;
    const std::uint64_t just_below_half = (std::uint64_t{1} << (dropped - 1)) - 1;
    const std::uint64_t rounded = (significand + just_below_half + is_odd) >> dropped;
    // `rounded` holds the implicit bit of a normal result, which counts as one exponent step.
    return (static_cast<std::uint64_t>(result_exponent + kBias - 1) << kMantissaBits) + rounded;
  }
};

using Binary16 = NarrowFormat<5, 10, Overflow::to_infinity, TopExponent::special>;
using Bfloat16 = NarrowFormat<8, 7, Overflow::to_infinity, TopExponent::special>;
using Fp8E4m3 = NarrowFormat<4, 3, Overflow::saturates, TopExponent::finite>;
using Fp8E5m2 = NarrowFormat<5, 2, Overflow::saturates, TopExponent::special>;

}  // namespace

double to_double(float value) { return value; }
double to_double(f16 value) { return Binary16::decode(std::bit_cast<std::uint16_t>(value)); }
double to_double(bf16 value) { return Bfloat16::decode(std::bit_cast<std::uint16_t>(value)); }
double to_double(e4m3 value) { return Fp8E4m3::decode(value.bits); }
double to_double(e5m2 value) { return Fp8E5m2::decode(value.bits); }

template <>
float round_to<float>(double value) {
  return static_cast<float>(value);
}

template <>
f16 round_to<f16>(double value) {
  return std::bit_cast<f16>(static_cast<std::uint16_t>(Binary16::encode(value)));
}

template <>
bf16 round_to<bf16>(double value) {
  return std::bit_cast<bf16>(static_cast<std::uint16_t>(Bfloat16::encode(value)));
}

template <>
e4m3 round_to<e4m3>(double value) {
  return {static_cast<std::uint8_t>(Fp8E4m3::encode(value))};
}

template <>
e5m2 round_to<e5m2>(double value) {
  return {static_cast<std::uint8_t>(Fp8E5m2::encode(value))};
}

}  // namespace paged
