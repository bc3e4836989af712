// Writing tokens into caches, copying and swapping blocks: values, bits, neighbours, refusals.
#include "reference/cache_operations.h"

#include "reference/decode_attention.h"
#include "reference/decode_problem.h"
#include "tests/reference/contents.h"
#include "tests/reference/error_message.h"
#include "tests/reference/logical_tokens.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace paged {
namespace {

using testing::bytes_of;
using testing::key_position;
using testing::Layout;
using testing::value_position;
using testing::zero_problem;

constexpr int kNumBlocks = 6, kNumKvHeads = 2, kHeadSize = 32, kBlockSize = 8;

/// A problem used as a pair of caches; the addressing is that of logical_tokens.h.
DecodeProblem caches_of(CacheType cache, int num_blocks = kNumBlocks) {
  Layout layout;
  layout.num_heads = kNumKvHeads;
  layout.num_kv_heads = kNumKvHeads;
  layout.head_size = kHeadSize;
  layout.block_size = kBlockSize;
  layout.num_blocks = num_blocks;
  layout.cache = cache;
  layout.seq_lens = {};
  layout.tables = {};
  return zero_problem(layout);
}

CachePair pair_of(DecodeProblem& p) { return {&p.key_cache, &p.value_cache}; }

void fill_with_random_bits(Tensor& tensor, unsigned seed) {
  std::mt19937 random(seed);
  for (std::size_t i = 0; i < tensor.size_in_bytes(); ++i)
    tensor.data()[i] = static_cast<std::byte>(random() & 255U);
}
void fill_with_random_bits(DecodeProblem& p, unsigned seed) {
  fill_with_random_bits(p.key_cache, seed);
  fill_with_random_bits(p.value_cache, seed + 1);
}

/// Tokens [num_tokens, kNumKvHeads, kHeadSize] of normal values.
Tensor random_tokens(CacheType type, int num_tokens, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  Tensor tokens(type, {num_tokens, kNumKvHeads, kHeadSize});
  for (std::int64_t i = 0; i < tokens.size(); ++i) tokens.write(i, normal(random));
  return tokens;
}

std::int64_t token_position(int token, int kv_head, int dim) {
  return (std::int64_t{token} * kNumKvHeads + kv_head) * kHeadSize + dim;
}

/// Every finite value of an 8-bit float, from its definition.
std::vector<double> finite_fp8_values(CacheType type) {
  const int mantissa_bits = type == CacheType::e4m3 ? 3 : 2;
  const int bias = type == CacheType::e4m3 ? 7 : 15;
  const int finite_codes = type == CacheType::e4m3 ? 0x7f : 0x7c;
  std::vector<double> values;
  for (int code = 0; code < finite_codes; ++code) {
    const int exponent = code >> mantissa_bits, mantissa = code % (1 << mantissa_bits);
    values.push_back(exponent == 0 ? std::ldexp(mantissa, 1 - bias - mantissa_bits)
                                   : std::ldexp((1 << mantissa_bits) + mantissa,
                                                exponent - bias - mantissa_bits));
    if (code > 0) values.push_back(-values.back());
  }
  return values;
}

/// Whether `stored` is a value of the format nearest to value / scale; near a tie both will do.
bool is_nearest(double stored, double value, double scale, const std::vector<double>& values) {
  const double target = value / scale;
  double least = std::numeric_limits<double>::infinity();
  for (const double candidate : values) least = std::min(least, std::abs(candidate - target));
  return std::abs(stored - target) <= least + 1e-6 * std::abs(target);
}

// ---- write_tokens ----------------------------------------------------------------------------
class EveryCacheType : public ::testing::TestWithParam<CacheType> {};
INSTANTIATE_TEST_SUITE_P(CacheOperations, EveryCacheType,
                         ::testing::Values(CacheType::f32, CacheType::f16, CacheType::bf16,
                                           CacheType::e4m3, CacheType::e5m2),
                         [](const auto& type) { return std::string(name_of(type.param)); });

TEST_P(EveryCacheType, WrittenTokensLieAtTheirSlotsAndEveryOtherBitIsKept) {
  // BUGS.md 22 and more: padding slots between real ones, first and last slot of the cache.
  DecodeProblem p = caches_of(GetParam());
  fill_with_random_bits(p, 1);
  DecodeProblem expected = p;
  const std::vector<std::int64_t> slots = {-1, 5, -1, 31, 0, kNumBlocks * kBlockSize - 1, -1};
  const Tensor keys = random_tokens(CacheType::f32, 7, 2);
  const Tensor values = random_tokens(CacheType::f32, 7, 3);
  for (int token = 0; token < 7; ++token)
    for (int kv_head = 0; kv_head < kNumKvHeads && slots[token] >= 0; ++kv_head)
      for (int dim = 0; dim < kHeadSize; ++dim) {
        const std::int64_t block = slots[token] / kBlockSize;
        const int offset = static_cast<int>(slots[token] % kBlockSize);
        const std::int64_t from = token_position(token, kv_head, dim);
        expected.key_cache.write(key_position(p, block, kv_head, offset, dim), keys.read(from));
        expected.value_cache.write(value_position(p, block, kv_head, offset, dim),
                                   values.read(from));
      }
  write_tokens(pair_of(p), keys, values, slots);
  EXPECT_EQ(bytes_of(p.key_cache), bytes_of(expected.key_cache));
  EXPECT_EQ(bytes_of(p.value_cache), bytes_of(expected.value_cache));
}

TEST_P(EveryCacheType, WritingThenGatheringReturnsTheTokens) {
  Layout layout;
  layout.num_heads = layout.num_kv_heads = kNumKvHeads;
  layout.head_size = kHeadSize;
  layout.block_size = kBlockSize;
  layout.cache = GetParam();
  layout.seq_lens = {19};
  layout.tables = {{4, 0, 2}};
  layout.num_blocks = kNumBlocks;
  DecodeProblem p = zero_problem(layout);
  std::mt19937 random(5);
  Tensor keys(CacheType::f32, {19, kNumKvHeads, kHeadSize});
  Tensor values(CacheType::f32, {19, kNumKvHeads, kHeadSize});
  for (std::int64_t i = 0; i < keys.size(); ++i) {  // exact in every type
    keys.write(i, (static_cast<int>(random() % 15) - 7) / 4.0);
    values.write(i, (static_cast<int>(random() % 15) - 7) / 4.0);
  }
  std::vector<std::int64_t> slots;
  for (int t = 0; t < 19; ++t) slots.push_back(std::vector<int>{4, 0, 2}[t / 8] * 8 + t % 8);
  write_tokens(pair_of(p), keys, values, slots);
  for (int kv_head = 0; kv_head < kNumKvHeads; ++kv_head) {
    const GatheredKv kv = gather(p, 0, kv_head);
    for (int t = 0; t < 19; ++t)
      for (int dim = 0; dim < kHeadSize; ++dim) {
        ASSERT_EQ(kv.keys(t, dim), keys.read(token_position(t, kv_head, dim)));
        ASSERT_EQ(kv.values(t, dim), values.read(token_position(t, kv_head, dim)));
      }
  }
}

TEST_P(EveryCacheType, TokensOfAnyFloatTypeAreAccepted) {
  for (const CacheType source : {CacheType::f32, CacheType::f16, CacheType::bf16}) {
    DecodeProblem p = caches_of(GetParam());
    Tensor tokens(source, {1, kNumKvHeads, kHeadSize});
    tokens.fill(-1.75);
    write_tokens(pair_of(p), tokens, tokens, std::vector<std::int64_t>{9});
    EXPECT_EQ(p.key_cache.read(key_position(p, 1, 1, 1, 31)), -1.75) << name_of(source);
    EXPECT_EQ(p.value_cache.read(value_position(p, 1, 0, 1, 0)), -1.75) << name_of(source);
  }
}

TEST_P(EveryCacheType, NoTokensWriteNothing) {
  DecodeProblem p = caches_of(GetParam());
  fill_with_random_bits(p, 4);
  const DecodeProblem before = p;
  const Tensor none(CacheType::f32, {0, kNumKvHeads, kHeadSize});
  write_tokens(pair_of(p), none, none, {});
  const Tensor skipped = random_tokens(CacheType::f32, 2, 1);
  write_tokens(pair_of(p), skipped, skipped, std::vector<std::int64_t>{-1, -1});
  EXPECT_EQ(bytes_of(p.key_cache), bytes_of(before.key_cache));
  EXPECT_EQ(bytes_of(p.value_cache), bytes_of(before.value_cache));
}

TEST(WriteTokens, AnFp8CacheStoresTheValueOverItsScaleRoundedToNearest) {
  for (const CacheType cache : {CacheType::e4m3, CacheType::e5m2}) {
    const std::vector<double> representable = finite_fp8_values(cache);
    DecodeProblem p = caches_of(cache);
    const Tensor keys = random_tokens(CacheType::f16, 3, 8);
    const Tensor values = random_tokens(CacheType::f16, 3, 9);
    const float k_scale = 0.3F, v_scale = 0.017F;
    write_tokens(pair_of(p), keys, values, std::vector<std::int64_t>{1, 20, 47}, k_scale, v_scale);
    const int slots[] = {1, 20, 47};
    for (int t = 0; t < 3; ++t)
      for (int kv_head = 0; kv_head < kNumKvHeads; ++kv_head)
        for (int dim = 0; dim < kHeadSize; ++dim) {
          const std::int64_t from = token_position(t, kv_head, dim);
          const int block = slots[t] / kBlockSize, offset = slots[t] % kBlockSize;
          EXPECT_TRUE(is_nearest(p.key_cache.read(key_position(p, block, kv_head, offset, dim)),
                                 keys.read(from), k_scale, representable));
          EXPECT_TRUE(is_nearest(p.value_cache.read(value_position(p, block, kv_head, offset, dim)),
                                 values.read(from), v_scale, representable));
        }
  }
}

TEST(WriteTokens, TiesOfAnFp8CacheGoToTheEvenCodeAndLargeValuesSaturate) {
  DecodeProblem p = caches_of(CacheType::e4m3);
  Tensor tokens(CacheType::f32, {1, kNumKvHeads, kHeadSize});
  // With scale 1/4: 17/64 -> 1.0625 (tie of 1 and 1.125: 1), 19/64 -> 1.1875 (tie: 1.25).
  const double values[] = {17.0 / 64, 19.0 / 64, -17.0 / 64, 1e6, -1e6, 17.0 / 64 + 0x1p-25};
  for (int i = 0; i < 6; ++i) tokens.write(i, values[i]);
  write_tokens(pair_of(p), tokens, tokens, std::vector<std::int64_t>{0}, 0.25F, 0.25F);
  const double expected[] = {1, 1.25, -1, 448, -448, 1.125};
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(p.key_cache.read(key_position(p, 0, 0, 0, i)), expected[i]) << i;
    EXPECT_EQ(p.value_cache.read(value_position(p, 0, 0, 0, i)), expected[i]) << i;
  }
}

