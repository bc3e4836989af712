#include "tests/simt/every_backend.h"

#include <bit>
#include <cmath>

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

INSTANTIATE_TEST_SUITE_P(EveryBackend, Arithmetic, ::testing::ValuesIn(every_backend()),
                         name_of_case);

}  // namespace
}  // namespace paged
