// Where an element of a paged cache lives, against explicit row-major tensors.
#include "reference/cache_layout.h"

#include <gtest/gtest.h>

#include <climits>
#include <cstdint>
#include <vector>

namespace paged {
namespace {

// ---- usable in constant expressions, as kernels use them -------------------------------------
static_assert(key_vector_width(4) == 4 && key_vector_width(2) == 8 && key_vector_width(1) == 16);
static_assert(num_pages(35, 16) == 3);
static_assert(kv_head_of(5, 8, 2) == 1);
static_assert(contiguous_strides(2, 128, 16).head_stride == 2048);
static_assert(contiguous_strides(2, 128, 16).block_stride == 4096);
static_assert(page_offset(2, 1, {4096, 2048}) == 10240);
static_assert(key_offset_in_page(1, 9, 16, 8) == 16 * 8 + 8 + 1);
static_assert(value_offset_in_page(1, 9, 16) == 9 * 16 + 1);

struct Geometry {
  int num_blocks, num_kv_heads, head_size, block_size, bytes_per_element;
};

const std::vector<Geometry> kGeometries = {
    {3, 2, 32, 8, 2},  {2, 3, 64, 16, 4}, {2, 1, 80, 16, 2},  {2, 5, 128, 32, 1},
    {1, 2, 120, 8, 2}, {3, 1, 16, 1, 1},  {2, 2, 112, 16, 1}, {4, 4, 4, 8, 4},
};

TEST(CacheLayout, KeyAddressesEnumerateTheFiveDimensionalRowMajorTensor) {
  for (const Geometry& g : kGeometries) {
    const int x = 16 / g.bytes_per_element;
    const CacheStrides strides = contiguous_strides(g.num_kv_heads, g.head_size, g.block_size);
    ASSERT_EQ(key_vector_width(g.bytes_per_element), x);
    std::int64_t linear = 0;  // counts the row-major tensor's elements one by one
    for (int block = 0; block < g.num_blocks; ++block)
      for (int head = 0; head < g.num_kv_heads; ++head)
        for (int chunk = 0; chunk < g.head_size / x; ++chunk)
          for (int token = 0; token < g.block_size; ++token)
            for (int lane = 0; lane < x; ++lane, ++linear)
              ASSERT_EQ(page_offset(block, head, strides) +
                            key_offset_in_page(token, chunk * x + lane, g.block_size, x),
                        linear)
                  << "block " << block << " head " << head << " token " << token << " dim "
                  << chunk * x + lane;
  }
}

TEST(CacheLayout, ValueAddressesEnumerateTheFourDimensionalRowMajorTensor) {
  for (const Geometry& g : kGeometries) {
    const CacheStrides strides = contiguous_strides(g.num_kv_heads, g.head_size, g.block_size);
    std::int64_t linear = 0;
    for (int block = 0; block < g.num_blocks; ++block)
      for (int head = 0; head < g.num_kv_heads; ++head)
        for (int dim = 0; dim < g.head_size; ++dim)
          for (int token = 0; token < g.block_size; ++token, ++linear)
            ASSERT_EQ(
                page_offset(block, head, strides) + value_offset_in_page(token, dim, g.block_size),
                linear);
  }
}

TEST(CacheLayout, StridesWithGapsAreHonoured) {
  const CacheStrides strides{1000, 300};
  EXPECT_EQ(page_offset(0, 0, strides), 0);
  EXPECT_EQ(page_offset(0, 2, strides), 600);
  EXPECT_EQ(page_offset(7, 2, strides), 7600);
}

TEST(CacheLayout, ABlockPastTwoToThe31ElementsHasItsOwnAddress) {
  // 8 heads x 128 x 16 = 2^14 elements a block: block 2^17 starts at element 2^31.
  const CacheStrides strides = contiguous_strides(8, 128, 16);
  const std::int32_t block = 1 << 17;
  EXPECT_EQ(page_offset(block, 0, strides), std::int64_t{1} << 31);
  EXPECT_EQ(page_offset(block + 1, 3, strides), (std::int64_t{1} << 31) + 16384 + 3 * 2048);
  EXPECT_EQ(page_offset(INT_MAX, 7, strides), 2147483647LL * 16384 + 7 * 2048);
}

TEST(CacheLayout, StridesOfALargeGeometryDoNotOverflow) {
  const CacheStrides strides = contiguous_strides(1 << 10, 1 << 12, 1 << 11);
  EXPECT_EQ(strides.head_stride, std::int64_t{1} << 23);
  EXPECT_EQ(strides.block_stride, std::int64_t{1} << 33);
}

TEST(CacheLayout, PagesAreTheCeilingOfLengthOverBlockSize) {
  for (const int block_size : {1, 8, 16, 32}) {
    EXPECT_EQ(num_pages(0, block_size), 0);
    EXPECT_EQ(num_pages(1, block_size), 1);
    EXPECT_EQ(num_pages(block_size, block_size), 1);
    EXPECT_EQ(num_pages(block_size + 1, block_size), 2);
    EXPECT_EQ(num_pages(2 * block_size, block_size), 2);
    EXPECT_EQ(num_pages(block_size - 1, block_size), block_size > 1 ? 1 : 0);
  }
  EXPECT_EQ(num_pages(INT_MAX, 1), INT_MAX);
  EXPECT_EQ(num_pages(INT_MAX, 16), 134217728);
  EXPECT_EQ(num_pages(INT_MAX, 32), 67108864);
}

TEST(CacheLayout, EachGroupOfQueryHeadsReadsOneKvHead) {
  struct Heads {
    int per_kv_head, num_kv_heads;
  };
  for (const Heads h : {Heads{1, 8}, {4, 2}, {5, 3}, {7, 4}, {8, 1}, {32, 1}}) {
    int head = 0;
    for (int kv_head = 0; kv_head < h.num_kv_heads; ++kv_head)
      for (int member = 0; member < h.per_kv_head; ++member, ++head)
        EXPECT_EQ(kv_head_of(head, h.per_kv_head * h.num_kv_heads, h.num_kv_heads), kv_head)
            << "head " << head << ", " << h.per_kv_head << " per KV head";
  }
}

TEST(CacheLayout, WorkedExampleThree) {
  // L = 17, table [7, 2]: logical token 16 -> logical block 1, offset 0, physical block 2.
  const std::vector<int> table = {7, 2};
  const int token = 16;
  EXPECT_EQ(num_pages(17, 16), 2);
  EXPECT_EQ(token / 16, 1);
  EXPECT_EQ(token % 16, 0);
  EXPECT_EQ(table[token / 16], 2);
}

}  // namespace
}  // namespace paged
