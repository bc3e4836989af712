// The double-precision reference: worked examples, hand-computed cases, a plain loop written from
// the formula, and the isolation properties bit for bit.
#include "reference/decode_attention.h"

#include "reference/cache_layout.h"
#include "tests/reference/logical_tokens.h"
#include "tests/reference/not_finite.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace paged {
namespace {

using testing::fill_with_exact_values;
using testing::key_of_token;
using testing::kInfinity;
using testing::kNaN;
using testing::Layout;
using testing::value_of_token;
using testing::zero_problem;

// ---- the formula as a plain loop -------------------------------------------------------------
struct PlainAttention {
  std::vector<long double> logits, weights, output;
  long double maximum = -std::numeric_limits<long double>::infinity();
  long double sum = 0;
  long double lse = -std::numeric_limits<long double>::infinity();
};

/// The KV head of a query head by counting: heads are dealt out in equal runs.
int kv_head_by_counting(const DecodeProblem& p, int head) {
  int kv_head = 0;
  for (int members = p.num_heads / p.num_kv_heads; head >= members; head -= members) ++kv_head;
  return kv_head;
}

/// Whether block-sparse attention keeps a token (PAGED_ATTENTION.md, block-sparse variant).
bool keeps(const DecodeProblem& p, int length, int token, int head, int kv_head) {
  const BlockSparsity& s = p.sparsity;
  if (s.vert_stride <= 1) return true;
  const int kb = (token / p.block_size) * p.block_size / s.block_size;
  const int last = (length - 1) / s.block_size;
  const int by_head = (s.tensor_parallel_rank * p.num_heads + head) * s.head_sliding_step + 1;
  const int by_kv =
      (s.tensor_parallel_rank * p.num_kv_heads + kv_head) * (-s.head_sliding_step) + 1;
  const int offset = s.head_sliding_step >= 0 ? by_head : by_kv;
  return (kb + offset) % s.vert_stride == 0 || kb > last - s.local_blocks;
}

PlainAttention plain_attention(const DecodeProblem& p, int seq, int head) {
  const bool fp8 = p.key_cache.size_in_bytes() == static_cast<std::size_t>(p.key_cache.size());
  const long double k_scale = fp8 ? p.k_scale : 1.0F;
  const long double v_scale = fp8 ? p.v_scale : 1.0F;
  const int length = p.seq_lens[static_cast<std::size_t>(seq)];
  const int kv_head = kv_head_by_counting(p, head);
  PlainAttention a;
  a.output.assign(static_cast<std::size_t>(p.head_size), 0);
  for (int t = 0; t < length; ++t) {
    long double dot = 0;
    for (int i = 0; i < p.head_size; ++i)
      dot += static_cast<long double>(p.query.read((seq * p.num_heads + head) * p.head_size + i)) *
             p.key_cache.read(key_of_token(p, seq, t, kv_head, i)) * k_scale;
    long double logit = p.scale * dot;
    if (!p.alibi_slopes.empty())
      logit += static_cast<long double>(p.alibi_slopes[static_cast<std::size_t>(head)]) *
               (t - (length - 1));
    if (!keeps(p, length, t, head, kv_head)) logit = -std::numeric_limits<long double>::infinity();
    a.logits.push_back(logit);
    a.maximum = std::max(a.maximum, logit);
  }
  for (const long double logit : a.logits)
    a.sum += std::isinf(logit) ? 0 : std::exp(logit - a.maximum);
  for (int t = 0; t < length; ++t) {
    const long double logit = a.logits[static_cast<std::size_t>(t)];
    const long double weight =
        std::isinf(logit) ? 0 : std::exp(logit - a.maximum) / (a.sum + 1e-6L);
    a.weights.push_back(weight);
    for (int i = 0; i < p.head_size; ++i)
      a.output[static_cast<std::size_t>(i)] +=
          weight * p.value_cache.read(value_of_token(p, seq, t, kv_head, i)) * v_scale;
  }
  if (a.sum > 0) a.lse = a.maximum + std::log(a.sum);
  return a;
}

/// Equal infinities, or nearer than 1e-12 of `magnitude`: thousands of times double's rounding and
/// a thousandth of float's.
void expect_near(double actual, long double expected, double magnitude, const std::string& what) {
  if (std::isinf(expected)) {
    EXPECT_EQ(actual, static_cast<double>(expected)) << what;
  } else {
    EXPECT_LE(std::abs(actual - expected), 1e-12L * magnitude)
        << what << ": " << actual << " instead of " << static_cast<double>(expected);
  }
}

void expect_matches_plain_loop(const DecodeProblem& p) {
  ASSERT_NO_THROW(p.validate());
  const std::vector<HeadAttention> all = decode_attention(p);
  ASSERT_EQ(all.size(), static_cast<std::size_t>(p.num_seqs() * p.num_heads));
  for (int seq = 0; seq < p.num_seqs(); ++seq)
    for (int head = 0; head < p.num_heads; ++head) {
      const HeadAttention& actual = all[static_cast<std::size_t>(seq * p.num_heads + head)];
      const PlainAttention expected = plain_attention(p, seq, head);
      const std::string where = "seq " + std::to_string(seq) + " head " + std::to_string(head);
      ASSERT_EQ(actual.logits.size(), p.seq_lens[static_cast<std::size_t>(seq)]) << where;
      ASSERT_EQ(actual.weights.size(), p.seq_lens[static_cast<std::size_t>(seq)]) << where;
      ASSERT_EQ(actual.output.size(), p.head_size) << where;
      double largest = 1;
      for (const long double l : expected.logits)
        if (std::isfinite(l)) largest = std::max(largest, static_cast<double>(std::abs(l)));
      for (std::size_t t = 0; t < expected.logits.size(); ++t) {
        const std::string token = where + " token " + std::to_string(t);
        const auto i = static_cast<Eigen::Index>(t);
        expect_near(actual.logits[i], expected.logits[t], largest, token + " logit");
        expect_near(actual.weights[i], expected.weights[t], largest, token + " weight");
        EXPECT_GE(actual.weights[i], 0) << token;
      }
      expect_near(actual.maximum, expected.maximum, largest, where + " maximum");
      expect_near(actual.sum, expected.sum, largest * std::max(1.0, actual.sum), where + " sum");
      expect_near(actual.lse, expected.lse, largest, where + " lse");
      for (std::size_t i = 0; i < expected.output.size(); ++i)
        expect_near(actual.output[static_cast<Eigen::Index>(i)], expected.output[i], 100 * largest,
                    where + " output " + std::to_string(i));
    }
}

// ---- bitwise comparison ----------------------------------------------------------------------
bool same_bits(const Eigen::VectorXd& a, const Eigen::VectorXd& b) {
  return a.size() == b.size() &&
         (a.size() == 0 || std::memcmp(a.data(), b.data(),
                                       static_cast<std::size_t>(a.size()) * sizeof(double)) == 0);
}
bool same_bits(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }

void expect_same_bits(const HeadAttention& a, const HeadAttention& b, const std::string& where) {
  EXPECT_TRUE(same_bits(a.logits, b.logits)) << where << " logits";
  EXPECT_TRUE(same_bits(a.weights, b.weights)) << where << " weights";
  EXPECT_TRUE(same_bits(a.output, b.output)) << where << " output";
  EXPECT_TRUE(same_bits(a.maximum, b.maximum)) << where << " maximum";
  EXPECT_TRUE(same_bits(a.sum, b.sum)) << where << " sum";
  EXPECT_TRUE(same_bits(a.lse, b.lse)) << where << " lse";
}

void expect_same_bits(const DecodeProblem& a, const DecodeProblem& b) {
  const std::vector<HeadAttention> first = decode_attention(a), second = decode_attention(b);
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t i = 0; i < first.size(); ++i)
    expect_same_bits(first[i], second[i], "head " + std::to_string(i));
}

