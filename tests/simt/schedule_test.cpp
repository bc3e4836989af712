// Schedules: what they promise about order, that a seed makes it happen again, and what they show.
#include "kernels/simt/schedule.h"

#include "kernels/simt/worker_pool.h"
#include "tests/simt/every_backend.h"
#include "tests/simt/schedule_kernels.h"
#include "tests/simt/schedule_scope.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace paged {
namespace {

using simt::Schedule;
using simt::ScheduleKind;

TEST(Schedules, HaveNames) {
  for (const ScheduleKind kind : {ScheduleKind::in_order, ScheduleKind::random,
                                  ScheduleKind::warp_first, ScheduleKind::preemptive})
    EXPECT_EQ(simt::schedule_named(simt::name_of(kind)), kind);
  EXPECT_FALSE(simt::schedule_named("at once"));
  EXPECT_EQ(simt::describe({}), "");
  EXPECT_EQ(simt::describe({ScheduleKind::warp_first, 7}), "warp-first, seed 7");
}

TEST(Schedules, HandOutEveryBlockOnce) {
  for (const std::uint64_t num_blocks : {1U, 2U, 3U, 12U, 64U, 97U, 30030U}) {
    for (const std::uint64_t seed : {0U, 1U, 2U, 3U, 99U}) {
      std::set<std::uint64_t> blocks;
      for (std::uint64_t position = 0; position < num_blocks; ++position)
        blocks.insert(simt::block_at({ScheduleKind::random, seed}, position, num_blocks));
      EXPECT_EQ(blocks.size(), num_blocks);
      EXPECT_EQ(*blocks.rbegin(), num_blocks - 1);
    }
    EXPECT_EQ(simt::block_at({}, num_blocks - 1, num_blocks), num_blocks - 1);
  }
  const auto block = [](std::uint64_t seed, std::uint64_t position) {
    return simt::block_at({ScheduleKind::random, seed}, position, 1000);
  };
  EXPECT_FALSE(block(1, 0) == block(2, 0) && block(1, 1) == block(2, 1));
  EXPECT_LT(simt::block_at({ScheduleKind::random, 5}, 12345678901234U, 98765432109876U),
            98765432109876U);
}

/// The order in which threads of a grid come, with one worker.
std::vector<int> order_of_arrival(const ScheduleKernels& kernels, const Schedule& schedule,
                                  int blocks, int threads) {
  const ScheduleScope scope(schedule);
  const int workers = simt::worker_count();
  simt::set_worker_count(1);
  const DeviceArray<int> num_arrived(cpu_device(), std::vector<int>(1), "num_arrived");
  const DeviceArray<int> order(cpu_device(), blocks * threads, "order");
  kernels.order_of_arrival(blocks, threads, num_arrived.data(), order.data());
  simt::set_worker_count(workers);
  for (const Finding& finding : cpu_device().take_findings()) ADD_FAILURE() << to_string(finding);
  return order.to_host();
}

std::vector<int> numbers(int count) {
  std::vector<int> all(count);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

TEST(Schedules, RunEveryThreadOnceInAnOrderOfTheSeed) {
  constexpr int kBlocks = 5;
  constexpr int kThreads = 100;  // a partial warp
  const std::vector<int> in_order = numbers(kBlocks * kThreads);
  for (const ScheduleKernels& kernels :
       {cpu_checked::schedule_kernels(), cpu_unchecked::schedule_kernels()}) {
    EXPECT_EQ(order_of_arrival(kernels, {}, kBlocks, kThreads), in_order);
    for (const ScheduleKind kind :
         {ScheduleKind::random, ScheduleKind::warp_first, ScheduleKind::preemptive}) {
      std::set<std::vector<int>> orders;
      for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        std::vector<int> order = order_of_arrival(kernels, {kind, seed}, kBlocks, kThreads);
        EXPECT_EQ(order_of_arrival(kernels, {kind, seed}, kBlocks, kThreads), order);
        orders.insert(order);
        std::sort(order.begin(), order.end());
        EXPECT_EQ(order, in_order) << simt::name_of(kind);
      }
      EXPECT_EQ(orders.size(), 5U) << simt::name_of(kind);
    }
  }
}

TEST(Schedules, WarpFirstRunsWholeWarpsOneByOne) {
  const std::vector<int> order =
      order_of_arrival(cpu_checked::schedule_kernels(), {ScheduleKind::warp_first, 3}, 1, 256);
  std::set<int> warps;
  for (int i = 0; i < 256; i += 32) {
    warps.insert(order[i] / 32);
    for (int lane = 0; lane < 32; ++lane) EXPECT_EQ(order[i + lane], order[i] / 32 * 32 + lane);
  }
  EXPECT_EQ(warps.size(), 8U);
}

TEST(Schedules, DoNotChangeAKernelWithItsBarriers) {
  std::vector<int> expected;
  for (const Schedule& schedule : every_schedule(4)) {
    const ScheduleScope scope(schedule);
    for (const auto& kernels :
         {cpu_checked::schedule_kernels(), cpu_unchecked::schedule_kernels()}) {
      const DeviceArray<int> results(cpu_device(), 160, "results");
      kernels.mix_with_barriers(160, 6, results.data());
      if (expected.empty()) expected = results.to_host();
      EXPECT_EQ(results.to_host(), expected) << simt::describe(schedule);
    }
  }
  for (const Finding& finding : cpu_device().take_findings()) ADD_FAILURE() << to_string(finding);
}

std::vector<int> swapped_warps(const ScheduleKernels& kernels, const Schedule& schedule) {
  const ScheduleScope scope(schedule);
  const DeviceArray<int> values(cpu_device(), numbers(64), "values");
  const DeviceArray<int> results(cpu_device(), std::vector<int>(64), "results");
  kernels.swap_warps_without_barrier(values.data(), results.data());
  return results.to_host();
}

// Running threads in order hides a missing barrier from whoever looks at results only.
TEST(Schedules, WarpFirstShowsAMissingBarrierInTheResults) {
  std::vector<int> right(64);
  for (int i = 0; i < 64; ++i) right[i] = i ^ 32;
  EXPECT_EQ(swapped_warps(cpu_unchecked::schedule_kernels(), {}), right);
  for (std::uint64_t seed = 1; seed <= 8; ++seed)
    EXPECT_NE(swapped_warps(cpu_unchecked::schedule_kernels(), {ScheduleKind::warp_first, seed}),
              right);
}

TEST(Schedules, DoNotHideAMissingBarrierFromTheRaceDetector) {
  for (const Schedule& schedule : every_schedule(8)) {
    swapped_warps(cpu_checked::schedule_kernels(), schedule);
    const std::vector<Finding> findings = cpu_device().take_findings();
    ASSERT_EQ(findings.size(), 1U) << simt::describe(schedule);
    EXPECT_EQ(findings[0].kind, FindingKind::data_race);
    EXPECT_EQ(findings[0].schedule, simt::describe(schedule));
    EXPECT_EQ(to_string(findings[0]).find("(schedule ") == std::string::npos,
              schedule.kind == ScheduleKind::in_order);
  }
}

}  // namespace
}  // namespace paged
