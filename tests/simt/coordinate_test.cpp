#include "tests/simt/every_backend.h"

namespace paged {

namespace simt_own_namespace {
void add_coordinates(SampleKernels& kernels);
}

namespace {

using Coordinates = OnEveryBackend;

TEST_P(Coordinates, CoverGridAndBlockInThreeDimensions) {
  struct Extents {
    unsigned grid[3];
    unsigned block[3];
  };
  for (const Extents& extents : {Extents{{1, 1, 1}, {1, 1, 1}}, Extents{{7, 3, 2}, {5, 4, 3}},
                                 Extents{{2, 1, 3}, {1, 1, 64}}, Extents{{3, 1, 1}, {1024, 1, 1}},
                                 Extents{{1, 5, 1}, {8, 128, 1}}}) {
    const auto& grid = extents.grid;
    const auto& block = extents.block;
    const unsigned threads = block[0] * block[1] * block[2];
    const unsigned blocks = grid[0] * grid[1] * grid[2];
    const DeviceArray<int> out(device(), blocks * threads, "results");
    kernels().linear_indices(grid, block, out.data());
    const std::vector<int> results = out.to_host();
    for (unsigned i = 0; i < blocks * threads; ++i)
      ASSERT_EQ(results[i], static_cast<int>(i / threads * 1024 + i % threads));
  }
}

TEST(Namespace, OfItsOwnKeepsASecondCopyOfAKernelFileApart) {
  SampleKernels kernels{};
  simt_own_namespace::add_coordinates(kernels);
  EXPECT_NE(kernels.linear_indices, cpu_checked::sample_kernels().linear_indices);
  const DeviceArray<int> out(cpu_device(), 64, "results");
  kernels.linear_indices({1, 1, 1}, {64, 1, 1}, out.data());
  EXPECT_EQ(out.to_host()[63], 63);
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, Coordinates, ::testing::ValuesIn(every_backend()),
                         name_of_case);

}  // namespace
}  // namespace paged