TEST(WriteTokens, CachesThatAreNotFp8IgnoreTheScales) {
  for (const CacheType cache : {CacheType::f32, CacheType::f16, CacheType::bf16}) {
    DecodeProblem plain = caches_of(cache), scaled = caches_of(cache);
    const Tensor tokens = random_tokens(cache, 2, 6);
    write_tokens(pair_of(plain), tokens, tokens, std::vector<std::int64_t>{3, 30});
    write_tokens(pair_of(scaled), tokens, tokens, std::vector<std::int64_t>{3, 30}, 0.25F, 4.0F);
    EXPECT_EQ(bytes_of(plain.key_cache), bytes_of(scaled.key_cache));
    EXPECT_EQ(bytes_of(plain.value_cache), bytes_of(scaled.value_cache));
  }
}

TEST(WriteTokens, NaNStaysNaN) {
  for (const CacheType cache : {CacheType::f16, CacheType::e4m3, CacheType::e5m2}) {
    DecodeProblem p = caches_of(cache);
    Tensor tokens(CacheType::f32, {1, kNumKvHeads, kHeadSize});
    tokens.write(4, std::numeric_limits<double>::quiet_NaN());
    write_tokens(pair_of(p), tokens, tokens, std::vector<std::int64_t>{0});
    EXPECT_TRUE(std::isnan(p.key_cache.read(key_position(p, 0, 0, 0, 4)))) << name_of(cache);
  }
}

