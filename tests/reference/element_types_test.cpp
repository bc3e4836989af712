// Conversions of the element types, against values built from sign, exponent and mantissa with
// ldexp, and against the neighbours of every code.
#include "reference/element_types.h"

#include "tests/reference/not_finite.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace paged {
namespace {

using testing::kInfinity;
using testing::kNaN;

constexpr double kTiniest = std::numeric_limits<double>::denorm_min();

/// What defines a small float format: field widths, and whether the top exponent is reserved for
/// infinity and NaN (IEEE 754) or holds numbers except for its last code (e4m3).
template <typename Element>
struct Format;

template <>
struct Format<f16> {
  static constexpr int exponent_bits = 5, mantissa_bits = 10;
  static constexpr bool reserves_top = true, saturates = false;
  static f16 from(unsigned bits) {
    return Eigen::numext::bit_cast<f16>(static_cast<std::uint16_t>(bits));
  }
  static unsigned bits(f16 value) { return Eigen::numext::bit_cast<std::uint16_t>(value); }
};
template <>
struct Format<bf16> {
  static constexpr int exponent_bits = 8, mantissa_bits = 7;
  static constexpr bool reserves_top = true, saturates = false;
  static bf16 from(unsigned bits) {
    return Eigen::numext::bit_cast<bf16>(static_cast<std::uint16_t>(bits));
  }
  static unsigned bits(bf16 value) { return Eigen::numext::bit_cast<std::uint16_t>(value); }
};
template <>
struct Format<e4m3> {
  static constexpr int exponent_bits = 4, mantissa_bits = 3;
  static constexpr bool reserves_top = false, saturates = true;
  static e4m3 from(unsigned bits) { return {static_cast<std::uint8_t>(bits)}; }
  static unsigned bits(e4m3 value) { return value.bits; }
};
template <>
struct Format<e5m2> {
  static constexpr int exponent_bits = 5, mantissa_bits = 2;
  static constexpr bool reserves_top = true, saturates = true;
  static e5m2 from(unsigned bits) { return {static_cast<std::uint8_t>(bits)}; }
  static unsigned bits(e5m2 value) { return value.bits; }
};

template <typename Element>
class SmallFloat : public ::testing::Test {
 protected:
  using F = Format<Element>;
  static constexpr unsigned kSign = 1U << (F::exponent_bits + F::mantissa_bits);
  static constexpr unsigned kTop = ((1U << F::exponent_bits) - 1) << F::mantissa_bits;
  static constexpr unsigned kMaxFinite = F::reserves_top ? kTop - 1 : kSign - 2;

  /// The value that the format's definition gives to a code.
  static double defined_value(unsigned bits) {
    const unsigned magnitude = bits & (kSign - 1);
    const double sign = (bits & kSign) != 0 ? -1.0 : 1.0;
    if (magnitude > kMaxFinite)
      return F::reserves_top && magnitude == kTop ? sign * kInfinity : kNaN;
    constexpr int bias = (1 << (F::exponent_bits - 1)) - 1;
    const int exponent = static_cast<int>(magnitude >> F::mantissa_bits);
    const int mantissa = static_cast<int>(magnitude & ((1U << F::mantissa_bits) - 1));
    if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - F::mantissa_bits);
    return sign *
           std::ldexp((1 << F::mantissa_bits) + mantissa, exponent - bias - F::mantissa_bits);
  }
  static unsigned rounded(double value) { return F::bits(round_to<Element>(value)); }
  static bool is_nan_code(unsigned bits) { return std::isnan(defined_value(bits)); }
};

using SmallFloats = ::testing::Types<f16, bf16, e4m3, e5m2>;
class SmallFloatNames {
 public:
  template <typename Element>
  static std::string GetName(int index) {
    return std::vector<std::string>{"f16", "bf16", "e4m3", "e5m2"}[static_cast<std::size_t>(index)];
  }
};
TYPED_TEST_SUITE(SmallFloat, SmallFloats, SmallFloatNames);

TYPED_TEST(SmallFloat, EveryCodeHasTheValueOfItsDefinition) {
  for (unsigned bits = 0; bits < 2 * this->kSign; ++bits) {
    const double expected = this->defined_value(bits);
    const double actual = to_double(Format<TypeParam>::from(bits));
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(actual)) << "code " << bits << " gave " << actual;
    } else {
      ASSERT_EQ(actual, expected) << "code " << bits;
      ASSERT_EQ(std::signbit(actual), std::signbit(expected)) << "code " << bits;
    }
  }
}

