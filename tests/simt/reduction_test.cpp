// Values are small integers: sums are exact in any order.
#include "tests/simt/every_backend.h"

#include <algorithm>

namespace paged {
namespace {

class Reduction : public OnEveryBackend {
 protected:
  static std::vector<float> values(int count) {
    std::vector<float> result(count);
    for (int i = 0; i < count; ++i) result[i] = static_cast<float>(i * 37 % 101 - 50);
    return result;
  }

  // Every element has the sum and the maximum of its group of `size`.
  static void expect_groups(const std::vector<float>& values, int size,
                            const std::vector<float>& sums, const std::vector<float>& maxima) {
    for (std::size_t begin = 0; begin < values.size(); begin += size) {
      float sum = 0;
      float maximum = values[begin];
      for (int i = 0; i < size; ++i) {
        sum += values[begin + i];
        maximum = std::max(maximum, values[begin + i]);
      }
      for (int i = 0; i < size; ++i) {
        ASSERT_EQ(sums[begin + i], sum) << "group of " << size << ", thread " << begin + i;
        ASSERT_EQ(maxima[begin + i], maximum) << "group of " << size;
      }
    }
  }
};

TEST_P(Reduction, OfAWarpIsValidInEveryLaneOfTheGroup) {
  const std::vector<float> host = values(128);
  const DeviceArray<float> in(device(), host, "values");
  const DeviceArray<float> sums(device(), host.size(), "sums");
  const DeviceArray<float> maxima(device(), host.size(), "maxima");
  for (int width : {1, 2, 4, 8, 16, 32}) {
    kernels().warp_reduce(width, 128, in.data(), sums.data(), maxima.data());
    expect_groups(host, width, sums.to_host(), maxima.to_host());
  }
}

TEST_P(Reduction, OfABlockIsValidInEveryThread) {
  for (int threads : {32, 96, 128, 1024}) {
    const std::vector<float> host = values(threads);
    const DeviceArray<float> in(device(), host, "values");
    const DeviceArray<float> sums(device(), host.size(), "sums");
    const DeviceArray<float> maxima(device(), host.size(), "maxima");
    kernels().block_reduce(threads, in.data(), sums.data(), maxima.data());
    expect_groups(host, threads, sums.to_host(), maxima.to_host());
  }
}

TEST_P(Reduction, OfNegativeValuesHasANegativeMaximum) {
  const std::vector<float> host(96, -3.0F);
  const DeviceArray<float> in(device(), host, "values");
  const DeviceArray<float> sums(device(), host.size(), "sums");
  const DeviceArray<float> maxima(device(), host.size(), "maxima");
  kernels().block_reduce(96, in.data(), sums.data(), maxima.data());
  expect_groups(host, 96, sums.to_host(), maxima.to_host());
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, Reduction, ::testing::ValuesIn(every_backend()),
                         name_of_case);

}  // namespace
}  // namespace paged
