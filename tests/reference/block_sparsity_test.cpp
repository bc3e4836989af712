// Which pages block-sparse attention keeps, against the formulas of the specification written out
// token by token and stripe by stripe.
#include "reference/block_sparsity.h"

#include <gtest/gtest.h>

#include <set>

namespace paged {
namespace {

static_assert(!BlockSparsity{}.active());
static_assert(BlockSparsity{.vert_stride = 2}.active());
static_assert(BlockSparsity{.vert_stride = 1}.takes_part(3, 100, 16, 1));
static_assert(BlockSparsity{.head_sliding_step = 2, .tensor_parallel_rank = 3}.stripe_offset(
                  5, 8, 1, 2) == (3 * 8 + 5) * 2 + 1);
static_assert(BlockSparsity{.head_sliding_step = -2, .tensor_parallel_rank = 3}.stripe_offset(
                  5, 8, 1, 2) == (3 * 2 + 1) * 2 + 1);

/// The pages that take part, found the other way round: enumerate the sparse blocks that are kept,
/// then collect the pages whose first token lies in one of them.
std::set<int> kept_pages(const BlockSparsity& s, int seq_len, int page_size, int head,
                         int num_heads, int kv_head, int num_kv_heads) {
  int offset = 1;
  if (s.head_sliding_step >= 0)
    for (int i = 0; i < s.tensor_parallel_rank * num_heads + head; ++i)
      offset += s.head_sliding_step;
  else
    for (int i = 0; i < s.tensor_parallel_rank * num_kv_heads + kv_head; ++i)
      offset -= s.head_sliding_step;

  int sparse_blocks = 0;  // of this sequence
  while (sparse_blocks * s.block_size < seq_len) ++sparse_blocks;
  std::set<int> kept_blocks;
  for (int local = 0; local < s.local_blocks; ++local)
    kept_blocks.insert(sparse_blocks - 1 - local);
  for (int multiple = 0; multiple <= sparse_blocks + offset; multiple += s.vert_stride)
    kept_blocks.insert(multiple - offset);

  std::set<int> pages;
  for (int first_token = 0; first_token < seq_len; first_token += page_size) {
    int block = 0;
    while ((block + 1) * s.block_size <= first_token) ++block;
    if (s.vert_stride <= 1 || kept_blocks.count(block) != 0) pages.insert(first_token / page_size);
  }
  return pages;
}

void expect_pages_match(const BlockSparsity& s, int seq_len, int page_size) {
  constexpr int kNumHeads = 6, kNumKvHeads = 2;
  for (int head = 0; head < kNumHeads; ++head) {
    const int kv_head = head / (kNumHeads / kNumKvHeads);
    const std::set<int> expected =
        kept_pages(s, seq_len, page_size, head, kNumHeads, kv_head, kNumKvHeads);
    const int offset = s.stripe_offset(head, kNumHeads, kv_head, kNumKvHeads);
    for (int page = 0; page * page_size < seq_len; ++page)
      ASSERT_EQ(s.takes_part(page, seq_len, page_size, offset), expected.count(page) != 0)
          << "page " << page << " of " << seq_len << " tokens, head " << head << ", local "
          << s.local_blocks << ", stride " << s.vert_stride << ", sparse block " << s.block_size
          << ", step " << s.head_sliding_step << ", rank " << s.tensor_parallel_rank;
  }
}

TEST(BlockSparsity, KeptPagesMatchTheFormulasForAllParameters) {
  constexpr int kPageSize = 16;
  for (const int local_blocks : {0, 1, 2, 5})
    for (const int vert_stride : {1, 2, 3, 8})
      for (const int block_size : {16, 32, 64})
        for (const int step : {-3, -1, 0, 1, 2})
          for (const int rank : {0, 1, 3})
            for (const int seq_len : {1, 15, 16, 17, 63, 64, 65, 128, 200, 513})
              expect_pages_match({local_blocks, vert_stride, block_size, step, rank}, seq_len,
                                 kPageSize);
}

TEST(BlockSparsity, AStrideOfOneKeepsEveryPage) {
  for (int page = 0; page < 10; ++page)
    EXPECT_TRUE((BlockSparsity{.local_blocks = 0, .vert_stride = 1}.takes_part(page, 160, 16, 1)));
}

TEST(BlockSparsity, AHandComputedCase) {
  // 8 pages of 16 tokens, sparse blocks of 32: kb = 0 0 1 1 2 2 3 3, last = 3. Head 0, step 0:
  // offset 1. Stride 3 keeps kb + 1 = 3, so kb = 2; one local block keeps kb = 3.
  const BlockSparsity s{.local_blocks = 1, .vert_stride = 3, .block_size = 32};
  const bool kept[] = {false, false, false, false, true, true, true, true};
  for (int page = 0; page < 8; ++page)
    EXPECT_EQ(s.takes_part(page, 128, 16, s.stripe_offset(0, 8, 0, 2)), kept[page]) << page;
}

TEST(BlockSparsity, WithoutLocalBlocksEvenTheLastPageMayBeLeftOut) {
  const BlockSparsity s{.local_blocks = 0, .vert_stride = 8, .block_size = 64};
  EXPECT_FALSE(s.takes_part(0, 10, 16, 1));
}

TEST(BlockSparsity, ANegativeStepMovesTheStripeByKvHeadOnly) {
  const BlockSparsity s{.vert_stride = 4, .head_sliding_step = -1};
  EXPECT_EQ(s.stripe_offset(0, 8, 0, 2), s.stripe_offset(3, 8, 0, 2));
  EXPECT_NE(s.stripe_offset(3, 8, 0, 2), s.stripe_offset(4, 8, 1, 2));
}

}  // namespace
}  // namespace paged
