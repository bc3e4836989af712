#include "tests/simt/every_backend.h"

#include <algorithm>

namespace paged {
namespace {

using Vote = OnEveryBackend;

std::vector<int> pattern(int threads, unsigned seed) {
  std::vector<int> predicates(threads);
  for (int i = 0; i < threads; ++i)
    predicates[i] = seed == 0 ? 0 : seed == 1 ? 7 : (static_cast<unsigned>(i) * seed >> 3 & 1U) * 4;
  return predicates;
}

unsigned ballot_of_warp(const std::vector<int>& predicates, int warp) {
  unsigned ballot = 0;
  for (int lane = 0; lane < 32 && warp * 32 + lane < static_cast<int>(predicates.size()); ++lane)
    ballot |= (predicates[warp * 32 + lane] != 0 ? 1U : 0U) << lane;
  return ballot;
}

TEST_P(Vote, GivesEveryLaneTheBallotOfItsWarp) {
  for (int threads : {32, 40, 64, 128, 1024})
    for (unsigned seed : {0U, 1U, 37U, 91U}) {
      const std::vector<int> predicates = pattern(threads, seed);
      const DeviceArray<int> in(device(), predicates, "predicates");
      const DeviceArray<unsigned> out(device(), 3 * threads, "results");
      kernels().vote(threads, in.data(), out.data());
      const std::vector<unsigned> results = out.to_host();
      for (int i = 0; i < threads; ++i) {
        const int lanes = std::min(32, threads - i / 32 * 32);
        const unsigned full = lanes == 32 ? ~0U : (1U << lanes) - 1;
        const unsigned ballot = ballot_of_warp(predicates, i / 32);
        ASSERT_EQ(results[i], ballot) << threads << " threads, thread " << i;
        ASSERT_EQ(results[threads + i] != 0, ballot != 0);
        ASSERT_EQ(results[2 * threads + i] != 0, ballot == full);
      }
    }
}

TEST_P(Vote, OfHalfAWarpCountsOnlyThatHalf) {
  const std::vector<int> predicates = pattern(64, 37);
  const DeviceArray<int> in(device(), predicates, "predicates");
  const DeviceArray<unsigned> out(device(), 64, "results");
  kernels().vote_in_halves(64, in.data(), out.data());
  const std::vector<unsigned> results = out.to_host();
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(results[i],
              ballot_of_warp(predicates, i / 32) & (i % 32 < 16 ? 0x0000FFFFU : 0xFFFF0000U));
}

TEST_P(Vote, ActiveMaskNamesTheLanesOfTheBranch) {
  if (on_gpu()) GTEST_SKIP() << "a GPU may keep the lanes of a branch together, or not";
  for (int threads : {64, 40}) {
    const DeviceArray<unsigned> out(device(), threads, "results");
    kernels().active_masks(threads, out.data());
    const std::vector<unsigned> results = out.to_host();
    for (int i = 0; i < threads; ++i) {
      const unsigned existing = threads - i / 32 * 32 >= 32 ? ~0U : 0xFFU;
      EXPECT_EQ(results[i], existing & (i % 2 == 0 ? 0x55555555U : 0xAAAAAAAAU));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, Vote, ::testing::ValuesIn(every_backend()), name_of_case);

}  // namespace
}  // namespace paged
