// Shuffles against a model of PTX's lane arithmetic.
#include "tests/simt/every_backend.h"

#include <numeric>

namespace paged {
namespace {

// The lane that `lane` reads (PTX ISA, shfl.sync).
int source_lane(ShuffleKind kind, int lane, int argument, int width) {
  const int first = lane / width * width;
  const int last = first + width - 1;
  int source = lane;
  switch (kind) {
    case ShuffleKind::index:
      return first + argument % width;
    case ShuffleKind::up:
      source = lane - argument;
      return source < first ? lane : source;
    case ShuffleKind::down:
      source = lane + argument;
      return source > last ? lane : source;
    case ShuffleKind::exclusive_or:
      source = lane ^ argument;
      return source > last ? lane : source;
  }
  return lane;
}

class Shuffle : public OnEveryBackend {
 protected:
  // Every kind, width and argument on one block of 64 threads.
  template <typename T>
  void expect_model(void (*shuffle)(ShuffleKind, int, int, int, const T*, T*)) {
    constexpr int kThreads = 64;
    std::vector<T> values(kThreads);
    std::iota(values.begin(), values.end(), T(100));
    const DeviceArray<T> in(device(), values, "values");
    const DeviceArray<T> out(device(), kThreads, "results");
    for (ShuffleKind kind :
         {ShuffleKind::index, ShuffleKind::up, ShuffleKind::down, ShuffleKind::exclusive_or})
      for (int width : {1, 2, 4, 8, 16, 32})
        for (int argument = 0; argument < 32; ++argument) {
          shuffle(kind, argument, width, kThreads, in.data(), out.data());
          const std::vector<T> results = out.to_host();
          for (int i = 0; i < kThreads; ++i)
            ASSERT_EQ(results[i], values[i / 32 * 32 + source_lane(kind, i % 32, argument, width)])
                << "kind " << static_cast<int>(kind) << ", width " << width << ", argument "
                << argument << ", thread " << i;
        }
  }
};

TEST_P(Shuffle, OfFourByteValuesFollowsTheModel) { expect_model(kernels().shuffle_int); }
TEST_P(Shuffle, OfEightByteValuesFollowsTheModel) { expect_model(kernels().shuffle_double); }
TEST_P(Shuffle, OfTwoByteValuesFollowsTheModel) { expect_model(kernels().shuffle_half); }

TEST_P(Shuffle, WorksInAPartialLastWarpWithinItsLanes) {
  std::vector<int> values(40);
  std::iota(values.begin(), values.end(), 0);
  const DeviceArray<int> in(device(), values, "values");
  const DeviceArray<int> out(device(), values.size(), "results");
  kernels().shuffle_int(ShuffleKind::exclusive_or, 4, 8, 40, in.data(), out.data());
  const std::vector<int> results = out.to_host();
  for (int i = 0; i < 40; ++i) EXPECT_EQ(results[i], i ^ 4);
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, Shuffle, ::testing::ValuesIn(every_backend()), name_of_case);

}  // namespace
}  // namespace paged