// ---- refusals --------------------------------------------------------------------------------
/// Requires InputError, and every bit of the caches kept.
void expect_refused(DecodeProblem& p, const std::function<void()>& action, const std::string& what,
                    const std::vector<std::string>& mentioned = {}) {
  const DecodeProblem before = p;
  const auto message = testing::input_error_of(action);
  ASSERT_TRUE(message.has_value()) << what << ": no InputError";
  EXPECT_EQ(message->find('\n'), std::string::npos) << *message;
  for (const std::string& word : mentioned)
    EXPECT_TRUE(testing::mentions(*message, word)) << what << ": " << *message;
  EXPECT_EQ(bytes_of(p.key_cache), bytes_of(before.key_cache)) << what;
  EXPECT_EQ(bytes_of(p.value_cache), bytes_of(before.value_cache)) << what;
}

TEST(WriteTokens, ASlotOutsideTheCacheIsRefusedBeforeAnythingIsWritten) {
  DecodeProblem p = caches_of(CacheType::f16);
  fill_with_random_bits(p, 1);
  const Tensor tokens = random_tokens(CacheType::f16, 3, 2);
  for (const std::int64_t slot : {std::int64_t{48}, std::int64_t{-2}, std::int64_t{INT_MAX},
                                  std::int64_t{1} << 40, std::numeric_limits<std::int64_t>::min()})
    expect_refused(
        p,
        [&] {
          write_tokens(pair_of(p), tokens, tokens, std::vector<std::int64_t>{4, 5, slot});
        },
        "slot " + std::to_string(slot), {std::to_string(slot)});
}

