#include "tests/simt/every_backend.h"

#include <algorithm>
#include <numeric>

namespace paged {
namespace {

using BulkCopies = OnEveryBackend;

TEST_P(BulkCopies, ArriveWholeInOneOrManyPieces) {
  for (int pieces : {1, 2, 7})
    for (int bytes : {16, 160, 16384}) {
      std::vector<std::uint8_t> values(pieces * bytes);
      std::iota(values.begin(), values.end(), std::uint8_t{1});
      const DeviceArray<std::uint8_t> in(device(), values, "from");
      const DeviceArray<std::uint8_t> out(device(), values.size(), "to");
      kernels().copy_bulk(pieces, pieces * bytes, in.data(), out.data());
      ASSERT_EQ(out.to_host(), values) << pieces << " pieces of " << bytes << " bytes";
    }
}

TEST_P(BulkCopies, ThroughARingBetweenWarpsGiveEachTileItsTurn) {
  for (int stages : {2, 3, 4})
    for (int tiles : {1, 2, 5, 17})
      for (int threads : {32, 128}) {
        std::vector<float> values(tiles * threads);
        std::iota(values.begin(), values.end(), 1.0F);
        const DeviceArray<float> in(device(), values, "values");
        const DeviceArray<float> out(device(), threads, "sums");
        kernels().sum_in_bulk_ring(stages, tiles, threads, in.data(), out.data());
        std::vector<float> expected(threads, 0.0F);
        for (int i = 0; i < tiles * threads; ++i) expected[threads - 1 - i % threads] += values[i];
        ASSERT_EQ(out.to_host(), expected)
            << stages << " stages, " << tiles << " tiles, " << threads << " threads";
      }
}

TEST_P(BulkCopies, HaveMbarriersThatOrderWritesBeforeReads) {
  for (int threads : {1, 31, 40, 128, 1024}) {
    std::vector<int> values(threads);
    std::iota(values.begin(), values.end(), 0);
    const DeviceArray<int> in(device(), values, "values");
    const DeviceArray<int> out(device(), threads, "results");
    kernels().rotate_by_mbarrier(threads, 5, in.data(), out.data());
    std::rotate(values.begin(), values.begin() + 5 % threads, values.end());
    EXPECT_EQ(out.to_host(), values) << threads << " threads";
  }
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, BulkCopies, ::testing::ValuesIn(every_backend()),
                         name_of_case);

}  // namespace
}  // namespace paged
