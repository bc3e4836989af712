// The cache kernels on every backend, against the reference and against the layout itself.
#include "stages/cache_operations.h"

#include "reference/cache_operations.h"
#include "reference/decode_problem.h"
#include "reference/element_types.h"
#include "reference/input_error.h"
#include "tests/harness/gapped_caches.h"
#include "tests/harness/random.h"
#include "tests/stages/execution_place.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

namespace paged {
namespace {

using Bytes = std::vector<std::byte>;

constexpr ScalarType kTokenTypes[] = {ScalarType::f32, ScalarType::f16, ScalarType::bf16};

std::string text(const CacheShape& shape) {
  return std::string(name_of(shape.type)) + " head_size " + std::to_string(shape.head_size) +
         " block_size " + std::to_string(shape.block_size);
}

/// Calls f for every cache type with a few head sizes and all block sizes.
void for_each_shape(const std::function<void(const CacheShape&)>& f) {
  for (CacheType type :
       {CacheType::f32, CacheType::f16, CacheType::bf16, CacheType::e4m3, CacheType::e5m2})
    for (int head_size : {32, 120, 256})
      for (int block_size : {8, 16, 32})
        if (head_size % (16 / size_in_bytes(type)) == 0) f({type, 6, 3, head_size, block_size});
}

/// Owns the device; skips where there is none.
class CacheOperationsTest : public ::testing::TestWithParam<ExecutionPlace> {
 protected:
  void SetUp() override {
    const std::string reason = why_no_device(GetParam());
    if (!reason.empty()) GTEST_SKIP() << "no GPU: " << reason;
    device_ = make_device(GetParam().backend);
    operations_.emplace(*device_, GetParam().checking);
  }
  void TearDown() override {
    if (device_) expect_no_findings(*device_);
  }

  /// Writes on host and device and compares.
  void expect_equal_writes(const CacheShape& shape, FusedTokens& tokens,
                           const std::vector<std::int64_t>& slots, float k_scale, float v_scale,
                           int gap) {
    const std::string what =
        std::string(paged::name_of(tokens.type)) + " tokens, cache " + text(shape);
    HostCaches host(shape);
    const GappedCaches caches(*device_, host, {gap, gap});
    operations_->write_tokens(caches.paged(), tokens.upload(*device_), slots, k_scale, v_scale);
    write_tokens(host.pair(), tokens.keys, tokens.values, slots, k_scale, v_scale);
    EXPECT_EQ(caches.difference(host), "") << what;
    expect_no_findings(*device_);
  }

  /// Copies on host and device and compares.
  void expect_equal_copies(const CacheShape& shape, int gap) {
    const std::vector<BlockCopy> lists[] = {
        {},
        {{2, 4}},
        {{0, 1}, {0, 2}, {0, 3}},  // one source
        {{0, 1}, {1, 2}, {2, 3}},  // each reads what the one before wrote
        {{3, 5}, {1, 3}},          // overwrites what was read
        {{3, 5}, {1, 5}},          // overwrites what was written
        {{4, 4}, {3, 5}, {1, 3}, {3, 3}, {0, 5}, {5, 2}},
    };
    for (const std::vector<BlockCopy>& copies : lists) {
      HostCaches host(shape);
      const GappedCaches caches(*device_, host, {gap, gap});
      operations_->copy_blocks(caches.paged(), copies);
      copy_blocks(host.pair(), copies);
      EXPECT_EQ(caches.difference(host), "") << text(shape);
    }
  }

  /// The codes that a cache of this type holds for values, each divided by scale. [values]
  std::vector<std::uint8_t> codes_for(CacheType type, ScalarType scalar, const Tensor& values,
                                      float scale);
  void expect_nearest(CacheType type, ScalarType scalar, const Tensor& values, float scale);