bool is_all_finite(const HeadAttention& a) {
  return a.logits.allFinite() && a.weights.allFinite() && a.output.allFinite() &&
         std::isfinite(a.maximum) && std::isfinite(a.sum) && std::isfinite(a.lse);
}

/// Three sequences over two KV heads, one page partly filled, some blocks free.
Layout mixed_layout() {
  Layout layout;
  layout.seq_lens = {19, 0, 8};
  layout.tables = {{3, 8, 1}, {}, {5}};
  layout.num_blocks = 10;
  return layout;
}

DecodeProblem mixed_problem(const Layout& layout = mixed_layout(), unsigned seed = 11) {
  DecodeProblem p = zero_problem(layout);
  fill_with_exact_values(p, seed);
  p.scale = 0.25F;
  return p;
}

/// One head of size 4 in f32, one sequence, key and value of a token given by their first element.
DecodeProblem tiny_problem(const std::vector<double>& logits, const std::vector<double>& values) {
  Layout layout;
  layout.num_heads = layout.num_kv_heads = 1;
  layout.head_size = 4;
  layout.block_size = 2;
  layout.seq_lens = {static_cast<int>(logits.size())};
  layout.table_width = static_cast<int>(logits.size() + 1) / 2;
  layout.num_blocks = layout.table_width + 1;
  layout.tables = {{}};
  for (int i = 0; i < layout.table_width; ++i) layout.tables[0].push_back(layout.table_width - i);
  DecodeProblem p = zero_problem(layout);
  p.query.write(0, 1);
  for (int t = 0; t < layout.seq_lens[0]; ++t) {
    p.key_cache.write(key_of_token(p, 0, t, 0, 0), logits[static_cast<std::size_t>(t)]);
    p.value_cache.write(value_of_token(p, 0, t, 0, 0), values[static_cast<std::size_t>(t)]);
  }
  return p;
}

// ---- worked examples -------------------------------------------------------------------------
DecodeProblem worked_example_one() {
  Layout layout;
  layout.num_heads = 8;
  layout.num_kv_heads = 2;
  layout.head_size = 128;
  layout.block_size = 16;
  layout.scalar = ScalarType::f16;
  layout.cache = CacheType::f16;
  layout.seq_lens = {35};
  layout.tables = {{7, 2, 9}};
  layout.num_blocks = 12;
  return zero_problem(layout);
}

