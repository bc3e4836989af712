// Reference-counted blocks: hand-out, sharing, exhaustion, misuse.
#include "reference/block_allocator.h"

#include "tests/reference/contents.h"
#include "tests/reference/error_message.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <random>
#include <set>
#include <vector>

namespace paged {
namespace {

using testing::counts_of;
using BlockId = BlockAllocator::BlockId;

/// Requires an action to throw InputError and to leave the allocator as it was.
template <typename Action>
void expect_refused(const BlockAllocator& allocator, Action&& action, const char* what) {
  const std::vector<int> counts = counts_of(allocator);
  const int num_free = allocator.num_free();
  const auto message = testing::input_error_of(action);
  ASSERT_TRUE(message.has_value()) << what << ": no InputError";
  EXPECT_FALSE(message->empty());
  EXPECT_EQ(message->find('\n'), std::string::npos) << *message;
  EXPECT_EQ(counts_of(allocator), counts) << what;
  EXPECT_EQ(allocator.num_free(), num_free) << what;
}

TEST(BlockAllocator, EveryBlockStartsFree) {
  const BlockAllocator allocator(5);
  EXPECT_EQ(allocator.num_blocks(), 5);
  EXPECT_EQ(allocator.num_free(), 5);
  EXPECT_EQ(counts_of(allocator), std::vector<int>(5, 0));
}

TEST(BlockAllocator, HandsOutEachIdOnceAndThenRefuses) {
  BlockAllocator allocator(7);
  std::set<BlockId> ids;
  for (int i = 0; i < 7; ++i) {
    EXPECT_EQ(allocator.num_free(), 7 - i);
    const BlockId block = allocator.allocate();
    EXPECT_EQ(allocator.ref_count(block), 1);
    ids.insert(block);
  }
  EXPECT_EQ(ids, (std::set<BlockId>{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(allocator.num_free(), 0);
  expect_refused(
      allocator, [&] { allocator.allocate(); }, "exhausted");
}

TEST(BlockAllocator, ABlockOfAnEmptyAllocatorCannotBeHad) {
  BlockAllocator allocator(0);
  EXPECT_EQ(allocator.num_blocks(), 0);
  expect_refused(
      allocator, [&] { allocator.allocate(); }, "no blocks at all");
  expect_refused(
      allocator, [&] { allocator.ref_count(0); }, "id 0 of none");
}

TEST(BlockAllocator, ANegativeNumberOfBlocksIsRefused) {
  EXPECT_THROW(BlockAllocator(-1), InputError);
  EXPECT_THROW(BlockAllocator(INT_MIN), InputError);
}

TEST(BlockAllocator, FreedBlocksAreReusedLastInFirstOut) {
  BlockAllocator allocator(6);
  std::vector<BlockId> blocks;
  for (int i = 0; i < 6; ++i) blocks.push_back(allocator.allocate());
  for (const int i : {4, 1, 5}) allocator.release(blocks[static_cast<std::size_t>(i)]);
  EXPECT_EQ(allocator.allocate(), blocks[5]);
  EXPECT_EQ(allocator.allocate(), blocks[1]);
  EXPECT_EQ(allocator.allocate(), blocks[4]);
}

TEST(BlockAllocator, ASharedBlockIsFreeOnlyAfterItsLastRelease) {
  BlockAllocator allocator(2);
  const BlockId block = allocator.allocate();
  allocator.share(block);
  allocator.share(block);
  EXPECT_EQ(allocator.ref_count(block), 3);
  EXPECT_EQ(allocator.num_free(), 1);
  allocator.release(block);
  allocator.release(block);
  EXPECT_EQ(allocator.ref_count(block), 1);
  EXPECT_EQ(allocator.num_free(), 1);
  allocator.release(block);
  EXPECT_EQ(allocator.ref_count(block), 0);
  EXPECT_EQ(allocator.num_free(), 2);
}

TEST(BlockAllocator, MisuseIsRefusedAndChangesNothing) {
  BlockAllocator allocator(4);
  const BlockId used = allocator.allocate();
  const BlockId freed = allocator.allocate();
  allocator.release(freed);
  expect_refused(
      allocator, [&] { allocator.release(freed); }, "release of a free block");
  expect_refused(
      allocator, [&] { allocator.share(freed); }, "share of a free block");
  for (const BlockId id : {-1, 4, INT_MAX, INT_MIN}) {
    expect_refused(
        allocator, [&] { allocator.release(id); }, "release out of range");
    expect_refused(
        allocator, [&] { allocator.share(id); }, "share out of range");
    expect_refused(
        allocator, [&] { allocator.ref_count(id); }, "count out of range");
  }
  allocator.release(used);
  expect_refused(
      allocator, [&] { allocator.release(used); }, "double release");
}

TEST(BlockAllocator, ARefusalNamesTheBlockAndTheLimit) {
  BlockAllocator allocator(23);
  const auto message = testing::input_error_of([&] { allocator.release(57); });
  ASSERT_TRUE(message.has_value());
  EXPECT_TRUE(testing::mentions(*message, "57")) << *message;
  EXPECT_TRUE(testing::mentions_any(*message, {"23", "22"})) << *message;
}

TEST(BlockAllocator, RandomOperationsMatchAModelOfCounts) {
  constexpr int kNumBlocks = 13;
  std::mt19937 random(3);
  BlockAllocator allocator(kNumBlocks);
  std::vector<int> model(kNumBlocks, 0);
  for (int step = 0; step < 20000; ++step) {
    const BlockId block = static_cast<BlockId>(random() % (kNumBlocks + 2)) - 1;
    const bool in_use = block >= 0 && block < kNumBlocks && model[block] > 0;
    switch (random() % 4) {
      case 0:
      case 1:
        if (allocator.num_free() == 0) {
          EXPECT_THROW(allocator.allocate(), InputError);
        } else {
          const BlockId got = allocator.allocate();
          ASSERT_EQ(model.at(static_cast<std::size_t>(got)), 0) << "handed out a block in use";
          model[got] = 1;
        }
        break;
      case 2:
        if (in_use) {
          allocator.share(block);
          ++model[block];
        } else {
          EXPECT_THROW(allocator.share(block), InputError);
        }
        break;
      default:
        if (in_use) {
          allocator.release(block);
          --model[block];
        } else {
          EXPECT_THROW(allocator.release(block), InputError);
        }
    }
    ASSERT_EQ(counts_of(allocator), model) << "step " << step;
    ASSERT_EQ(allocator.num_free(), std::count(model.begin(), model.end(), 0));
  }
}

}  // namespace
}  // namespace paged