  std::unique_ptr<Device> device_;
  std::optional<CacheOperations> operations_;
};

// ---- write_tokens ----------------------------------------------------------------------------
TEST_P(CacheOperationsTest, WritesEveryBitThatTheReferenceWritesAndNoOther) {
  for_each_shape([&](const CacheShape& shape) {
    for (ScalarType scalar : kTokenTypes) {
      if (!is_fp8(shape.type) && shape.type != same_as(scalar)) continue;
      FusedTokens tokens = normal_tokens(scalar, 7, shape);
      const std::int64_t last = shape.num_blocks * shape.block_size - 1;
      // Token 1 and token 5 have one slot: the later one stays. Scales that round when divided.
      for (int gap : {0, 16})
        expect_equal_writes(shape, tokens, {-1, 5, last, 31, 0, 5, -1}, 0.3F, 0.7F, gap);
    }
  });
}

TEST_P(CacheOperationsTest, KeepsEveryBitOfNansOfTheCachesOwnType) {
  for (ScalarType scalar : kTokenTypes) {
    const CacheShape shape{same_as(scalar), 6, 2, 64, 16};
    FusedTokens tokens(scalar, 40, shape);
    fill_with_random_bits(tokens.keys, 3);
    fill_with_random_bits(tokens.values, 4);
    std::vector<std::int64_t> slots;
    for (int token = 0; token < 40; ++token) slots.push_back((token * 7) % 96);
    expect_equal_writes(shape, tokens, slots, 1, 1, 0);
  }
}

TEST_P(CacheOperationsTest, Bugs22PaddingSlotsAreSkipped) {
  const CacheShape shape{CacheType::f16, 4, 1, 64, 16};
  FusedTokens tokens = normal_tokens(ScalarType::f16, 4, shape);
  expect_equal_writes(shape, tokens, {-1, 5, -1, 31}, 1, 1, 0);
  expect_equal_writes(shape, tokens, {-1, -1, -1, -1}, 1, 1, 0);
  FusedTokens none(ScalarType::f16, 0, shape);
  expect_equal_writes(shape, none, {}, 1, 1, 0);
}

TEST_P(CacheOperationsTest, Bugs19KeysAndValuesHaveScalesOfTheirOwn) {
  const CacheShape shape{CacheType::e4m3, 2, 1, 64, 16};
  FusedTokens tokens(ScalarType::f16, 1, shape);
  tokens.keys.fill(1.0);
  tokens.values.fill(1.0);
  HostCaches host(shape);
  const GappedCaches caches(*device_, host);
  const std::vector<std::int64_t> slots = {17};
  operations_->write_tokens(caches.paged(), tokens.upload(*device_), slots, 0.25F, 0.5F);
  for (int dim = 0; dim < 64; ++dim) {  // slot 17: block 1, offset 1
    host.keys.write(64 * 16 + (dim / 16 * 16 + 1) * 16 + dim % 16, 4.0);
    host.values.write(64 * 16 + dim * 16 + 1, 2.0);
  }
  EXPECT_EQ(caches.difference(host), "") << "1 / 0.25 and 1 / 0.5";
}

TEST_P(CacheOperationsTest, Bugs25AnFp8KeyIsCutIntoVectorsOf16WhateverTheTokensType) {
  for (ScalarType scalar : kTokenTypes) {
    const CacheShape shape{CacheType::e5m2, 2, 1, 64, 16};
    FusedTokens tokens(scalar, 1, shape);
    for (int dim = 0; dim < 64; ++dim) {  // every dimension has a value of its own
      tokens.keys.write(dim, to_double(e5m2{static_cast<std::uint8_t>(dim)}));
      tokens.values.write(dim, to_double(e5m2{static_cast<std::uint8_t>(dim + 0x80)}));
    }
    HostCaches host(shape);
    const GappedCaches caches(*device_, host);
    const std::vector<std::int64_t> slots = {3};
    operations_->write_tokens(caches.paged(), tokens.upload(*device_), slots);
    for (int dim = 0; dim < 64; ++dim) {
      host.keys.data()[(dim / 16 * 16 + 3) * 16 + dim % 16] = static_cast<std::byte>(dim);
      host.values.data()[dim * 16 + 3] = static_cast<std::byte>(dim + 0x80);
    }
    EXPECT_EQ(caches.difference(host), "") << std::string(paged::name_of(scalar));
  }
}

// ---- conversion to fp8 -----------------------------------------------------------------------
constexpr int kConvertedHead = 128;

std::vector<std::uint8_t> CacheOperationsTest::codes_for(CacheType type, ScalarType scalar,
                                                         const Tensor& values, float scale) {
  const int num_tokens = static_cast<int>((values.size() + kConvertedHead - 1) / kConvertedHead);
  const CacheShape shape{type, num_tokens, 1, kConvertedHead, 1};  // a token a block
  FusedTokens tokens(scalar, num_tokens, shape);
  std::memcpy(tokens.keys.data(), values.data(), values.size_in_bytes());
  std::vector<std::int64_t> slots;
  for (int token = 0; token < num_tokens; ++token) slots.push_back(token);

  const GappedCaches caches(*device_, HostCaches(shape));
  operations_->write_tokens(caches.paged(), tokens.upload(*device_), slots, scale, scale);
  std::vector<std::uint8_t> codes(shape.bytes_of_one());  // in a page of one token, dims in order
  device_->download(codes.data(), caches.keys.data(), codes.size());
  codes.resize(values.size());
  return codes;
}

void CacheOperationsTest::expect_nearest(CacheType type, ScalarType scalar, const Tensor& values,
                                         float scale) {
  const std::vector<std::uint8_t> codes = codes_for(type, scalar, values, scale);
  for (std::int64_t i = 0; i < values.size(); ++i) {
    const float quotient = static_cast<float>(values.read(i)) / scale;
    const int expected = std::isnan(quotient)      ? 0x7F
                         : type == CacheType::e4m3 ? round_to<e4m3>(quotient).bits
                                                   : round_to<e5m2>(quotient).bits;
    ASSERT_EQ(codes[i], expected) << paged::name_of(type) << " of " << values.read(i) << " / "
                                  << scale;
  }
}

/// Every element of fp8, every tie, and the floats next to each; specials; random bits.
template <typename Fp8>
Tensor floats_near_fp8() {
  std::vector<float> values;
  const auto add = [&](double value) {
    const auto v = static_cast<float>(value);
    for (float near : {v, std::nextafter(v, 1e30F), std::nextafter(v, -1e30F)})
      for (float either : {near, -near}) values.push_back(either);
  };
  for (int code = 0; code < 0x7F; ++code) {
    const double value = to_double(Fp8{static_cast<std::uint8_t>(code)});
    add(value);
    add((value + to_double(Fp8{static_cast<std::uint8_t>(code + 1)})) / 2);
  }
  using Limits = std::numeric_limits<float>;
  for (float special : {0.0F, 464.0F, 480.0F, 61440.0F, 65536.0F, Limits::infinity(), Limits::max(),
                        Limits::min(), Limits::denorm_min(), Limits::quiet_NaN()})
    add(special);
  Random random(11);
  for (int i = 0; i < 50000; ++i)
    values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random.bits())));
  for (int i = 0; i < 20000; ++i)  // those that do not saturate or vanish
    values.push_back(static_cast<float>(std::exp2(40 * random.uniform() - 22) * random.normal()));
  Tensor tensor(CacheType::f32, {static_cast<std::int64_t>(values.size())});
  std::memcpy(tensor.data(), values.data(), tensor.size_in_bytes());
  return tensor;
}

