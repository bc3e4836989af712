#include "tests/simt/every_backend.h"

namespace paged {
namespace {

using Atomic = OnEveryBackend;

TEST_P(Atomic, UpdatesFromAllThreadsAreAllCounted) {
  constexpr int kBlocks = 16;
  constexpr int kThreads = 256;
  constexpr int kTotal = kBlocks * kThreads;  // sums stay below 2^24: exact in float
  const DeviceArray<unsigned> tickets(device(), std::vector<unsigned>(kTotal + 1), "tickets");
  const DeviceArray<SampleKernels::AtomicResults> out(
      device(), std::vector<SampleKernels::AtomicResults>{{0, 0, 0, 0, 0, -5, 5, 0, ~0U, 0, 0}},
      "results");
  kernels().atomics(kBlocks, kThreads, tickets.data(), out.data());
  const SampleKernels::AtomicResults results = out.to_host()[0];
  constexpr int kSum = kTotal * (kTotal + 1) / 2;
  EXPECT_EQ(results.sum_int, kSum);
  EXPECT_EQ(results.sum_unsigned, static_cast<unsigned>(kSum));
  EXPECT_EQ(results.sum_long, static_cast<unsigned long long>(kSum));
  EXPECT_EQ(results.sum_float, static_cast<float>(kSum));
  EXPECT_EQ(results.sum_double, kSum);
  EXPECT_EQ(results.largest, kTotal);
  EXPECT_EQ(results.smallest, -kTotal);
  EXPECT_EQ(results.largest_unsigned, static_cast<unsigned>(kTotal));
  EXPECT_EQ(results.smallest_unsigned, 1U);
  EXPECT_EQ(results.num_exchanged, static_cast<unsigned>(kTotal - 1));
  EXPECT_EQ(results.num_won, static_cast<unsigned>(kTotal / 2));
}

TEST_P(Atomic, WorkOnSharedMemory) {
  const DeviceArray<int> out(device(), 3, "sums");
  kernels().shared_atomics(3, 1000, out.data());
  EXPECT_EQ(out.to_host(), std::vector<int>(3, 999 * 1000 / 2));
}

TEST_P(Atomic, CountsAndFencesLetTheLastBlockSeeAllOthers) {
  constexpr int kBlocks = 40;
  constexpr int kThreads = 64;
  const DeviceArray<int> partial_sums(device(), kBlocks, "partial sums");
  const DeviceArray<unsigned> num_finished(device(), std::vector<unsigned>{0}, "count");
  const DeviceArray<int> sum(device(), 1, "sum");
  kernels().sum_in_last_block(kBlocks, kThreads, partial_sums.data(), num_finished.data(),
                              sum.data());
  EXPECT_EQ(sum.to_host()[0], kBlocks * kThreads * (kBlocks * kThreads - 1) / 2);
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, Atomic, ::testing::ValuesIn(every_backend()), name_of_case);

}  // namespace
}  // namespace paged
