// Requests one by one, on kernels whose accesses are known by hand.
#include "kernels/simt/request_trace.h"

#include "tests/simt/counted_kernels.h"
#include "tests/simt/device_array.h"
#include "tests/simt/every_backend.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <vector>

namespace paged {
namespace {

std::vector<int> ascending(int count) {
  std::vector<int> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 100);
  return numbers;
}

int int_of(const simt::LaneValue& value) {
  int number;
  std::memcpy(&number, value.data(), sizeof number);
  return number;
}

class RequestTraceTest : public ::testing::Test {
 protected:
  RequestTraceTest() : device_(cpu_device()) {
    device_.take_findings();
    device_.take_counts();
    simt::request_trace().take();
    device_.switch_counting(true);
    simt::request_trace().switch_tracing(true);
  }
  ~RequestTraceTest() override {
    simt::request_trace().switch_tracing(false);
    device_.switch_counting(false);
    device_.take_findings();
  }

  Device& device_;
  DeviceArray<int> in_{cpu_device(), ascending(64), "in"};
  DeviceArray<int> out_{cpu_device(), std::vector<int>(4096, 0), "out"};
};

TEST_F(RequestTraceTest, NothingIsKeptUnlessSwitchedOn) {
  simt::request_trace().switch_tracing(false);
  cpu_checked::launch_strided_copy(1, 32, 1, in_.data(), out_.data());
  EXPECT_TRUE(simt::request_trace().take().empty());
}

TEST_F(RequestTraceTest, ALoadAndAStoreHavePlacesAndValuesOfEachLane) {
  cpu_checked::launch_strided_copy(3, 32, 2, in_.data(), out_.data());
  const std::vector<simt::TracedRequest> requests = simt::request_trace().take();
  ASSERT_EQ(requests.size(), 6U);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const simt::TracedRequest& request = requests[i];
    const bool load = i % 2 == 0;
    EXPECT_EQ(request.launch, 0);
    EXPECT_EQ(request.block, i / 2);
    EXPECT_EQ(request.memory, load ? "in" : "out");
    EXPECT_FALSE(request.shared);
    EXPECT_EQ(request.kind, load ? simt::AccessKind::read : simt::AccessKind::write);
    EXPECT_EQ(request.phase, load ? Phase::gather : Phase::reduce);
    EXPECT_EQ(request.bytes, 4);
    EXPECT_EQ(request.lanes, ~0U);
    EXPECT_EQ(load ? request.counts.global_load_sectors : request.counts.global_store_sectors,
              load ? 8U : 4U);
    for (int lane = 0; lane < 32; ++lane) {
      EXPECT_EQ(request.offsets[lane],
                load ? 8 * lane : 4 * (lane + 32 * static_cast<int>(request.block)));
      EXPECT_EQ(int_of(request.values[lane]), 100 + 2 * lane)
          << lane << (load ? " load" : " store");
    }
  }
}

TEST_F(RequestTraceTest, SharedMemoryHasTheVariablesNameAndTheBarrierBeforeIt) {
  const DeviceArray<int> sums(device_, std::vector<int>(1, 0), "sums");
  cpu_checked::launch_barrier_and_shuffles(1, sums.data());
  const std::vector<simt::TracedRequest> requests = simt::request_trace().take();
  ASSERT_EQ(requests.size(), 5U);  // a store, a load of each of two warps, an atomic of each
  EXPECT_EQ(requests[0].kind, simt::AccessKind::write);
  EXPECT_EQ(requests[0].lanes, 1U);
  EXPECT_EQ(requests[0].barriers, 0);
  EXPECT_EQ(int_of(requests[0].values[0]), 1);
  for (const simt::TracedRequest& request : requests) {
    EXPECT_EQ(request.memory, request.kind == simt::AccessKind::atomic ? "sums" : "shared");
    EXPECT_EQ(request.shared, request.kind != simt::AccessKind::atomic);
    if (request.kind != simt::AccessKind::read) continue;
    EXPECT_EQ(request.barriers, 1);
    EXPECT_EQ(int_of(request.values[31]), 1);
  }
}

TEST_F(RequestTraceTest, OfAStoppedBlockNothingIsKept) {
  cpu_checked::launch_stopped(2, in_.data(), out_.data());
  for (const simt::TracedRequest& request : simt::request_trace().take())
    EXPECT_EQ(request.block, 0U);
}

TEST_F(RequestTraceTest, ALaunchThatIsRunTwiceIsKeptOnce) {
  // It both reads and writes `out`, and so is run a second time for races of reads.
  cpu_checked::launch_strided_copy(1, 32, 1, out_.data(), out_.data());
  EXPECT_EQ(simt::request_trace().take().size(), 2U);
  cpu_checked::launch_strided_copy(1, 32, 1, in_.data(), out_.data());
  const std::vector<simt::TracedRequest> next = simt::request_trace().take();
  ASSERT_EQ(next.size(), 2U);
  EXPECT_EQ(next[0].launch, 0) << "launches are numbered from the last take on";
}

}  // namespace
}  // namespace paged