TEST_P(CacheOperationsTest, Every16BitValueIsRoundedToTheNearestFp8) {
  for (ScalarType scalar : {ScalarType::f16, ScalarType::bf16}) {
    Tensor every(same_as(scalar), {65536});
    for (std::uint32_t code = 0; code < 65536; ++code) {
      const auto bits = static_cast<std::uint16_t>(code);
      std::memcpy(every.data() + 2 * code, &bits, 2);
    }
    for (CacheType type : {CacheType::e4m3, CacheType::e5m2})
      for (float scale : {1.0F, 0.3F}) expect_nearest(type, scalar, every, scale);
  }
}

TEST_P(CacheOperationsTest, EveryTieOfFp8GoesToTheEvenElement) {
  expect_nearest(CacheType::e4m3, ScalarType::f32, floats_near_fp8<e4m3>(), 1.0F);
  expect_nearest(CacheType::e5m2, ScalarType::f32, floats_near_fp8<e5m2>(), 1.0F);
}

// ---- copy_blocks and swap --------------------------------------------------------------------
TEST_P(CacheOperationsTest, CopiesBlocksAsIfOneAfterTheOther) {
  for_each_shape([&](const CacheShape& shape) {
    for (int gap : {0, 16}) expect_equal_copies(shape, gap);
  });
}