TEST(WorkedExamples, OneReadsThreeBlocksOfKvHeadOne) {
  DecodeProblem p = worked_example_one();
  fill_with_exact_values(p, 5);
  p.scale = 0.08838834764F;
  EXPECT_EQ(num_pages(35, 16), 3);
  EXPECT_EQ(35 - 2 * 16, 3);  // valid tokens in the last page
  EXPECT_EQ(kv_head_of(5, 8, 2), 1);
  expect_matches_plain_loop(p);
}

TEST(WorkedExamples, OneGathersItsTokensFromBlocksSevenTwoNine) {
  DecodeProblem p = worked_example_one();
  const int table[] = {7, 2, 9};
  for (int t = 0; t < 35; ++t)  // values that say which token and dimension they are
    for (int i = 0; i < 128; ++i) {
      p.key_cache.write(testing::key_position(p, table[t / 16], 1, t % 16, i), t + i / 128.0);
      p.value_cache.write(testing::value_position(p, table[t / 16], 1, t % 16, i), -t);
    }
  const GatheredKv kv = gather(p, 0, 1);
  ASSERT_EQ(kv.keys.rows(), 35);
  ASSERT_EQ(kv.keys.cols(), 128);
  ASSERT_EQ(kv.values.rows(), 35);
  ASSERT_EQ(kv.values.cols(), 128);
  for (int t = 0; t < 35; ++t)
    for (int i = 0; i < 128; ++i) {
      ASSERT_NEAR(kv.keys(t, i), t + i / 128.0, 1.0 / 64);  // f16 holds 2^-5 steps at 32
      ASSERT_EQ(kv.values(t, i), -t);
    }
}

TEST(WorkedExamples, ThreeFindsTokenSixteenInPhysicalBlockTwo) {
  Layout layout;
  layout.num_heads = layout.num_kv_heads = 1;
  layout.head_size = 64;
  layout.block_size = 16;
  layout.scalar = ScalarType::f16;
  layout.cache = CacheType::f16;
  layout.seq_lens = {17};
  layout.tables = {{7, 2}};
  layout.num_blocks = 8;
  DecodeProblem p = zero_problem(layout);
  p.value_cache.write(testing::value_position(p, 2, 0, 0, 40), 3.0);
  p.key_cache.write(testing::key_position(p, 2, 0, 0, 63), -2.0);
  const GatheredKv kv = gather(p, 0, 0);
  EXPECT_EQ(kv.values(16, 40), 3.0);
  EXPECT_EQ(kv.keys(16, 63), -2.0);
  EXPECT_EQ(kv.values.cwiseAbs().sum(), 3.0);
  EXPECT_EQ(kv.keys.cwiseAbs().sum(), 2.0);
}

// ---- hand-computed cases ---------------------------------------------------------------------
TEST(DecodeAttention, TwoTokensByHand) {
  // Logits 0 and ln 3: u = 1/3, 1; S = 4/3.
  const double ln3 = static_cast<double>(1.0986123F);  // what the f32 cache holds
  const HeadAttention a = decode_attention(tiny_problem({0, ln3}, {8, -4}))[0];
  const double u = std::exp(-ln3), guarded = 1 + u + 1e-6;
  EXPECT_EQ(a.logits[0], 0);
  EXPECT_EQ(a.logits[1], ln3);
  EXPECT_EQ(a.maximum, ln3);
  EXPECT_NEAR(a.sum, 4.0 / 3, 1e-7);
  EXPECT_NEAR(a.sum, 1 + u, 1e-15);
  EXPECT_NEAR(a.weights[0], u / guarded, 1e-15);
  EXPECT_NEAR(a.weights[1], 1 / guarded, 1e-15);
  EXPECT_NEAR(a.lse, std::log(4.0), 1e-7);
  EXPECT_NEAR(a.output[0], (8 * u - 4) / guarded, 1e-14);
  EXPECT_EQ(a.output[1], 0);
}

TEST(DecodeAttention, ASingleTokenGivesItsValueOverOnePlusTheGuard) {
  const HeadAttention a = decode_attention(tiny_problem({-2.5}, {3}))[0];
  EXPECT_EQ(a.sum, 1);
  EXPECT_EQ(a.maximum, -2.5);
  EXPECT_EQ(a.lse, -2.5);
  EXPECT_NEAR(a.weights[0], 1 / (1 + 1e-6), 1e-16);
  EXPECT_NEAR(a.output[0], 3 / (1 + 1e-6), 1e-15);
}

TEST(DecodeAttention, TheGuardIsInTheDenominatorNotInTheSum) {
  EXPECT_EQ(kDenominatorGuard, 1e-6);
  const HeadAttention a = decode_attention(tiny_problem({1, 1, 1}, {1, 1, 1}))[0];
  EXPECT_EQ(a.sum, 3);
  EXPECT_NEAR(a.weights.sum(), 3 / (3 + 1e-6), 1e-15);
}

