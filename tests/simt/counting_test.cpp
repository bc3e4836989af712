// What the CPU machine counts, on kernels whose transactions are known by hand.
#include "kernels/simt/worker_pool.h"
#include "tests/simt/counted_kernels.h"
#include "tests/simt/device_array.h"
#include "tests/simt/every_backend.h"
#include "tests/simt/schedule_scope.h"

#include <gtest/gtest.h>

#include <vector>

namespace paged {
namespace {

class CountingTest : public ::testing::Test {
 protected:
  CountingTest() : device_(cpu_device()) {
    device_.take_findings();
    device_.take_counts();
    device_.switch_counting(true);
  }
  ~CountingTest() override {
    device_.switch_counting(false);
    device_.take_findings();
  }

  Device& device_;
  DeviceArray<int> in_{cpu_device(), std::vector<int>(32 * 33, 1), "in"};
  DeviceArray<int> out_{cpu_device(), std::vector<int>(4096, 0), "out"};
};

TEST_F(CountingTest, NothingIsCountedUnlessSwitchedOn) {
  device_.switch_counting(false);
  cpu_checked::launch_strided_copy(1, 32, 1, in_.data(), out_.data());
  EXPECT_EQ(device_.take_counts().phases, CountsByPhase{});
}

TEST_F(CountingTest, SectorsAndUsefulBytesFollowFromTheStride) {
  struct Expected {
    int stride;
    std::uint64_t sectors, useful;
  };
  for (const Expected& expected :
       {Expected{0, 1, 4}, Expected{1, 4, 128}, Expected{2, 8, 128}, Expected{4, 16, 128},
        Expected{8, 32, 128}, Expected{33, 32, 128}}) {
    cpu_checked::launch_strided_copy(1, 32, expected.stride, in_.data(), out_.data());
    const LaunchCounts counts = device_.take_counts();
    Counts load;
    load.global_load_requests = 1;
    load.global_load_sectors = expected.sectors;
    load.global_load_useful_bytes = expected.useful;
    EXPECT_EQ(counts.phases[Phase::gather], load) << "stride " << expected.stride;
    Counts store;
    store.global_store_requests = 1;
    store.global_store_sectors = 4;
    store.global_store_useful_bytes = 128;
    EXPECT_EQ(counts.phases[Phase::reduce], store);
    EXPECT_EQ(counts.phases[std::nullopt], Counts{});
    EXPECT_TRUE(counts.complete);
  }
}

TEST_F(CountingTest, LinesAreNamedWithTheirPhase) {
  cpu_checked::launch_strided_copy(1, 32, 1, in_.data(), out_.data());
  const LaunchCounts counts = device_.take_counts();
  ASSERT_EQ(counts.lines.size(), 2U);
  for (const CountedLine& line : counts.lines) {
    EXPECT_EQ(line.line.rfind("counted_kernels.cu:", 0), 0U) << line.line;
    EXPECT_EQ(line.counts, counts.phases[line.phase]);
  }
  EXPECT_NE(counts.lines[0].line, counts.lines[1].line);
}

TEST_F(CountingTest, AWarpThatIsNotFullIsOneRequest) {
  cpu_checked::launch_strided_copy(1, 33, 1, in_.data(), out_.data());
  const Counts counts = device_.take_counts().phases.total();
  EXPECT_EQ(counts.global_load_requests, 2U);
  EXPECT_EQ(counts.global_load_sectors, 5U);
  EXPECT_EQ(counts.global_load_useful_bytes, 33U * 4);
}

TEST_F(CountingTest, RoundsThatLanesSkipAreRequestsOfTheirOwn) {
  cpu_checked::launch_skipped_rounds(in_.data(), in_.data() + 256, out_.data());
  const Counts counts = device_.take_counts().phases.total();
  EXPECT_EQ(counts.global_load_requests, 8U + 8U);  // of half warps from a, of whole ones from b
  EXPECT_EQ(counts.global_load_sectors, 8U * 2 + 8U * 4);
}

TEST_F(CountingTest, HalvesThatMeetApartAreCountedTogetherWhereTheirWaysAreTheSame) {
  cpu_checked::launch_meeting_halves(in_.data(), out_.data());
  const Counts counts = device_.take_counts().phases.total();
  EXPECT_EQ(counts.global_load_requests, 3U);
  EXPECT_EQ(counts.global_load_sectors, 4U + 4U + 2U);
  EXPECT_EQ(counts.global_store_requests, 1U);
}

TEST_F(CountingTest, BarriersShufflesAndAtomicsAreCounted) {
  cpu_checked::launch_barrier_and_shuffles(3, out_.data());
  const Counts counts = device_.take_counts().phases.total();
  Counts expected;
  expected.shared_store_requests = expected.shared_store_wavefronts = 3;
  expected.shared_load_requests = expected.shared_load_wavefronts = 3 * 2;
  expected.barriers = 3;
  expected.shuffles = 3 * 2 * 3;
  expected.atomics = 3 * 2;
  EXPECT_EQ(counts, expected);
}

// 16 bytes a lane side by side: 512 bytes are 16 sectors, and in shared memory 4 rows of the banks.
TEST_F(CountingTest, AnAsynchronousCopyIsALoadAndASharedStore) {
  cpu_checked::launch_async_copy(32, in_.data(), out_.data());
  Counts expected;
  expected.global_load_requests = 1;
  expected.global_load_sectors = 16;
  expected.global_load_useful_bytes = 512;
  expected.shared_store_requests = 1;
  expected.shared_store_wavefronts = 4;
  expected.shared_load_requests = expected.shared_load_wavefronts = 1;
  expected.global_store_requests = 1;
  expected.global_store_sectors = 4;
  expected.global_store_useful_bytes = 128;
  expected.barriers = 1;
  EXPECT_EQ(device_.take_counts().phases.total(), expected);

  // Lanes that only fill with zeros store, but do not load.
  cpu_checked::launch_async_copy(16, in_.data(), out_.data());
  expected.global_load_sectors = 8;
  expected.global_load_useful_bytes = 256;
  EXPECT_EQ(device_.take_counts().phases.total(), expected);
  cpu_checked::launch_async_copy(0, in_.data(), out_.data());
  expected.global_load_requests = expected.global_load_sectors = 0;
  expected.global_load_useful_bytes = 0;
  EXPECT_EQ(device_.take_counts().phases.total(), expected);
}

// 1040 bytes: 32.5 sectors, and 8 rows of the banks and an eighth. mbarriers count nothing.
TEST_F(CountingTest, ABulkCopyIsOneRequestOnEitherSide) {
  cpu_checked::launch_bulk_copy(1040, in_.data(), out_.data());
  Counts expected;
  expected.global_load_requests = 1;
  expected.global_load_sectors = 33;
  expected.global_load_useful_bytes = 1040;
  expected.shared_store_requests = 1;
  expected.shared_store_wavefronts = 9;
  expected.shared_load_requests = expected.shared_load_wavefronts = 1;
  expected.global_store_requests = 1;
  expected.global_store_sectors = 4;
  expected.global_store_useful_bytes = 128;
  expected.barriers = 1;
  EXPECT_EQ(device_.take_counts().phases.total(), expected);
}

TEST_F(CountingTest, LdmatrixIsOneRequestWithAWavefrontAMatrixUnlessRowsShareBanks) {
  struct Expected {
    int matrices, stride;
    std::uint64_t wavefronts;
  };
  // 8 rows of 16 bytes: side by side they fill the banks once; 32 bytes apart they do so twice,
  // 128 bytes apart all are in the same four banks.
  for (const Expected& expected : {Expected{1, 1, 1}, Expected{4, 1, 4}, Expected{4, 2, 8},
                                   Expected{4, 8, 32}, Expected{4, 0, 4}, Expected{1, 8, 8}}) {
    cpu_checked::launch_matrix_load(expected.matrices, expected.stride, out_.data());
    const LaunchCounts counts = device_.take_counts();
    Counts load;
    load.shared_load_requests = 1;
    load.shared_load_wavefronts = expected.wavefronts;
    EXPECT_EQ(counts.phases[Phase::qk], load) << expected.matrices << ", " << expected.stride;
    EXPECT_EQ(counts.phases[std::nullopt].shared_store_requests, 32U);
    EXPECT_EQ(counts.phases[std::nullopt].shared_load_requests, 0U);
    ASSERT_EQ(counts.lines.size(), 3U);
  }
}

// 40 bytes are a multiple of 8: five loads of 8 bytes, whose half warps meet no bank twice.
TEST_F(CountingTest, AnObjectIsCopiedInPieces) {
  cpu_checked::launch_object_copy(9, out_.data());
  const LaunchCounts counts = device_.take_counts();
  Counts load;
  load.shared_load_requests = 5;
  load.shared_load_wavefronts = 10;
  EXPECT_EQ(counts.phases[Phase::qk], load);
  EXPECT_EQ(out_.to_host()[31], 31);
  EXPECT_TRUE(device_.take_findings().empty());
}

TEST_F(CountingTest, CountsDoNotDependOnTheSchedule) {
  std::vector<CountsByPhase> counts;
  using simt::ScheduleKind;
  for (const simt::Schedule& schedule :
       {simt::Schedule{}, simt::Schedule{ScheduleKind::random, 3},
        simt::Schedule{ScheduleKind::warp_first, 5}, simt::Schedule{ScheduleKind::preemptive, 7}}) {
    const ScheduleScope scope(schedule);
    cpu_checked::launch_skipped_rounds(in_.data(), in_.data() + 256, out_.data());
    cpu_checked::launch_meeting_halves(in_.data(), out_.data());
    cpu_checked::launch_barrier_and_shuffles(3, out_.data());
    counts.push_back(device_.take_counts().phases);
  }
  for (const CountsByPhase& others : counts) EXPECT_EQ(others, counts[0]);
}

TEST_F(CountingTest, CountsDoNotDependOnTheNumberOfWorkers) {
  const int before = simt::worker_count();
  std::vector<LaunchCounts> counts;
  for (const int workers : {1, 2, 5}) {
    simt::set_worker_count(workers);
    cpu_checked::launch_strided_copy(37, 70, 3, in_.data(), out_.data());
    cpu_checked::launch_barrier_and_shuffles(19, out_.data());
    counts.push_back(device_.take_counts());
  }
  simt::set_worker_count(before);
  EXPECT_EQ(counts[0].phases.total().global_load_requests, 37U * 3);
  for (const LaunchCounts& others : counts) {
    EXPECT_EQ(others.phases, counts[0].phases);
    ASSERT_EQ(others.lines.size(), counts[0].lines.size());
    for (std::size_t i = 0; i < others.lines.size(); ++i) {
      EXPECT_EQ(others.lines[i].line, counts[0].lines[i].line);
      EXPECT_EQ(others.lines[i].counts, counts[0].lines[i].counts);
    }
  }
}

// It reads and writes one allocation, which makes the machine take it back and run it once more.
TEST_F(CountingTest, ALaunchThatIsRunTwiceIsCountedOnce) {
  cpu_checked::launch_strided_copy(5, 32, 1, out_.data() + 2048, out_.data());
  const Counts counts = device_.take_counts().phases.total();
  EXPECT_EQ(counts.global_load_requests, 5U);
  EXPECT_EQ(counts.global_store_requests, 5U);
}

TEST_F(CountingTest, AStoppedLaunchSaysThatCountsAreIncomplete) {
  cpu_checked::launch_stopped(3, in_.data(), out_.data());
  EXPECT_FALSE(device_.take_counts().complete);
  EXPECT_EQ(device_.take_findings().size(), 1U);
  cpu_checked::launch_strided_copy(1, 32, 1, in_.data(), out_.data());
  const LaunchCounts counts = device_.take_counts();
  EXPECT_TRUE(counts.complete);
  EXPECT_EQ(counts.phases.total().global_load_requests, 1U);
}

}  // namespace
}  // namespace paged