// Kernels that run the CUDA blocks of a launch one by one, the last one first: a GPU may. The CPU
// machine starts the first one first, and would hide that the order matters.
const CacheKernels* forward_kernels;

void write_last_token_first(const TokenWrite& write) {
  const std::size_t element = size_in_bytes(write.tokens.type);
  const auto row = [&](const void* tensor, std::int64_t stride, unsigned token) {
    return static_cast<const std::byte*>(tensor) + token * stride * element;
  };
  for (unsigned token = write.num_tokens; token-- > 0;) {
    TokenWrite one = write;
    one.num_tokens = 1;
    one.slots += token;
    one.tokens.keys = row(write.tokens.keys, write.tokens.key_stride, token);
    one.tokens.values = row(write.tokens.values, write.tokens.value_stride, token);
    forward_kernels->write_tokens(one);
  }
}

void copy_last_block_first(const ConcurrentCopies& copies) {
  for (unsigned i = copies.num_copies; i-- > 0;)
    forward_kernels->copy_blocks({copies.caches, copies.copies + i, 1});
}

TEST_P(CacheOperationsTest, BlocksOfALaunchMayRunInAnyOrder) {
  forward_kernels = &cache_kernels(GetParam().backend, GetParam().checking);
  const CacheKernels backward_kernels{write_last_token_first, copy_last_block_first};
  operations_.emplace(*device_, backward_kernels);
  const CacheShape shape{CacheType::f16, 6, 3, 32, 8};
  expect_equal_copies(shape, 0);
  FusedTokens tokens = normal_tokens(ScalarType::f16, 7, shape);
  expect_equal_writes(shape, tokens, {-1, 5, 47, 31, 0, 5, 47}, 1, 1, 0);
}

TEST_P(CacheOperationsTest, SwapsBlocksOutAndIn) {
  const std::vector<BlockCopy> out = {{5, 0}, {1, 2}, {3, 3}};
  const std::vector<BlockCopy> in = {{3, 0}, {0, 1}, {2, 4}, {2, 5}};
  for_each_shape([&](const CacheShape& shape) {
    for (int gap : {0, 16}) {
      HostCaches expected(shape);  // of the device
      const GappedCaches caches(*device_, expected, {gap, gap});
      CacheShape pool = shape;
      pool.num_blocks = 4;
      HostCaches host(pool, 5), expected_host(pool, 5);

      operations_->swap_out(caches.paged(), host.paged(), out);
      swap_blocks(expected.pair(), expected_host.pair(), out);
      EXPECT_EQ(caches.difference(expected), "") << text(shape) + " after swap_out";
      EXPECT_EQ(std::memcmp(host.keys.data(), expected_host.keys.data(), pool.bytes_of_one()), 0);
      EXPECT_EQ(std::memcmp(host.values.data(), expected_host.values.data(), pool.bytes_of_one()),
                0);

      operations_->swap_in(host.paged(), caches.paged(), in);
      swap_blocks(expected_host.pair(), expected.pair(), in);
      EXPECT_EQ(caches.difference(expected), "") << text(shape) + " after swap_in";
    }
  });
}