TEST(DecodeAttention, EqualLogitsGiveTheMean) {  // BUGS.md 7
  for (const double logit : {0.0, -20.0, 7.0}) {
    const HeadAttention a =
        decode_attention(tiny_problem(std::vector<double>(5, logit), {1, 2, 3, 4, 10}))[0];
    EXPECT_EQ(a.sum, 5);
    EXPECT_NEAR(a.output[0], 20.0 / (5 + 1e-6), 1e-14) << logit;
    EXPECT_NEAR(a.lse, logit + std::log(5.0), 1e-14);
  }
}

TEST(DecodeAttention, ConstantValuesGiveTheConstantTimesTheMass) {
  const HeadAttention a = decode_attention(tiny_problem({0, 3, -1, 2}, {7, 7, 7, 7}))[0];
  EXPECT_NEAR(a.output[0], 7 * a.sum / (a.sum + 1e-6), 1e-14);
}

TEST(DecodeAttention, HugeLogitsStayFinite) {  // BUGS.md 14
  for (const double logit : {-6e4, 1e4, 3e38, -3e38}) {
    const HeadAttention a = decode_attention(tiny_problem({logit, logit}, {1, 3}))[0];
    EXPECT_TRUE(is_all_finite(a)) << logit;
    EXPECT_EQ(a.maximum, static_cast<double>(static_cast<float>(logit)));
    EXPECT_EQ(a.sum, 2);
    EXPECT_NEAR(a.output[0], 4 / (2 + 1e-6), 1e-15);
  }
  const HeadAttention one_hot = decode_attention(tiny_problem({-6e4, 1e4, 0}, {5, 6, 7}))[0];
  EXPECT_TRUE(is_all_finite(one_hot));
  EXPECT_EQ(one_hot.sum, 1);
  EXPECT_EQ(one_hot.weights[0], 0);
  EXPECT_NEAR(one_hot.output[0], 6 / (1 + 1e-6), 1e-15);
}

TEST(DecodeAttention, AnEmptySequenceGivesZerosAndReadsNothing) {  // BUGS.md 13
  Layout layout = mixed_layout();
  layout.seq_lens = {19, 0, 0};
  layout.tables = {{3, 8, 1}, {}, {}};
  const DecodeProblem p = mixed_problem(layout);
  const std::vector<HeadAttention> all = decode_attention(p);
  for (int i = p.num_heads; i < 3 * p.num_heads; ++i) {
    const HeadAttention& a = all[static_cast<std::size_t>(i)];
    EXPECT_EQ(a.logits.size(), 0);
    EXPECT_EQ(a.weights.size(), 0);
    ASSERT_EQ(a.output.size(), p.head_size);
    EXPECT_TRUE((a.output.array() == 0).all());
    EXPECT_EQ(a.maximum, -kInfinity);
    EXPECT_EQ(a.lse, -kInfinity);
    EXPECT_EQ(a.sum, 0);
  }
  EXPECT_EQ(gather(p, 1, 0).keys.rows(), 0);
}

TEST(DecodeAttention, NoSequencesGiveNoResults) {
  Layout layout = mixed_layout();
  layout.seq_lens = {};
  layout.tables = {};
  EXPECT_TRUE(decode_attention(zero_problem(layout)).empty());
}

// ---- against the plain loop ------------------------------------------------------------------
TEST(DecodeAttention, MatchesThePlainLoopForEveryTypeAndHeadRatio) {
  struct Types {
    ScalarType scalar;
    CacheType cache;
  };
  for (const Types types : {Types{ScalarType::f32, CacheType::f32},
                            {ScalarType::f16, CacheType::f16},
                            {ScalarType::bf16, CacheType::bf16},
                            {ScalarType::f16, CacheType::e4m3},
                            {ScalarType::bf16, CacheType::e5m2},
                            {ScalarType::f32, CacheType::e4m3}})
    for (const int per_kv_head : {1, 4, 5, 7}) {
      Layout layout = mixed_layout();
      layout.scalar = types.scalar;
      layout.cache = types.cache;
      layout.num_heads = per_kv_head * layout.num_kv_heads;
      expect_matches_plain_loop(mixed_problem(layout, static_cast<unsigned>(per_kv_head)));
    }
}

TEST(DecodeAttention, MatchesThePlainLoopWithOneKvHeadForAll) {
  Layout layout = mixed_layout();
  layout.num_heads = 6;
  layout.num_kv_heads = 1;
  expect_matches_plain_loop(mixed_problem(layout));
}

TEST(DecodeAttention, MatchesThePlainLoopAtEveryLengthAroundPageEdges) {  // BUGS.md 6, 8, 10
  for (int length = 1; length <= 34; ++length) {
    Layout layout;
    layout.num_heads = 2;
    layout.num_kv_heads = 1;
    layout.block_size = 16;
    layout.num_blocks = 4;
    layout.seq_lens = {length};
    layout.table_width = (length + 15) / 16;
    layout.tables = {{3, 0, 2}};
    expect_matches_plain_loop(mixed_problem(layout, static_cast<unsigned>(length)));
  }
}

TEST(DecodeAttention, MatchesThePlainLoopForSharpDistributions) {
  DecodeProblem p = zero_problem(mixed_layout());
  fill_with_exact_values(p, 3, 64.0);
  expect_matches_plain_loop(p);
}

