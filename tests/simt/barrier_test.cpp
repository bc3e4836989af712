#include "tests/simt/every_backend.h"

#include <algorithm>
#include <numeric>

namespace paged {
namespace {

class Barrier : public OnEveryBackend {
 protected:
  void expect_rotated(void (*rotate)(int, int, const int*, int*), int threads, int rounds) {
    std::vector<int> values(threads);
    std::iota(values.begin(), values.end(), 0);
    const DeviceArray<int> in(device(), values, "values");
    const DeviceArray<int> out(device(), threads, "results");
    rotate(threads, rounds, in.data(), out.data());
    std::rotate(values.begin(), values.begin() + rounds % threads, values.end());
    EXPECT_EQ(out.to_host(), values) << threads << " threads";
  }
};

TEST_P(Barrier, SeparatesWritesFromReadsOfStaticSharedMemory) {
  for (int threads : {1, 31, 32, 40, 128, 1024})
    expect_rotated(kernels().rotate_static, threads, 5);
}

TEST_P(Barrier, SeparatesWritesFromReadsOfDynamicSharedMemory) {
  for (int threads : {1, 31, 32, 40, 128, 1024})
    expect_rotated(kernels().rotate_dynamic, threads, 5);
}

TEST_P(Barrier, CombinesPredicates) {
  for (int threads : {1, 40, 128, 1024})
    for (int num_true : {0, 1, threads - 1, threads}) {
      std::vector<int> predicates(threads);
      std::fill_n(predicates.begin(), num_true, 2);
      const DeviceArray<int> in(device(), predicates, "predicates");
      const DeviceArray<int> out(device(), 3 * threads, "results");
      kernels().barrier_votes(threads, in.data(), out.data());
      const std::vector<int> results = out.to_host();
      for (int i = 0; i < threads; ++i) {
        ASSERT_EQ(results[i], num_true > 0);
        ASSERT_EQ(results[threads + i], num_true == threads);
        ASSERT_EQ(results[2 * threads + i], num_true);
      }
    }
}

TEST_P(Barrier, GuardsAsMuchSharedMemoryAsTheDeviceHas) {
  for (std::size_t bytes : {std::size_t{4}, std::size_t{48} * 1024, std::size_t{48} * 1024 + 4,
                            device().limits().shared_bytes_per_block}) {
    const DeviceArray<unsigned> out(device(), bytes / 4, "results");
    kernels().fill_dynamic(256, bytes, out.data());
    const std::vector<unsigned> results = out.to_host();
    for (unsigned i = 0; i < results.size(); ++i) ASSERT_EQ(results[i], 3 * i + 1);
  }
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, Barrier, ::testing::ValuesIn(every_backend()), name_of_case);

}  // namespace
}  // namespace paged
