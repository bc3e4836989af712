// How fast the CPU machine is: a bound loose enough for a busy machine, and the figure on stdout.
#include "tests/simt/every_backend.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>

namespace paged {
namespace {

using Speed = OnEveryBackend;

double milliseconds_of(const std::function<void()>& f) {
  const auto begin = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

TEST_P(Speed, OfANaiveHeadOfAttention) {
  constexpr int kHeads = 16;
  constexpr int kTokens = 1024;
  constexpr int kHeadSize = 128;
  const DeviceArray<float> query(device(), std::vector<float>(kHeads * kHeadSize, 0.01F), "query");
  const DeviceArray<float> keys(device(), std::vector<float>(kTokens * kHeadSize, 0.1F), "keys");
  const DeviceArray<float> values(device(), std::vector<float>(kTokens * kHeadSize, 2.0F),
                                  "values");
  const DeviceArray<float> output(device(), kHeads * kHeadSize, "output");
  const auto run = [&] {
    kernels().gather_attention(kHeads, kTokens, kHeadSize, query.data(), keys.data(), values.data(),
                               output.data());
    device().finish();
  };
  run();  // the first launch makes stacks
  double best = milliseconds_of(run);
  for (int repetition = 0; repetition < 4; ++repetition)
    best = std::min(best, milliseconds_of(run));

  for (float element : output.to_host()) ASSERT_NEAR(element, 2.0F, 1e-4F);
  constexpr double kAccesses = 4.0 * kTokens * kHeadSize;  // of global and shared memory
  std::printf("%s: %.3f ms per head of %d tokens x %d, %.1f ns per access\n",
              GetParam().name.c_str(), best / kHeads, kTokens, kHeadSize,
              best / kHeads * 1e6 / kAccesses);
  EXPECT_LT(best / kHeads, 40.0);
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, Speed, ::testing::ValuesIn(every_backend()), name_of_case);

}  // namespace
}  // namespace paged