TEST(DecodeAttention, ScaleMultipliesTheDotProduct) {
  DecodeProblem p = mixed_problem();
  for (const float scale : {0.0F, -1.0F, 0.3F, 8.0F}) {
    p.scale = scale;
    expect_matches_plain_loop(p);
  }
}

TEST(DecodeAttention, TheAlibiBiasIsZeroAtTheLastPosition) {  // BUGS.md 20
  DecodeProblem p = mixed_problem();
  const std::vector<HeadAttention> plain = decode_attention(p);
  p.alibi_slopes = {0.5F, 0.25F, 0.70710678F, 0.0F};
  expect_matches_plain_loop(p);
  const std::vector<HeadAttention> biased = decode_attention(p);
  for (std::size_t head = 0; head < 4; ++head) {
    EXPECT_EQ(biased[head].logits[18], plain[head].logits[18]);
    const double step = static_cast<double>(p.alibi_slopes[head]);
    EXPECT_NEAR(biased[head].logits[17], plain[head].logits[17] - step, 1e-12);
    EXPECT_NEAR(biased[head].logits[0], plain[head].logits[0] - 18 * step, 1e-12);
  }
}

TEST(DecodeAttention, KeyAndValueScalesOfAnFp8CacheAreAppliedEachToItsOwn) {  // BUGS.md 19
  Layout layout = mixed_layout();
  layout.scalar = ScalarType::f16;
  for (const CacheType cache : {CacheType::e4m3, CacheType::e5m2}) {
    layout.cache = cache;
    DecodeProblem p = mixed_problem(layout);
    const std::vector<HeadAttention> unscaled = decode_attention(p);
    const GatheredKv raw = gather(p, 0, 1);
    p.k_scale = 0.25F;
    p.v_scale = 0.5F;
    expect_matches_plain_loop(p);
    EXPECT_TRUE(gather(p, 0, 1).keys == raw.keys * 0.25);
    EXPECT_TRUE(gather(p, 0, 1).values == raw.values * 0.5);
    EXPECT_NEAR(decode_attention(p)[0].logits[3], unscaled[0].logits[3] * 0.25, 1e-12);
    p.k_scale = 0.3F;
    p.v_scale = 1.7F;
    expect_matches_plain_loop(p);
  }
}

TEST(DecodeAttention, ScalesAreForFp8CachesOnly) {
  // Only an fp8 cache is dequantised by a scale; write_tokens ignores scales for the others too.
  DecodeProblem p = mixed_problem();
  const GatheredKv plain = gather(p, 0, 0);
  p.k_scale = 0.25F;
  p.v_scale = 0.5F;
  EXPECT_TRUE(gather(p, 0, 0).keys == plain.keys);
  EXPECT_TRUE(gather(p, 0, 0).values == plain.values);
}

TEST(DecodeAttention, EveryFp8CodeIsGatheredAsItsValue) {
  Layout layout;
  layout.num_heads = layout.num_kv_heads = 1;
  layout.block_size = 16;
  layout.seq_lens = {16};
  layout.tables = {{2}};
  for (const CacheType cache : {CacheType::e4m3, CacheType::e5m2}) {
    layout.cache = cache;
    DecodeProblem p = zero_problem(layout);
    p.v_scale = 2.0F;
    for (int code = 0; code < 256; ++code)
      p.value_cache.data()[value_of_token(p, 0, code / 16, 0, code % 16)] =
          static_cast<std::byte>(code);
    const GatheredKv kv = gather(p, 0, 0);
    const int mantissa_bits = cache == CacheType::e4m3 ? 3 : 2;
    const int bias = cache == CacheType::e4m3 ? 7 : 15;
    for (int code = 0; code < 128; ++code) {
      const int exponent = code >> mantissa_bits, mantissa = code & ((1 << mantissa_bits) - 1);
      const bool special = cache == CacheType::e4m3 ? code == 127 : exponent == 31;
      double value = exponent == 0 ? std::ldexp(mantissa, 1 - bias - mantissa_bits)
                                   : std::ldexp((1 << mantissa_bits) + mantissa,
                                                exponent - bias - mantissa_bits);
      if (special) value = cache == CacheType::e5m2 && mantissa == 0 ? kInfinity : kNaN;
      const double positive = kv.values(code / 16, code % 16);
      const double negative = kv.values((code + 128) / 16, code % 16);
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(positive) && std::isnan(negative)) << code;
      } else {
        EXPECT_EQ(positive, 2 * value) << code;
        EXPECT_EQ(negative, -2 * value) << code;
      }
    }
  }
}

// ---- block-sparse ----------------------------------------------------------------------------
TEST(BlockSparseAttention, MatchesThePlainLoopForAllParameters) {
  Layout layout = mixed_layout();
  layout.seq_lens = {61, 0, 8};
  layout.tables = {{3, 8, 1, 0, 2, 9, 6, 4}, {}, {5}};
  layout.table_width = 8;
  DecodeProblem p = mixed_problem(layout);
  for (const int local_blocks : {0, 1, 3})
    for (const int vert_stride : {2, 3, 5})
      for (const int block_size : {8, 16})
        for (const int step : {-2, -1, 0, 1})
          for (const int rank : {0, 2}) {
            p.sparsity = {local_blocks, vert_stride, block_size, step, rank};
            expect_matches_plain_loop(p);
          }
}