TYPED_TEST(SmallFloat, EveryCodeRoundsBackToItself) {
  for (unsigned bits = 0; bits < 2 * this->kSign; ++bits) {
    const double value = this->defined_value(bits);
    if (std::isnan(value)) {
      ASSERT_TRUE(this->is_nan_code(this->rounded(value))) << "code " << bits;
    } else if (std::isinf(value) && Format<TypeParam>::saturates) {
      ASSERT_EQ(this->rounded(value), (bits & this->kSign) | this->kMaxFinite);
    } else {
      ASSERT_EQ(this->rounded(value), bits);
    }
  }
}

TYPED_TEST(SmallFloat, TheMidpointOfNeighboursGoesToTheEvenOne) {
  for (unsigned low = 0; low < this->kMaxFinite; ++low) {
    const double midpoint = (this->defined_value(low) + this->defined_value(low + 1)) / 2;
    const unsigned even = low % 2 == 0 ? low : low + 1;
    ASSERT_EQ(this->rounded(midpoint), even) << "between " << low << " and its successor";
    ASSERT_EQ(this->rounded(-midpoint), even | this->kSign) << "negative";
  }
}

TYPED_TEST(SmallFloat, AnyDistanceFromTheMidpointDecides) {
  // The nearest double, then offsets that a first rounding to float would swallow, then visible.
  const std::vector<double> offsets = {0x1p-52, 0x1p-50, 0x1p-40, 0x1p-30,
                                       0x1p-26, 0x1p-24, 0x1p-20};
  for (unsigned low = 0; low < this->kMaxFinite; ++low) {
    const double midpoint = (this->defined_value(low) + this->defined_value(low + 1)) / 2;
    ASSERT_EQ(this->rounded(std::nextafter(midpoint, 0.0)), low);
    ASSERT_EQ(this->rounded(std::nextafter(midpoint, kInfinity)), low + 1);
    for (const double offset : offsets) {
      ASSERT_EQ(this->rounded(midpoint * (1 - offset)), low) << low << " offset " << offset;
      ASSERT_EQ(this->rounded(midpoint * (1 + offset)), low + 1) << low << " offset " << offset;
      ASSERT_EQ(this->rounded(-midpoint * (1 - offset)), low | this->kSign);
      ASSERT_EQ(this->rounded(-midpoint * (1 + offset)), (low + 1) | this->kSign);
    }
  }
}

TYPED_TEST(SmallFloat, ValuesBesideACodeGoToThatCode) {
  for (unsigned bits = 1; bits <= this->kMaxFinite; ++bits) {
    const double value = this->defined_value(bits);
    ASSERT_EQ(this->rounded(std::nextafter(value, 0.0)), bits);
    ASSERT_EQ(this->rounded(std::nextafter(value, kInfinity)), bits);
  }
}

TYPED_TEST(SmallFloat, ZeroKeepsItsSign) {
  EXPECT_EQ(this->rounded(0.0), 0U);
  EXPECT_EQ(this->rounded(-0.0), this->kSign);
}

TYPED_TEST(SmallFloat, UnderflowGivesAZeroOfTheSameSign) {
  const double half_smallest = this->defined_value(1) / 2;
  for (const double value : {kTiniest, 1e-300, 1e-60, half_smallest / 2, half_smallest}) {
    EXPECT_EQ(this->rounded(value), 0U) << value;
    EXPECT_EQ(this->rounded(-value), this->kSign) << -value;
  }
  EXPECT_EQ(this->rounded(std::nextafter(half_smallest, 1.0)), 1U);
}

TYPED_TEST(SmallFloat, OverflowSaturatesInFp8AndGivesInfinityElsewhere) {
  const double largest = this->defined_value(this->kMaxFinite);
  const double half_step = (largest - this->defined_value(this->kMaxFinite - 1)) / 2;
  EXPECT_EQ(this->rounded(std::nextafter(largest + half_step, 0.0)), this->kMaxFinite);
  EXPECT_EQ(this->rounded(-std::nextafter(largest + half_step, 0.0)),
            this->kMaxFinite | this->kSign);
  const unsigned beyond = Format<TypeParam>::saturates ? this->kMaxFinite : this->kTop;
  const double tie = largest + half_step;
  for (const double value : {tie, std::nextafter(tie, kInfinity), largest + 2 * half_step,
                             2 * largest, 1e100, std::numeric_limits<double>::max(), kInfinity}) {
    EXPECT_EQ(this->rounded(value), beyond) << value;
    EXPECT_EQ(this->rounded(-value), beyond | this->kSign) << -value;
  }
}