// ---- split view ------------------------------------------------------------------------------
TEST_P(CacheOperationsTest, OneAllocationIsAllKeysAndThenAllValues) {
  for_each_shape([&](const CacheShape& shape) {
    HostCaches host(shape);
    GuardedBuffer both(*device_, 2 * shape.bytes_of_one(), "both caches");
    Bytes content(2 * shape.bytes_of_one());
    const auto image = [&] {
      std::memcpy(content.data(), host.keys.data(), shape.bytes_of_one());
      std::memcpy(content.data() + shape.bytes_of_one(), host.values.data(), shape.bytes_of_one());
      return content.data();
    };
    both.upload(image());

    const PagedCaches view = split_view(shape, both.data());
    EXPECT_EQ(view.key_cache, both.data());
    EXPECT_EQ(view.key_strides.block_stride, 3LL * shape.head_size * shape.block_size);
    EXPECT_EQ(view.value_strides.head_stride, 1LL * shape.head_size * shape.block_size);

    const ScalarType scalar = shape.type == CacheType::f32    ? ScalarType::f32
                              : shape.type == CacheType::bf16 ? ScalarType::bf16
                                                              : ScalarType::f16;
    FusedTokens tokens = normal_tokens(scalar, 2, shape);
    const std::vector<std::int64_t> slots = {0, shape.num_blocks * shape.block_size - 1};
    const std::vector<BlockCopy> copies = {{0, 3}, {5, 1}};
    operations_->write_tokens(view, tokens.upload(*device_), slots);
    operations_->copy_blocks(view, copies);
    write_tokens(host.pair(), tokens.keys, tokens.values, slots);
    copy_blocks(host.pair(), copies);
    EXPECT_FALSE(both.differs_from(image())) << text(shape);
    EXPECT_EQ(both.damage(), "");
  });
}