TEST(BlockSparseAttention, LeftOutTokensHaveNoWeightAndTheirContentDoesNotMatter) {
  Layout layout = mixed_layout();
  layout.seq_lens = {32};
  layout.tables = {{3, 8, 1, 0}};
  DecodeProblem p = mixed_problem(layout);
  p.sparsity = {.local_blocks = 1, .vert_stride = 3, .block_size = 8};  // keeps pages 2 and 3
  DecodeProblem poisoned = p;
  for (int t = 0; t < 16; ++t)
    for (int kv_head = 0; kv_head < 2; ++kv_head)
      for (int i = 0; i < p.head_size; ++i) {
        poisoned.key_cache.write(key_of_token(p, 0, t, kv_head, i), kNaN);
        poisoned.value_cache.write(value_of_token(p, 0, t, kv_head, i), kNaN);
      }
  expect_same_bits(p, poisoned);
  for (const HeadAttention& a : decode_attention(poisoned))
    for (int t = 0; t < 32; ++t) {
      if (t < 16) {
        EXPECT_EQ(a.logits[t], -kInfinity) << t;
        EXPECT_EQ(a.weights[t], 0) << t;
      } else {
        EXPECT_TRUE(std::isfinite(a.logits[t])) << t;
        EXPECT_GT(a.weights[t], 0) << t;
      }
    }
}

TEST(BlockSparseAttention, ASequenceWithEveryTokenLeftOutIsLikeAnEmptyOne) {  // BUGS.md 12
  Layout layout = mixed_layout();
  layout.seq_lens = {5};
  layout.tables = {{3}};
  DecodeProblem p = mixed_problem(layout);
  p.sparsity = {.local_blocks = 0, .vert_stride = 8, .block_size = 8};
  for (const HeadAttention& a : decode_attention(p)) {
    EXPECT_TRUE((a.output.array() == 0).all());
    EXPECT_TRUE((a.weights.array() == 0).all());
    EXPECT_TRUE((a.logits.array() == -kInfinity).all());
    EXPECT_EQ(a.sum, 0);
    EXPECT_EQ(a.maximum, -kInfinity);
    EXPECT_EQ(a.lse, -kInfinity);
  }
}

// ---- isolation -------------------------------------------------------------------------------
TEST(Isolation, RenamingPhysicalBlocksChangesNoBit) {  // BUGS.md 24
  for (const CacheType cache : {CacheType::f32, CacheType::e4m3}) {
    Layout layout = mixed_layout();
    layout.cache = cache;
    const DecodeProblem p = mixed_problem(layout);
    for (const std::vector<std::vector<int>>& tables :
         {std::vector<std::vector<int>>{{0, 1, 2}, {}, {3}},
          {{9, 7, 8}, {}, {0}},
          {{1, 8, 3}, {}, {2}}}) {
      layout.tables = tables;
      expect_same_bits(p, mixed_problem(layout));  // same seed: same logical tokens
    }
  }
}

TEST(Isolation, PaddingOfTheTableChangesNoBit) {
  const DecodeProblem p = mixed_problem();
  Layout layout = mixed_layout();
  for (const int padding : {std::numeric_limits<int>::max(), std::numeric_limits<int>::min(), 5}) {
    layout.table_padding = padding;
    layout.table_width = 7;
    expect_same_bits(p, mixed_problem(layout));
  }
}

/// Overwrites every cache element that `is_own` does not claim, keys and values.
void poison_all_but(DecodeProblem& p, double poison,
                    const std::function<bool(int block, int kv_head, int offset)>& is_own) {
  for (int block = 0; block < p.num_blocks(); ++block)
    for (int kv_head = 0; kv_head < p.num_kv_heads; ++kv_head)
      for (int offset = 0; offset < p.block_size; ++offset) {
        if (is_own(block, kv_head, offset)) continue;
        for (int i = 0; i < p.head_size; ++i) {
          p.key_cache.write(testing::key_position(p, block, kv_head, offset, i), poison);
          p.value_cache.write(testing::value_position(p, block, kv_head, offset, i), poison);
        }
      }
}

TEST(Isolation, TailSlotsAndOtherBlocksChangeNoBit) {  // BUGS.md 1, 3, 4
  for (const double poison : {kNaN, kInfinity, -kInfinity, 1e4}) {
    const DecodeProblem p = mixed_problem();
    DecodeProblem poisoned = p;
    poison_all_but(poisoned, poison, [](int block, int, int offset) {
      return block == 3 || block == 8 || (block == 1 && offset < 3) || block == 5;
    });
    expect_same_bits(p, poisoned);
  }
}

