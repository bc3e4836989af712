#include "kernels/simt/worker_pool.h"
#include "tests/simt/every_backend.h"
#include "tests/simt/planted_kernels.h"

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

TEST_P(Launch, CountsStaticSharedMemory) {
  const DeviceArray<int> result(device(), 1, "result");
  const auto launch = [&](std::size_t bytes) {
    kernels().static_besides_dynamic(bytes, result.data());
  };
  constexpr std::size_t kStaticBytes = 16;
  const std::size_t limit = device().limits().shared_bytes_per_block;
  EXPECT_NO_THROW(launch(limit - kStaticBytes));
  EXPECT_EQ(result.to_host()[0], 10);
  EXPECT_THROW(launch(limit - kStaticBytes + 1), DeviceError);
  EXPECT_THROW(launch(limit), DeviceError);
  // A GPU gives 48 KB to static and dynamic together unless asked for more.
  constexpr std::size_t kUnasked = 48 * std::size_t{1024};
  for (std::size_t bytes = kUnasked - 2 * kStaticBytes; bytes <= kUnasked + kStaticBytes;
       bytes += 4)
    EXPECT_NO_THROW(launch(bytes)) << bytes;
  EXPECT_NO_THROW(device().finish());
}

TEST(LaunchOnTheCpu, WithMoreStaticSharedMemoryThanNvccAllowsIsRefused) {
  const DeviceArray<int> result(cpu_device(), 1, "result");
  try {
    cpu_checked::launch_with_too_much_static_shared(result.data());
    FAIL() << "not refused";
  } catch (const DeviceError& error) {
    EXPECT_NE(std::string(error.what()).find("the kernel's __shared__ variables have 49156 bytes"),
              std::string::npos)
        << error.what();
  }
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