TEST(WriteTokens, ShapesThatDoNotFitAreRefused) {
  DecodeProblem p = caches_of(CacheType::f16);
  fill_with_random_bits(p, 1);
  const Tensor good = random_tokens(CacheType::f16, 2, 2);
  const std::vector<std::int64_t> slots = {4, 5};
  const std::vector<std::vector<std::int64_t>> wrong = {
      {1, 2, 32}, {3, 2, 32}, {2, 1, 32}, {2, 4, 32}, {2, 2, 16}, {2, 2, 40}, {2, 64}, {128}};
  for (const auto& shape : wrong) {
    const Tensor bad(CacheType::f16, shape);
    expect_refused(
        p, [&] { write_tokens(pair_of(p), bad, good, slots); }, to_string(shape));
    expect_refused(
        p, [&] { write_tokens(pair_of(p), good, bad, slots); }, to_string(shape));
  }
  expect_refused(
      p, [&] { write_tokens(pair_of(p), good, good, std::vector<std::int64_t>{4}); },
      "one slot for two tokens");
}

TEST(WriteTokens, CachesThatDoNotBelongTogetherAreRefused) {
  DecodeProblem p = caches_of(CacheType::f16);
  const Tensor tokens = random_tokens(CacheType::f16, 1, 2);
  const std::vector<std::int64_t> slots = {4};
  DecodeProblem fewer = caches_of(CacheType::f16, kNumBlocks - 1);
  expect_refused(
      p,
      [&] {
        write_tokens({&p.key_cache, &fewer.value_cache}, tokens, tokens, slots);
      },
      "a value cache with fewer blocks");
  DecodeProblem other = caches_of(CacheType::f32);
  expect_refused(
      p,
      [&] {
        write_tokens({&p.key_cache, &other.value_cache}, tokens, tokens, slots);
      },
      "a value cache of another type");
}

TEST(WriteTokens, AnFp8ScaleMustBePositive) {
  DecodeProblem p = caches_of(CacheType::e4m3);
  const Tensor tokens = random_tokens(CacheType::f16, 1, 2);
  const std::vector<std::int64_t> slots = {4};
  for (const float scale : {0.0F, -1.0F, std::numeric_limits<float>::quiet_NaN()}) {
    expect_refused(
        p, [&] { write_tokens(pair_of(p), tokens, tokens, slots, scale, 1.0F); },
        "k_scale " + std::to_string(scale));
    expect_refused(
        p, [&] { write_tokens(pair_of(p), tokens, tokens, slots, 1.0F, scale); },
        "v_scale " + std::to_string(scale));
  }
}

// ---- copying blocks --------------------------------------------------------------------------
std::vector<std::byte> block_bytes(const Tensor& cache, int block) {
  const std::size_t bytes = cache.size_in_bytes() / static_cast<std::size_t>(cache.shape()[0]);
  const std::byte* first = cache.data() + static_cast<std::size_t>(block) * bytes;
  return {first, first + bytes};
}