TEST(Isolation, AHeadReadsItsOwnKvHeadOnly) {
  const DecodeProblem p = mixed_problem();
  const std::vector<HeadAttention> clean = decode_attention(p);
  for (int own = 0; own < 2; ++own) {
    DecodeProblem poisoned = p;
    poison_all_but(poisoned, kNaN, [own](int, int kv_head, int) { return kv_head == own; });
    const std::vector<HeadAttention> all = decode_attention(poisoned);
    for (const int seq : {0, 2})
      for (int head = 2 * own; head < 2 * own + 2; ++head) {
        const auto i = static_cast<std::size_t>(seq * 4 + head);
        expect_same_bits(all[i], clean[i], "seq " + std::to_string(seq));
      }
  }
}

TEST(Isolation, ASequenceAloneHasTheSameBitsAsInABatch) {  // BUGS.md 23
  const DecodeProblem batch = mixed_problem();
  DecodeProblem alone = batch;
  alone.seq_lens = {8};
  alone.block_tables.erase(alone.block_tables.begin(), alone.block_tables.begin() + 8);
  alone.query = Tensor(CacheType::f32, {1, 4, 16});
  for (std::int64_t i = 0; i < 64; ++i) alone.query.copy_element(i, batch.query, 128 + i);
  alone.validate();
  const std::vector<HeadAttention> together = decode_attention(batch),
                                   single = decode_attention(alone);
  ASSERT_EQ(single.size(), 4U);
  for (std::size_t head = 0; head < 4; ++head)
    expect_same_bits(single[head], together[8 + head], "head " + std::to_string(head));
}

TEST(Isolation, NaNInAnOwnKeySpoilsTheWholeHead) {
  const DecodeProblem p = mixed_problem();
  const std::vector<HeadAttention> clean = decode_attention(p);
  for (const int token : {0, 7, 18}) {
    DecodeProblem spoiled = p;
    spoiled.key_cache.write(key_of_token(p, 0, token, 1, 9), kNaN);
    const std::vector<HeadAttention> all = decode_attention(spoiled);
    for (const std::size_t head : {2U, 3U}) {
      EXPECT_TRUE(std::isnan(all[head].logits[token])) << token;
      EXPECT_TRUE(all[head].output.array().isNaN().all()) << token;
      EXPECT_TRUE(std::isnan(all[head].sum)) << token;
      EXPECT_TRUE(std::isnan(all[head].lse)) << token;
    }
    expect_same_bits(all[0], clean[0], "the other KV head");
    expect_same_bits(all[8], clean[8], "the other sequence");
  }
}

TEST(Isolation, NaNInAnOwnValueSpoilsItsDimensionOnly) {
  const DecodeProblem p = mixed_problem();
  const std::vector<HeadAttention> clean = decode_attention(p);
  DecodeProblem spoiled = p;
  spoiled.value_cache.write(value_of_token(p, 0, 18, 0, 5), kNaN);
  const std::vector<HeadAttention> all = decode_attention(spoiled);
  EXPECT_TRUE(same_bits(all[0].logits, clean[0].logits));
  EXPECT_TRUE(same_bits(all[0].weights, clean[0].weights));
  for (int i = 0; i < p.head_size; ++i) {
    if (i == 5) {
      EXPECT_TRUE(std::isnan(all[0].output[i]));
    } else {
      EXPECT_TRUE(same_bits(all[0].output[i], clean[0].output[i])) << i;
    }
  }
}

TEST(Isolation, NaNInAQuerySpoilsItsHeadOnly) {
  const DecodeProblem p = mixed_problem();
  const std::vector<HeadAttention> clean = decode_attention(p);
  DecodeProblem spoiled = p;
  spoiled.query.write(1 * 16 + 3, kNaN);
  const std::vector<HeadAttention> all = decode_attention(spoiled);
  EXPECT_TRUE(all[1].output.array().isNaN().all());
  expect_same_bits(all[0], clean[0], "head 0");
  expect_same_bits(all[2], clean[2], "head 2");
}

TEST(Isolation, AnInfiniteValueReachesTheOutput) {
  DecodeProblem p = mixed_problem();
  p.value_cache.write(value_of_token(p, 0, 4, 0, 2), kInfinity);
  EXPECT_EQ(decode_attention(p)[0].output[2], kInfinity);
  EXPECT_TRUE(std::isfinite(decode_attention(p)[0].output[3]));
}

// ---- the parts agree with the whole ----------------------------------------------------------
TEST(DecodeAttention, AttendOfGatheredTokensIsTheEntryOfTheWhole) {
  const DecodeProblem p = mixed_problem();
  const std::vector<HeadAttention> all = decode_attention(p);
  for (int seq = 0; seq < 3; ++seq)
    for (int head = 0; head < 4; ++head)
      expect_same_bits(attend(p, gather(p, seq, head / 2), seq, head),
                       all[static_cast<std::size_t>(seq * 4 + head)], "entry");
}

