#include "tests/simt/every_backend.h"

#include <numeric>

namespace paged {
namespace {

using AsyncCopies = OnEveryBackend;

TEST_P(AsyncCopies, OfEverySizeArriveFilledUpWithZeros) {
  for (int bytes : {4, 8, 16})
    for (int source_bytes = 0; source_bytes <= bytes; ++source_bytes)
      for (int threads : {1, 40, 128}) {
        std::vector<std::uint8_t> expected(bytes * threads);
        std::iota(expected.begin(), expected.end(), std::uint8_t{1});
        const DeviceArray<std::uint8_t> in(device(), expected, "from");
        const DeviceArray<std::uint8_t> out(device(), expected.size(), "to");
        kernels().copy_async(bytes, source_bytes, threads, in.data(), out.data());
        for (std::size_t i = 0; i < expected.size(); ++i)
          if (static_cast<int>(i) % bytes >= source_bytes) expected[i] = 0;
        ASSERT_EQ(out.to_host(), expected)
            << source_bytes << " of " << bytes << " bytes, " << threads << " threads";
      }
}

TEST_P(AsyncCopies, ThroughARingOfBuffersGiveEachTileItsTurn) {
  for (int stages : {2, 3, 4})
    for (int tiles : {1, 2, 3, 9})
      for (int threads : {40, 128}) {
        std::vector<float> values(tiles * threads);
        std::iota(values.begin(), values.end(), 1.0F);
        const DeviceArray<float> in(device(), values, "values");
        const DeviceArray<float> out(device(), threads, "sums");
        kernels().sum_in_ring(stages, tiles, threads, in.data(), out.data());
        std::vector<float> expected(threads, 0.0F);
        for (int i = 0; i < tiles * threads; ++i) expected[threads - 1 - i % threads] += values[i];
        ASSERT_EQ(out.to_host(), expected)
            << stages << " stages, " << tiles << " tiles, " << threads << " threads";
      }
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, AsyncCopies, ::testing::ValuesIn(every_backend()),
                         name_of_case);

}  // namespace
}  // namespace paged