TYPED_TEST(SmallFloat, NaNStaysNaN) {
  for (const double nan :
       {kNaN, -kNaN, std::numeric_limits<double>::signaling_NaN(),
        std::bit_cast<double>(0x7ff0000000000001U), std::bit_cast<double>(0xfff0000020000000U),
        std::bit_cast<double>(0x7fffffffffffffffU)}) {
    EXPECT_TRUE(this->is_nan_code(this->rounded(nan)));
    EXPECT_TRUE(std::isnan(to_double(round_to<TypeParam>(nan))));
  }
}

TEST(ElementTypes, TheLargestFiniteValuesAreTheDocumentedOnes) {
  EXPECT_EQ(to_double(e4m3{0x7e}), 448.0);
  EXPECT_EQ(to_double(e5m2{0x7b}), 57344.0);
  EXPECT_EQ(to_double(round_to<f16>(65519.999)), 65504.0);
  EXPECT_EQ(to_double(round_to<f16>(65520.0)), kInfinity);
  EXPECT_EQ(to_double(round_to<e4m3>(-1e9)), -448.0);
  EXPECT_EQ(to_double(round_to<e5m2>(-1e9)), -57344.0);
}

TEST(ElementTypes, E4m3HasOneNaNPerSignAndNoInfinity) {
  int nans = 0, infinities = 0;
  for (unsigned bits = 0; bits < 256; ++bits) {
    nans += std::isnan(to_double(e4m3{static_cast<std::uint8_t>(bits)}));
    infinities += std::isinf(to_double(e4m3{static_cast<std::uint8_t>(bits)}));
  }
  EXPECT_EQ(nans, 2);
  EXPECT_EQ(infinities, 0);
  EXPECT_TRUE(std::isnan(to_double(e4m3{0x7f})) && std::isnan(to_double(e4m3{0xff})));
}

// ---- f32 -------------------------------------------------------------------------------------
std::uint32_t f32_bits(double value) {
  return std::bit_cast<std::uint32_t>(round_to<float>(value));
}

TEST(Float32, MidpointsAndTheirSurroundingsRoundToTheRightNeighbour) {
  std::mt19937 random(1);
  std::vector<std::uint32_t> codes = {0, 1, 2, 3, 0x7ffffe, 0x7fffff, 0x800000, 0x7f7ffffe};
  for (int i = 0; i < 20000; ++i) codes.push_back(random() % 0x7f7fffffU);
  for (const std::uint32_t low : codes) {
    const double midpoint = (static_cast<double>(std::bit_cast<float>(low)) +
                             static_cast<double>(std::bit_cast<float>(low + 1))) /
                            2;
    ASSERT_EQ(f32_bits(midpoint), low % 2 == 0 ? low : low + 1);
    ASSERT_EQ(f32_bits(-midpoint), (low % 2 == 0 ? low : low + 1) | 0x80000000U);
    ASSERT_EQ(f32_bits(std::nextafter(midpoint, 0.0)), low);
    ASSERT_EQ(f32_bits(std::nextafter(midpoint, kInfinity)), low + 1);
  }
}

TEST(Float32, OverflowGivesInfinityFromTheTieOn) {
  const double tie = 0x1.ffffffp127;  // largest float + half a unit in its last place
  EXPECT_EQ(round_to<float>(std::nextafter(tie, 0.0)), std::numeric_limits<float>::max());
  EXPECT_EQ(round_to<float>(tie), std::numeric_limits<float>::infinity());
  EXPECT_EQ(round_to<float>(-tie), -std::numeric_limits<float>::infinity());
  EXPECT_EQ(round_to<float>(1e300), std::numeric_limits<float>::infinity());
  EXPECT_EQ(round_to<float>(-kInfinity), -std::numeric_limits<float>::infinity());
}

TEST(Float32, SignedZeroUnderflowAndNaN) {
  EXPECT_EQ(f32_bits(0.0), 0U);
  EXPECT_EQ(f32_bits(-0.0), 0x80000000U);
  EXPECT_EQ(f32_bits(kTiniest), 0U);
  EXPECT_EQ(f32_bits(-0x1p-150), 0x80000000U);
  EXPECT_EQ(f32_bits(std::nextafter(0x1p-150, 1.0)), 1U);
  EXPECT_TRUE(std::isnan(round_to<float>(kNaN)));
}

TEST(Float32, ToDoubleIsExact) {
  EXPECT_EQ(to_double(std::bit_cast<float>(1U)), 0x1p-149);
  EXPECT_EQ(to_double(std::numeric_limits<float>::max()), 0x1.fffffep127);
  EXPECT_EQ(to_double(-std::numeric_limits<float>::infinity()), -kInfinity);
  EXPECT_TRUE(std::signbit(to_double(-0.0F)));
  EXPECT_TRUE(std::isnan(to_double(std::numeric_limits<float>::quiet_NaN())));
}

}  // namespace
}  // namespace paged