/// Block `block` of p holds what block `from` of q holds, in both caches.
void expect_block(const DecodeProblem& p, int block, const DecodeProblem& q, int from) {
  EXPECT_EQ(block_bytes(p.key_cache, block), block_bytes(q.key_cache, from)) << block;
  EXPECT_EQ(block_bytes(p.value_cache, block), block_bytes(q.value_cache, from)) << block;
}

TEST_P(EveryCacheType, CopyBlocksKeepsEveryBitAndTouchesNothingElse) {
  DecodeProblem p = caches_of(GetParam());
  fill_with_random_bits(p, 10);  // among the bits every kind of NaN
  const DecodeProblem before = p;
  copy_blocks(pair_of(p), std::vector<BlockCopy>{{1, 4}, {5, 0}});
  const int now[] = {5, 1, 2, 3, 1, 5};
  for (int block = 0; block < kNumBlocks; ++block) expect_block(p, block, before, now[block]);
}

TEST(CopyBlocks, CopiesAreCarriedOutInOrder) {
  DecodeProblem p = caches_of(CacheType::f16);
  fill_with_random_bits(p, 10);
  const DecodeProblem before = p;
  copy_blocks(pair_of(p), std::vector<BlockCopy>{{0, 1}, {1, 2}, {3, 0}, {4, 4}});
  const int now[] = {3, 0, 0, 3, 4, 5};
  for (int block = 0; block < kNumBlocks; ++block) expect_block(p, block, before, now[block]);
}

TEST(CopyBlocks, AnIdOutsideTheCacheIsRefusedBeforeAnythingIsCopied) {
  DecodeProblem p = caches_of(CacheType::f16);
  fill_with_random_bits(p, 10);
  for (const int id : {-1, kNumBlocks, INT_MAX, INT_MIN}) {
    const std::string name = std::to_string(id);
    expect_refused(p,
                   [&] {
                     copy_blocks(pair_of(p), std::vector<BlockCopy>{{0, 1}, {id, 2}});
                   },
                   name, {name});
    expect_refused(p,
                   [&] {
                     copy_blocks(pair_of(p), std::vector<BlockCopy>{{0, 1}, {2, id}});
                   },
                   name, {name});
  }
}

TEST(CopyBlocks, NoCopiesChangeNothing) {
  DecodeProblem p = caches_of(CacheType::bf16);
  fill_with_random_bits(p, 10);
  const DecodeProblem before = p;
  copy_blocks(pair_of(p), {});
  EXPECT_EQ(bytes_of(p.key_cache), bytes_of(before.key_cache));
}

TEST_P(EveryCacheType, SwapBlocksCopiesBetweenCachesOfDifferentNumbersOfBlocks) {
  DecodeProblem device = caches_of(GetParam()), host = caches_of(GetParam(), 3);
  fill_with_random_bits(device, 20);
  fill_with_random_bits(host, 30);
  const DecodeProblem device_before = device, host_before = host;
  swap_blocks(pair_of(device), pair_of(host), std::vector<BlockCopy>{{5, 0}, {1, 2}});
  EXPECT_EQ(bytes_of(device.key_cache), bytes_of(device_before.key_cache));
  EXPECT_EQ(bytes_of(device.value_cache), bytes_of(device_before.value_cache));
  expect_block(host, 0, device_before, 5);
  expect_block(host, 1, host_before, 1);
  expect_block(host, 2, device_before, 1);
}

TEST(SwapBlocks, AnIdOutsideItsOwnCacheIsRefused) {
  DecodeProblem device = caches_of(CacheType::f16), host = caches_of(CacheType::f16, 3);
  fill_with_random_bits(host, 30);
  for (const BlockCopy wrong : {BlockCopy{6, 1}, {-1, 1}, {1, 3}, {1, -1}, {1, 5}})
    expect_refused(
        host,
        [&] {
          swap_blocks(pair_of(device), pair_of(host), std::vector<BlockCopy>{{0, 0}, wrong});
        },
        std::to_string(wrong.from) + " -> " + std::to_string(wrong.to));
  // The other way round 5 is a valid target.
  EXPECT_NO_THROW(swap_blocks(pair_of(host), pair_of(device), std::vector<BlockCopy>{{1, 5}}));
}

