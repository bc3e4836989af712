#include "reference/element_types.h"
#include "tests/simt/every_backend.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>

namespace paged {
namespace {

using Arithmetic = OnEveryBackend;

TEST_P(Arithmetic, CountsAndReinterpretsBits) {
  const std::vector<unsigned> values = {0U, 1U, 2U, 0x80000000U, 0x00F0F000U, 0x3F800000U, ~0U};
  const DeviceArray<unsigned> in(device(), values, "values");
  const DeviceArray<SampleKernels::BitResults> out(device(), values.size(), "results");
  kernels().bit_operations(static_cast<int>(values.size()), in.data(), out.data());
  const auto results = out.to_host();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const unsigned bits = values[i];
    EXPECT_EQ(results[i].num_set, std::popcount(bits)) << bits;
    EXPECT_EQ(results[i].leading_zeros, std::countl_zero(bits)) << bits;
    EXPECT_EQ(results[i].lowest_set, bits == 0 ? 0 : std::countr_zero(bits) + 1) << bits;
    EXPECT_EQ(results[i].through_float, static_cast<int>(bits)) << bits;
    EXPECT_EQ(results[i].through_float_unsigned, bits) << bits;
  }
}

TEST_P(Arithmetic, FastFunctionsAreCloseToTheExactOnes) {
  const std::vector<float> values = {0.125F, 0.75F, 1.0F, 1.5F, 3.0F, 10.0F};
  const DeviceArray<float> in(device(), values, "values");
  const DeviceArray<SampleKernels::FastMathResults> out(device(), values.size(), "results");
  kernels().fast_math(static_cast<int>(values.size()), in.data(), out.data());
  const auto results = out.to_host();
  const auto expect_close = [](float result, double exact) {
    EXPECT_NEAR(result, exact, 1e-5 * std::abs(exact) + 1e-6);
  };
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double x = values[i];
    expect_close(results[i].exp, std::exp(x));
    expect_close(results[i].log, std::log(x));
    expect_close(results[i].log2, std::log2(x));
    expect_close(results[i].pow_1_5, std::pow(x, 1.5));
    expect_close(results[i].three_divided, 3.0 / x);
    expect_close(results[i].reciprocal_root, 1.0 / std::sqrt(x));
    EXPECT_EQ(results[i].same, values[i]);
  }
}

/// Every code, beside random ones and beside those that make ties, overflow and subnormals.
TEST_P(Arithmetic, OnHalvesRoundsEachResultOnce) {
  std::vector<std::uint16_t> a;
  std::vector<std::uint16_t> b;
  std::mt19937 random(1);
  for (unsigned code = 0; code < 0x10000; ++code)
    for (const unsigned other : {static_cast<unsigned>(random() & 0xFFFFU),
                                 static_cast<unsigned>(code ^ (random() & 0x83FFU)),
                                 0x3C01U,     // 1 and a bit
                                 0x3800U,     // 0.5
                                 0x0001U,     // the least subnormal
                                 0x7BFFU}) {  // the greatest
      a.push_back(static_cast<std::uint16_t>(code));
      b.push_back(static_cast<std::uint16_t>(other));
    }
  const DeviceArray<std::uint16_t> device_a(device(), a, "a");
  const DeviceArray<std::uint16_t> device_b(device(), b, "b");
  const DeviceArray<std::uint16_t> device_products(device(), a.size(), "products");
  const DeviceArray<std::uint16_t> device_sums(device(), a.size(), "sums");
  kernels().half_arithmetic(static_cast<int>(a.size()), device_a.data(), device_b.data(),
                            device_products.data(), device_sums.data());
  const auto expect_rounded = [](std::uint16_t got, double exact, std::size_t i) {
    if (std::isnan(exact))
      ASSERT_TRUE(std::isnan(to_double(std::bit_cast<f16>(got)))) << i;
    else
      ASSERT_EQ(got, std::bit_cast<std::uint16_t>(round_to<f16>(exact))) << exact;
  };
  const auto products = device_products.to_host();
  const auto sums = device_sums.to_host();
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double x = to_double(std::bit_cast<f16>(a[i]));
    const double y = to_double(std::bit_cast<f16>(b[i]));
    ASSERT_NO_FATAL_FAILURE(expect_rounded(products[i], x * y, i)) << x << " * " << y;
    ASSERT_NO_FATAL_FAILURE(expect_rounded(sums[i], x + y, i)) << x << " + " << y;
  }
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, Arithmetic, ::testing::ValuesIn(every_backend()),
                         name_of_case);

}  // namespace
}  // namespace paged
