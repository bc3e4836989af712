#include "kernels/simt/worker_pool.h"
#include "tests/simt/every_backend.h"

namespace paged {
namespace {

class Launch : public OnEveryBackend {
 protected:
  std::string refusal(const unsigned (&grid)[3], const unsigned (&block)[3],
                      std::size_t shared_bytes) {
    try {
      kernels().empty(grid, block, shared_bytes);
    } catch (const DeviceError& error) {
      return error.what();
    }
    return "not refused";
  }
};

TEST_P(Launch, BeyondALimitIsRefusedInOneLineThatNamesIt) {
  const std::size_t too_much = device().limits().shared_bytes_per_block + 1;
  for (const std::string& message :
       {refusal({1, 1, 1}, {1025, 1, 1}, 0), refusal({1, 1, 1}, {32, 33, 1}, 0),
        refusal({1, 1, 1}, {1, 1, 65}, 0), refusal({1, 65536, 1}, {1, 1, 1}, 0),
        refusal({1, 1, 65536}, {1, 1, 1}, 0), refusal({0, 1, 1}, {1, 1, 1}, 0),
        refusal({1, 1, 1}, {1, 0, 1}, 0), refusal({1, 1, 1}, {1, 1, 1}, too_much)}) {
    EXPECT_EQ(message.rfind("launch of do_nothing with grid (", 0), 0U) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
  EXPECT_NE(refusal({3, 65536, 1}, {7, 1, 1}, 12)
                .find("grid (3,65536,1), block (7,1,1), 12 bytes of dynamic shared memory: "),
            std::string::npos);
  EXPECT_NO_THROW(kernels().empty({1, 1, 1}, {1024, 1, 1}, too_much - 1));  // and goes on well
  EXPECT_NO_THROW(device().finish());
}

TEST_P(Launch, AtTheLimitsWorks) {
  EXPECT_NO_THROW(kernels().empty({1, 65535, 1}, {1, 1, 1}, 0));
  EXPECT_NO_THROW(kernels().empty({100000, 1, 1}, {1, 1, 1}, 0));
  EXPECT_NO_THROW(kernels().empty({1, 1, 2}, {4, 4, 64}, 0));
  EXPECT_NO_THROW(device().finish());
}

TEST_P(Launch, RunsBlocksInAnyNumberOfWorkersToTheSameResult) {
  if (on_gpu()) GTEST_SKIP() << "a GPU has no workers to set";
  const int before = simt::worker_count();
  for (int workers : {1, 2, 3, 7}) {
    simt::set_worker_count(workers);
    const DeviceArray<int> out(device(), 100 * 40, "results");
    kernels().linear_indices({100, 1, 1}, {40, 1, 1}, out.data());
    const std::vector<int> results = out.to_host();
    for (int i = 0; i < 4000; ++i) ASSERT_EQ(results[i], i / 40 * 1024 + i % 40);
  }
  simt::set_worker_count(before);
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, Launch, ::testing::ValuesIn(every_backend()), name_of_case);

}  // namespace
}  // namespace paged