// ---- refusals --------------------------------------------------------------------------------
std::string message_of(const std::function<void()>& request) {
  try {
    request();
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST_P(CacheOperationsTest, RefusesWrongRequestsInOneLineAndTouchesNothing) {
  const CacheShape shape{CacheType::f16, 4, 2, 64, 16};
  HostCaches host(shape);
  const GappedCaches caches(*device_, host);
  FusedTokens tokens = normal_tokens(ScalarType::f16, 2, shape);
  const TokenTensors good = tokens.upload(*device_);
  const auto at = [](const void* address, int bytes) {
    return const_cast<std::byte*>(static_cast<const std::byte*>(address) + bytes);
  };

  struct Wrong {
    std::function<void(PagedCaches&, TokenTensors&, std::vector<std::int64_t>&, float&)> change;
    const char* message;
  };
  const Wrong wrongs[] = {
      {[](auto& c, auto&, auto&, auto&) { c.key_cache = nullptr; }, "key_cache is a null pointer"},
      {[](auto&, auto& t, auto&, auto&) { t.values = nullptr; }, "values is a null pointer"},
      {[&](auto&, auto& t, auto&, auto&) { t.keys = at(t.keys, 2); },
       "keys is misaligned: its address is 2 past a multiple of 16 bytes"},
      {[&](auto& c, auto&, auto&, auto&) { c.value_cache = at(c.value_cache, 8); },
       "value_cache is misaligned: its address is 8 past a multiple of 16 bytes"},
      {[](auto& c, auto&, auto&, auto&) { c.shape.num_kv_heads = 0; },
       "num_kv_heads is 0; it must be at least 1"},
      {[](auto& c, auto&, auto&, auto&) { c.shape.block_size = -16; },
       "block_size is -16; it must be at least 1"},
      {[](auto& c, auto&, auto&, auto&) { c.shape.num_blocks = -1; },
       "num_blocks is -1; it must be at least 0"},
      {[](auto& c, auto&, auto&, auto&) { c.shape.num_kv_heads = 65536; },
       "key_block_stride is 2048; it must be at least 67108864"},
      {[](auto& c, auto&, auto&, auto&) { c.key_strides.head_stride = 1023; },
       "key_head_stride is 1023; it must be at least 1024"},
      {[](auto& c, auto&, auto&, auto&) { c.value_strides.block_stride = 2050; },
       "value_block_stride is 2050; it must be a multiple of 8 (16 bytes)"},
      {[](auto&, auto& t, auto&, auto&) { t.key_stride = 127; },
       "key_stride is 127; it must be at least 128"},
      {[](auto&, auto& t, auto&, auto&) { t.type = ScalarType::f32; },
       "tokens of type f32 cannot be written to a cache of type f16: the cache must have their "
       "type, or e4m3 or e5m2"},
      {[](auto&, auto&, auto& s, auto&) {
         s = {5, 64};
       },
       "the slot of token 1 is 64, but the cache has 4 blocks (0 to 3) of 16 slots: it must be "
       "below 64, or -1 to skip the token"},
      {[](auto&, auto&, auto& s, auto&) {
         s = {-2, 5};
       },
       "the slot of token 0 is -2, but the cache has 4 blocks (0 to 3) of 16 slots: it must be "
       "below 64, or -1 to skip the token"},
      {[](auto&, auto&, auto&, auto& scale) { scale = 0; },
       "k_scale is 0: it must be finite and positive"},
  };
  for (const Wrong& wrong : wrongs) {
    PagedCaches c = caches.paged();
    TokenTensors t = good;
    std::vector<std::int64_t> slots = {5, 31};
    float scale = 1;
    wrong.change(c, t, slots, scale);
    EXPECT_EQ(message_of([&] { operations_->write_tokens(c, t, slots, scale); }), wrong.message);
  }

  const std::vector<BlockCopy> reads_past = {{0, 1}, {4, 1}}, writes_before = {{0, -1}};
  EXPECT_EQ(message_of([&] { operations_->copy_blocks(caches.paged(), reads_past); }),
            "copy 1 reads block 4, but the cache has 4 blocks (0 to 3)");
  EXPECT_EQ(message_of([&] { operations_->copy_blocks(caches.paged(), writes_before); }),
            "copy 0 writes block -1, but the cache has 4 blocks (0 to 3)");
  EXPECT_EQ(caches.difference(host), "") << "after refusals";
}

TEST_P(CacheOperationsTest, RefusesWrongSwapsAndViews) {
  const CacheShape shape{CacheType::f16, 4, 2, 64, 16};
  HostCaches expected(shape);
  const GappedCaches caches(*device_, expected);
  CacheShape pool = shape;
  pool.num_blocks = 2;
  HostCaches host(pool, 5);
  const std::vector<BlockCopy> copies = {{0, 1}, {3, 2}};
  EXPECT_EQ(message_of([&] { operations_->swap_out(caches.paged(), host.paged(), copies); }),
            "copy 1 writes block 2, but the cache has 2 blocks (0 to 1)");
  EXPECT_EQ(message_of([&] { operations_->swap_in(host.paged(), caches.paged(), copies); }),
            "copy 1 reads block 3, but the cache has 2 blocks (0 to 1)");
  PagedCaches none = host.paged();
  none.value_cache = nullptr;
  EXPECT_EQ(message_of([&] { operations_->swap_out(caches.paged(), none, {}); }),
            "host value_cache is a null pointer");
  CacheShape bf16 = pool;
  bf16.type = CacheType::bf16;
  HostCaches other(bf16);
  EXPECT_EQ(message_of([&] { operations_->swap_out(caches.paged(), other.paged(), {}); }),
            "blocks [num_kv_heads, head_size, block_size] are [2, 64, 16] of f16 on the device and "
            "[2, 64, 16] of bf16 on the host: they must be equal");
  EXPECT_EQ(caches.difference(expected), "") << "after refusals";

  EXPECT_EQ(message_of([&] { split_view(shape, nullptr); }),
            "the allocation of both caches is a null pointer");
  CacheShape impossible{CacheType::e4m3, 4, 2, 120, 16};
  EXPECT_EQ(
      message_of([&] { split_view(impossible, caches.keys.data()); }),
      "head_size 120 cannot be stored in an e4m3 cache: it must be a multiple of 16 (16 bytes "
      "of cache elements)");
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, CacheOperationsTest, ::testing::ValuesIn(kEveryPlace),
                         [](const auto& test) { return name_of(test.param); });

}  // namespace
}  // namespace paged
