// Conversions of all codes, against the reference's element types.
#include "reference/element_types.h"
#include "tests/simt/every_backend.h"

#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

namespace paged {
namespace {

class Conversion : public OnEveryBackend {
 protected:
  // Every code of a type, widened, is what the reference says.
  template <typename Element, typename Code>
  void expect_exact(void (*widen)(int, const Code*, float*)) {
    constexpr int kCodes = 1 << (8 * sizeof(Code));
    std::vector<Code> codes(kCodes);
    std::iota(codes.begin(), codes.end(), Code{0});
    const DeviceArray<Code> in(device(), codes, "codes");
    const DeviceArray<float> out(device(), kCodes, "values");
    widen(kCodes, in.data(), out.data());
    const std::vector<float> values = out.to_host();
    for (int code = 0; code < kCodes; ++code) {
      const double expected = to_double(std::bit_cast<Element>(static_cast<Code>(code)));
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(values[code])) << "code " << code;
      } else {
        ASSERT_EQ(std::bit_cast<std::uint32_t>(values[code]),
                  std::bit_cast<std::uint32_t>(static_cast<float>(expected)))
            << "code " << code;
      }
    }
  }

  template <typename Element>
  void expect_nearest(void (*narrow)(int, const float*, std::uint16_t*),
                      const std::vector<float>& values) {
    const DeviceArray<float> in(device(), values, "values");
    const DeviceArray<std::uint16_t> out(device(), values.size(), "codes");
    narrow(static_cast<int>(values.size()), in.data(), out.data());
    const std::vector<std::uint16_t> codes = out.to_host();
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Element expected = round_to<Element>(values[i]);
      if (std::isnan(values[i])) {
        ASSERT_TRUE(std::isnan(to_double(std::bit_cast<Element>(codes[i]))));
      } else {
        ASSERT_EQ(codes[i], std::bit_cast<std::uint16_t>(expected)) << values[i];
      }
    }
  }
};

void add_with_neighbours(std::vector<float>& values, float value) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (float v : {value, std::nextafter(value, kInfinity), std::nextafter(value, -kInfinity)})
    values.push_back(v);
}

// All elements of a 16-bit type, the ties between them, the floats next to both; special values
// and random bit patterns.
template <typename Element>
std::vector<float> interesting_floats() {
  std::vector<float> values;
  for (std::uint32_t code = 0; code < 65535; ++code) {
    const auto at = [](std::uint32_t bits) {
      return to_double(std::bit_cast<Element>(static_cast<std::uint16_t>(bits)));
    };
    add_with_neighbours(values, static_cast<float>(at(code)));
    add_with_neighbours(values, static_cast<float>((at(code) + at(code + 1)) / 2));
  }
  using Limits = std::numeric_limits<float>;
  for (float special : {0.0F, -0.0F, Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(),
                        -Limits::quiet_NaN(), Limits::max(), Limits::min(), Limits::denorm_min(),
                        65504.0F, 65519.0F, 65520.0F, 65536.0F, 0x1p-24F, 0x1p-25F, 0x1.8p-25F})
    values.push_back(special);
  values.push_back(std::bit_cast<float>(0x7F800001U));  // a signalling NaN with a low payload
  std::mt19937 random(1);
  for (int i = 0; i < 200000; ++i)
    values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
  return values;
}

TEST_P(Conversion, OfEveryHalfIsExact) { expect_exact<f16>(kernels().half_to_float); }
TEST_P(Conversion, OfEveryBfloat16IsExact) { expect_exact<bf16>(kernels().bfloat16_to_float); }
TEST_P(Conversion, OfEveryE4m3IsExact) { expect_exact<e4m3>(kernels().e4m3_to_float); }
TEST_P(Conversion, OfEveryE5m2IsExact) { expect_exact<e5m2>(kernels().e5m2_to_float); }

TEST_P(Conversion, ToHalfRoundsToNearestEven) {
  expect_nearest<f16>(kernels().float_to_half, interesting_floats<f16>());
}
TEST_P(Conversion, ToBfloat16RoundsToNearestEven) {
  expect_nearest<bf16>(kernels().float_to_bfloat16, interesting_floats<bf16>());
}

TEST_P(Conversion, OfPairsKeepsBothElements) {
  std::vector<std::uint16_t> codes(0x7C00);  // finite and positive
  std::iota(codes.begin(), codes.end(), std::uint16_t{0});
  const DeviceArray<std::uint16_t> in(device(), codes, "from");
  const DeviceArray<std::uint16_t> out(device(), codes.size(), "to");
  kernels().half_pairs(static_cast<int>(codes.size()), in.data(), out.data());
  EXPECT_EQ(out.to_host(), codes);
}

TEST_P(Conversion, OfPairsOfBfloat16AndBackKeepsEveryCode) {
  std::vector<std::uint16_t> codes(0x7F80);  // all that are finite and not negative
  std::iota(codes.begin(), codes.end(), std::uint16_t{0});
  const DeviceArray<std::uint16_t> in(device(), codes, "from");
  const DeviceArray<std::uint16_t> out(device(), codes.size(), "to");
  kernels().bfloat16_pairs(static_cast<int>(codes.size()), in.data(), out.data());
  EXPECT_EQ(out.to_host(), codes);
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, Conversion, ::testing::ValuesIn(every_backend()),
                         name_of_case);

}  // namespace
}  // namespace paged