// ---- partitions --------------------------------------------------------------------------------
/// Maximum, sum and output over tokens [first, end), from the plain loop's logits.
void expect_partition_by_plain_loop(const DecodeProblem& p, int seq, int head, int first, int end) {
  const int kv_head = kv_head_by_counting(p, head);
  const GatheredKv kv = gather(p, seq, kv_head);
  const HeadAttention partition =
      attend_partition(p, kv, attend(p, kv, seq, head), seq, head, first, end);
  const std::vector<long double> logits = plain_attention(p, seq, head).logits;
  const std::string where = "seq " + std::to_string(seq) + " head " + std::to_string(head) +
                            " tokens " + std::to_string(first) + " to " + std::to_string(end);
  const auto logit = [&](int t) { return logits[static_cast<std::size_t>(t)]; };
  long double maximum = -std::numeric_limits<long double>::infinity();
  for (int t = first; t < end; ++t) maximum = std::max(maximum, logit(t));
  long double sum = 0;
  for (int t = first; t < end; ++t) sum += std::isinf(logit(t)) ? 0 : std::exp(logit(t) - maximum);
  ASSERT_EQ(partition.logits.size(), end - first) << where;
  expect_near(partition.maximum, maximum, 100, where + " maximum");
  expect_near(partition.sum, sum, 100, where + " sum");
  expect_near(partition.lse, sum > 0 ? maximum + std::log(sum) : maximum, 100, where + " lse");
  for (int i = 0; i < p.head_size; ++i) {
    long double output = 0;
    for (int t = first; t < end; ++t)
      if (!std::isinf(logit(t)))
        output += std::exp(logit(t) - maximum) / (sum + 1e-6L) *
                  p.value_cache.read(value_of_token(p, seq, t, kv_head, i));
    expect_near(partition.output[i], output, 100, where + " output " + std::to_string(i));
  }
}

Layout partitioned_layout() {
  Layout layout;
  layout.seq_lens = {61, 8};
  layout.tables = {{3, 1, 9, 0, 7, 5, 2, 4}, {6}};
  layout.num_blocks = 10;
  layout.table_width = 8;
  return layout;
}

void expect_partitions_by_plain_loop(const DecodeProblem& p) {
  for (int seq = 0; seq < p.num_seqs(); ++seq)
    for (int head = 0; head < p.num_heads; ++head)
      for (const int size : {8, 24, 64})
        for (int first = 0; first < p.seq_lens[static_cast<std::size_t>(seq)]; first += size)
          expect_partition_by_plain_loop(
              p, seq, head, first,
              std::min(first + size, p.seq_lens[static_cast<std::size_t>(seq)]));
}

TEST(AttendPartition, MatchesThePlainLoopOverItsTokens) {
  DecodeProblem p = mixed_problem(partitioned_layout());
  expect_partitions_by_plain_loop(p);
  p.sparsity = {.local_blocks = 1, .vert_stride = 3, .block_size = 8, .head_sliding_step = 1};
  expect_partitions_by_plain_loop(p);
}

TEST(AttendPartition, OfAllTokensIsTheWholeBitForBit) {
  const DecodeProblem p = mixed_problem(partitioned_layout());
  const GatheredKv kv = gather(p, 0, 1);
  const HeadAttention whole = attend(p, kv, 0, 3);
  expect_same_bits(whole, attend_partition(p, kv, whole, 0, 3, 0, 61), "all tokens");
}

TEST(AttendPartition, MergesToTheWhole) {
  const DecodeProblem p = mixed_problem(partitioned_layout());
  const GatheredKv kv = gather(p, 0, 0);
  const HeadAttention whole = attend(p, kv, 0, 1);
  Eigen::VectorXd numerator = Eigen::VectorXd::Zero(p.head_size);
  double sum = 0;
  for (int first = 0; first < 61; first += 16) {
    const HeadAttention part =
        attend_partition(p, kv, whole, 0, 1, first, std::min(first + 16, 61));
    const double weight = std::exp(part.maximum - whole.maximum);
    numerator += weight * (part.sum + kDenominatorGuard) * part.output;  // without its guard
    sum += weight * part.sum;
  }
  EXPECT_NEAR(sum, whole.sum, 1e-12 * sum);
  EXPECT_LE((numerator / (sum + kDenominatorGuard) - whole.output).norm(), 1e-13);
}

TEST(AttendPartition, WithoutATokenThatTakesPartIsZero) {
  DecodeProblem p = mixed_problem(partitioned_layout());
  p.sparsity = {.local_blocks = 1, .vert_stride = 100, .block_size = 8};
  p.value_cache.fill(kNaN);  // a weight of 0 must not meet it
  const GatheredKv kv = gather(p, 0, 0);
  const HeadAttention part = attend_partition(p, kv, attend(p, kv, 0, 0), 0, 0, 16, 32);
  EXPECT_EQ(part.maximum, -kInfinity);
  EXPECT_EQ(part.lse, -kInfinity);
  EXPECT_EQ(part.sum, 0);
  EXPECT_TRUE((part.output.array() == 0).all());
}

TEST(DecodeAttention, TheWeightsSumToTheMass) {
  for (const HeadAttention& a : decode_attention(mixed_problem())) {
    if (a.logits.size() == 0) continue;
    EXPECT_NEAR(a.weights.sum(), a.sum / (a.sum + 1e-6), 1e-14);
  }
}

}  // namespace
}  // namespace paged
