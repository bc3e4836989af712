// The model of shared-memory wavefronts: by hand, and on the CPU machine as it counts.
#include "kernels/simt/wavefronts.h"

#include "kernels/device.h"
#include "tests/simt/device_array.h"
#include "tests/simt/every_backend.h"
#include "tests/simt/wavefront_pattern_list.h"

#include <gtest/gtest.h>

#include <functional>

namespace paged {
namespace {

using simt::shared_wavefronts;
using simt::WarpAccess;

/// Lanes at slot(lane), counted in units of `bytes`; -1 takes no part.
int wavefronts(int bytes, const std::function<int(int)>& slot) {
  WarpAccess access;
  for (int lane = 0; lane < 32; ++lane)
    if (slot(lane) >= 0) access.add(lane, static_cast<std::uintptr_t>(slot(lane) * bytes));
  return shared_wavefronts(access, bytes);
}

TEST(SharedWavefrontsTest, OfFourBytesAreTheDifferentWordsInTheFullestBank) {
  EXPECT_EQ(wavefronts(4, [](int lane) { return lane; }), 1);
  EXPECT_EQ(wavefronts(4, [](int) { return 9; }), 1) << "broadcast";
  EXPECT_EQ(wavefronts(4, [](int lane) { return 2 * lane; }), 2);
  EXPECT_EQ(wavefronts(4, [](int lane) { return 8 * lane; }), 8);
  EXPECT_EQ(wavefronts(4, [](int lane) { return 32 * lane; }), 32);
  EXPECT_EQ(wavefronts(4, [](int lane) { return 33 * lane; }), 1);
  EXPECT_EQ(wavefronts(4, [](int lane) { return lane % 2 * 32; }), 2) << "two words of one bank";
  EXPECT_EQ(wavefronts(4, [](int lane) { return lane % 4 == 0 ? 32 * lane : -1; }), 8);
  EXPECT_EQ(wavefronts(4, [](int) { return -1; }), 0);
}

TEST(SharedWavefrontsTest, OfHalvesAndBytesShareWords) {
  EXPECT_EQ(wavefronts(2, [](int lane) { return lane; }), 1);
  EXPECT_EQ(wavefronts(1, [](int lane) { return lane; }), 1);
  EXPECT_EQ(wavefronts(2, [](int lane) { return lane * 64; }), 32);
}

TEST(SharedWavefrontsTest, OfEightBytesTakeHalfWarpsUnlessLanesGoInPairs) {
  EXPECT_EQ(wavefronts(8, [](int lane) { return lane; }), 2);
  EXPECT_EQ(wavefronts(8, [](int) { return 3; }), 1);
  EXPECT_EQ(wavefronts(8, [](int lane) { return lane / 2; }), 1) << "lane and lane ^ 1 equal";
  EXPECT_EQ(wavefronts(8, [](int lane) { return lane % 2 * 3; }), 1) << "lane and lane ^ 2 equal";
  EXPECT_EQ(wavefronts(8, [](int lane) { return lane % 2 * 16; }), 2) << "the same banks";
  EXPECT_EQ(wavefronts(8, [](int lane) { return lane % 4; }), 2);
  EXPECT_EQ(wavefronts(8, [](int lane) { return lane < 16 ? lane : -1; }), 1);
  EXPECT_EQ(wavefronts(8, [](int lane) { return lane % 2 == 0 ? lane : -1; }), 2)
      << "every second lane alone: pairs, but of two rows";
}

TEST(SharedWavefrontsTest, OfSixteenBytesTakeQuarterWarpsUnlessLanesGoInPairs) {
  EXPECT_EQ(wavefronts(16, [](int lane) { return lane; }), 4);
  EXPECT_EQ(wavefronts(16, [](int) { return 3; }), 2) << "one for each half";
  EXPECT_EQ(wavefronts(16, [](int lane) { return lane % 2 * 3; }), 2);
  EXPECT_EQ(wavefronts(16, [](int lane) { return lane % 2 * 8; }), 4) << "the same banks";
  EXPECT_EQ(wavefronts(16, [](int lane) { return lane % 4 * 2; }), 4);
  EXPECT_EQ(wavefronts(16, [](int lane) { return 2 * lane; }), 8);
  EXPECT_EQ(wavefronts(16, [](int lane) { return lane == 0 ? 0 : -1; }), 1);
}

// The classical kernel with 16-byte query vectors, one sequence of 1024 tokens, one head, d = 128,
// f16, 128 threads, counted by Nsight Compute on an H200; block size 32 has one group a lane and
// nvcc holds the query in registers, block size 16 has two.
TEST(SharedWavefrontsTest, GiveWhatWasMeasuredOfTheClassicalKernel) {
  const int one_word = 1;
  const int softmax = 64 * one_word + 8 * one_word;  // two loops of 8 steps of 4 warps; reductions
  const int query_32 = 64 * wavefronts(16, [](int) { return 0; });
  const int weights_32 = 64 * wavefronts(16, [](int lane) { return lane % 4 * 2; });
  EXPECT_EQ(query_32 + softmax + weights_32 + 48 * one_word, 504);

  const int query_16 = 512 * wavefronts(16, [](int lane) { return lane % 2 * 8; });
  const int weights_16 = 128 * wavefronts(16, [](int lane) { return lane % 2 * 2; });
  EXPECT_EQ(query_16 + softmax + weights_16 + 24 * one_word, 2400);  // measured: 2406
}

TEST(SharedWavefrontsTest, OfEveryPatternAreWhatTheMachineCounts) {
  Device& device = cpu_device();
  device.take_findings();
  const DeviceArray<unsigned> results(device, 32, "results");
  device.take_counts();
  device.switch_counting(true);
  EXPECT_GE(wavefront_patterns().size(), 60U);
  for (const WavefrontPattern& pattern : wavefront_patterns()) {
    const DeviceArray<int> offsets(
        device, std::vector<int>(pattern.offsets.begin(), pattern.offsets.end()), "offsets");
    cpu_checked::launch_wavefront_pattern(pattern.store, pattern.bytes, offsets.data(),
                                          results.data());
    const Counts counted = device.take_counts().phases.total();
    const PatternWavefronts predicted = predicted_wavefronts(pattern);
    EXPECT_EQ(counted.shared_load_wavefronts, static_cast<unsigned>(predicted.loads))
        << pattern.name;
    EXPECT_EQ(counted.shared_store_wavefronts, static_cast<unsigned>(predicted.stores))
        << pattern.name;
    EXPECT_EQ(counted.shared_load_requests, 1U) << pattern.name;
  }
  device.switch_counting(false);
  EXPECT_TRUE(device.take_findings().empty());
}

}  // namespace
}  // namespace paged