TEST(SwapBlocks, CachesOfAnotherTypeOrPageAreRefused) {
  DecodeProblem p = caches_of(CacheType::f16), other_type = caches_of(CacheType::bf16);
  const std::vector<BlockCopy> copy = {{0, 0}};
  expect_refused(
      p, [&] { swap_blocks(pair_of(other_type), pair_of(p), copy); }, "bf16 to f16");
  Layout layout;
  layout.num_heads = layout.num_kv_heads = kNumKvHeads;
  layout.head_size = kHeadSize / 2;
  layout.block_size = kBlockSize * 2;  // as many bytes a block, differently arranged
  layout.num_blocks = kNumBlocks;
  layout.cache = CacheType::f16;
  layout.seq_lens = {};
  layout.tables = {};
  DecodeProblem other_page = zero_problem(layout);
  expect_refused(
      p, [&] { swap_blocks(pair_of(other_page), pair_of(p), copy); }, "another page");
}

// ---- tables and data together ----------------------------------------------------------------
/// Sequence tables with the caches they speak of, written through by appends.
struct LiveCaches {
  SequenceTables tables{kBlockSize, kNumBlocks, 4};
  DecodeProblem device = caches_of(CacheType::bf16, kNumBlocks);
  DecodeProblem host = caches_of(CacheType::bf16, 4);
  unsigned next_seed = 100;

  LiveCaches() {
    fill_with_random_bits(device, 1);
    fill_with_random_bits(host, 5);
  }
  void append(int sequence, int count) {
    for (int i = 0; i < count; ++i) {
      const AppendedToken appended = tables.append(sequence);
      copy_blocks(pair_of(device), appended.copies);
      const Tensor tokens = random_tokens(CacheType::bf16, 1, next_seed++);
      write_tokens(pair_of(device), tokens, tokens, std::vector<std::int64_t>{appended.slot});
    }
  }
  /// The raw bits of a sequence's tokens in logical order, keys then values.
  std::vector<std::byte> content(int sequence) const {
    const DecodeProblem& p = tables.on_device(sequence) ? device : host;
    std::vector<std::byte> bits;
    const auto take = [&bits](const Tensor& cache, std::int64_t element) {
      bits.insert(bits.end(), cache.data() + 2 * element, cache.data() + 2 * element + 2);
    };
    for (int t = 0; t < tables.length(sequence); ++t)
      for (int kv_head = 0; kv_head < kNumKvHeads; ++kv_head)
        for (int dim = 0; dim < kHeadSize; ++dim) {
          const int block = tables.blocks(sequence)[static_cast<std::size_t>(t / kBlockSize)];
          take(p.key_cache, key_position(p, block, kv_head, t % kBlockSize, dim));
          take(p.value_cache, value_position(p, block, kv_head, t % kBlockSize, dim));
        }
    return bits;
  }
};

TEST(TablesAndCaches, WritingToAForkLeavesTheParentBitForBit) {
  LiveCaches live;
  const int parent = live.tables.create();
  live.append(parent, 11);
  const int child = live.tables.fork(parent);
  const std::vector<std::byte> parent_content = live.content(parent);
  EXPECT_EQ(live.content(child), parent_content);
  live.append(child, 6);
  EXPECT_EQ(live.content(parent), parent_content);
  std::vector<std::byte> prefix = live.content(child);
  prefix.resize(parent_content.size());
  EXPECT_EQ(prefix, parent_content);
  const std::vector<std::byte> child_content = live.content(child);
  live.append(parent, 4);
  EXPECT_EQ(live.content(child), child_content);
}

TEST(TablesAndCaches, ASwapRoundTripReturnsEveryBit) {
  LiveCaches live;
  const int a = live.tables.create();
  live.append(a, 21);
  const int b = live.tables.fork(a);
  live.append(b, 2);
  const std::vector<std::byte> a_content = live.content(a), b_content = live.content(b);

  swap_blocks(pair_of(live.device), pair_of(live.host), live.tables.swap_out(a));
  EXPECT_EQ(live.content(a), a_content);
  EXPECT_EQ(live.content(b), b_content);
  const int newcomer = live.tables.create();  // reuses what the swap freed
  live.append(newcomer, 8);
  EXPECT_EQ(live.content(b), b_content);
  live.tables.free(newcomer);

  swap_blocks(pair_of(live.host), pair_of(live.device), live.tables.swap_in(a));
  EXPECT_EQ(live.content(a), a_content);
  EXPECT_EQ(live.content(b), b_content);
}

}  // namespace
}  // namespace paged
