// The input families do what their names promise: none of them is nearly uniform by accident.
#include "tests/harness/value_family.h"

#include "reference/decode_attention.h"
#include "tests/harness/case_builder.h"
#include "tests/harness/normal_numbers.h"
#include "tests/harness/random.h"
#include "tests/reference/error_message.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace paged {
namespace {

using testing::input_error_of;

CaseSpec spec_of(const std::string& kind, std::vector<int> seq_lens,
                 ScalarType scalar = ScalarType::f16) {
  CaseSpec spec;
  spec.name = kind;
  spec.num_heads = 6;
  spec.num_kv_heads = 2;
  spec.head_size = 64;
  spec.block_size = 16;
  spec.scalar = scalar;
  spec.seq_lens = std::move(seq_lens);
  spec.query_values.kind = spec.key_values.kind = spec.value_values.kind = kind;
  return spec;
}

std::vector<HeadAttention> attention_of(const CaseSpec& spec) {
  return decode_attention(build_case(spec).problem);
}

constexpr ScalarType kScalars[] = {ScalarType::f32, ScalarType::f16, ScalarType::bf16};

TEST(ValueFamilyTest, NormalHasItsStandardDeviation) {
  for (const double deviation : {1.0, 0.25}) {
    CaseSpec spec = spec_of("normal", {400});
    spec.query_values.standard_deviation = spec.key_values.standard_deviation =
        spec.value_values.standard_deviation = deviation;
    const DecodeProblem p = build_case(spec).problem;
    for (const Tensor* tensor : {&p.key_cache, &p.value_cache}) {
      double sum = 0;
      double square = 0;
      for (std::int64_t i = 0; i < tensor->size(); ++i) {
        sum += tensor->read(i);
        square += tensor->read(i) * tensor->read(i);
      }
      const auto n = static_cast<double>(tensor->size());
      EXPECT_NEAR(sum / n, 0, 0.02 * deviation);
      EXPECT_NEAR(std::sqrt(square / n), deviation, 0.02 * deviation);
    }
  }
}

TEST(ValueFamilyTest, PeakedGivesAFewTokensMostOfTheWeightInEveryHead) {
  for (ScalarType scalar : kScalars)
    for (const HeadAttention& head : attention_of(spec_of("peaked", {200, 1100}, scalar))) {
      std::vector<double> weights(head.weights.begin(), head.weights.end());
      const double last = weights.back();
      std::sort(weights.rbegin(), weights.rend());
      double heaviest = 0;
      for (std::size_t i = 0; i < weights.size() / 8; ++i) heaviest += weights[i];
      EXPECT_GT(heaviest, 0.75) << "the heaviest eighth of " << weights.size() << " tokens";
      EXPECT_GT(last * static_cast<double>(weights.size()), 1) << "the last token is a heavy one";
    }
}

TEST(ValueFamilyTest, NeedleGivesOneTokenNearlyAllWeightWhereverItIs) {
  for (ScalarType scalar : kScalars)
    for (int token : {0, 1, 7, 15, 16, 17, 31, 32, 33, 34}) {
      CaseSpec spec = spec_of("needle", {35, 35}, scalar);
      spec.key_values.token = token;
      for (const HeadAttention& head : attention_of(spec))
        EXPECT_GT(head.weights[token], 0.9) << name_of(scalar) << ", token " << token;
    }
}

TEST(ValueFamilyTest, NeedleStandsOutOfLongSequences) {
  for (int token : {0, 511, 512, 1023, 1024, 1099}) {
    CaseSpec spec = spec_of("needle", {1100});
    spec.key_values.token = token;
    for (const HeadAttention& head : attention_of(spec)) EXPECT_GT(head.weights[token], 0.9);
  }
}

TEST(ValueFamilyTest, ADrawnNeedleIsOneTokenForAllHeadsOfASequence) {
  const std::vector<HeadAttention> heads = attention_of(spec_of("needle", {100, 60}));
  for (int seq = 0; seq < 2; ++seq) {
    Eigen::Index needle = 0;
    heads[6 * seq].weights.maxCoeff(&needle);
    for (int head = 0; head < 6; ++head) EXPECT_GT(heads[6 * seq + head].weights[needle], 0.9);
  }
}

TEST(ValueFamilyTest, ANeedlePastTheEndIsRefused) {
  CaseSpec spec = spec_of("needle", {35, 17});
  spec.key_values.token = 17;
  const auto message = input_error_of([&] { build_case(spec); });
  ASSERT_TRUE(message);
  EXPECT_TRUE(testing::mentions(*message, "17")) << *message;
  EXPECT_TRUE(testing::mentions(*message, "sequence 1")) << *message;
}

TEST(ValueFamilyTest, LargeLogitsReachTenThousandInEveryScalarType) {
  for (ScalarType scalar : kScalars)
    for (const bool scale_of_one : {false, true}) {
      CaseSpec spec = spec_of("large-logits", {40}, scalar);
      if (scale_of_one) spec.scale = 1.0;
      for (const HeadAttention& head : attention_of(spec)) {
        EXPECT_NEAR(head.logits.maxCoeff(), 1e4, 1e3) << name_of(scalar);
        EXPECT_NEAR(head.logits.minCoeff(), -1e4, 1e3) << name_of(scalar);
        EXPECT_GT(head.weights.maxCoeff(), 0.9) << "a single dominant token";
        EXPECT_TRUE(head.output.allFinite());
      }
    }
}

TEST(ValueFamilyTest, NegativeLogitsLieNearMinusTwenty) {
  for (ScalarType scalar : kScalars)
    for (const HeadAttention& head : attention_of(spec_of("negative-logits", {200}, scalar))) {
      EXPECT_NEAR(head.logits.mean(), -20, 1) << name_of(scalar);
      EXPECT_LT(head.logits.maxCoeff(), -12);
      EXPECT_GT(head.logits.minCoeff(), -28);
    }
}

TEST(ValueFamilyTest, ConstantIsItsValue) {
  CaseSpec spec = spec_of("constant", {20});
  spec.query_values.value = 0.5;
  spec.key_values.value = -0.25;
  spec.value_values.value = 3;
  const DecodeProblem p = build_case(spec).problem;
  for (std::int64_t i = 0; i < p.query.size(); ++i) ASSERT_EQ(p.query.read(i), 0.5);
  for (std::int64_t i = 0; i < p.key_cache.size(); ++i) ASSERT_EQ(p.key_cache.read(i), -0.25);
  for (std::int64_t i = 0; i < p.value_cache.size(); ++i) ASSERT_EQ(p.value_cache.read(i), 3.0);
}

TEST(ValueFamilyTest, ConstantIsItsValueAfterTheScalesOfAnFp8Cache) {
  CaseSpec spec = spec_of("constant", {20});
  spec.cache = CacheType::e4m3;
  spec.k_scale = 0.25;
  spec.v_scale = 0.5;
  const GatheredKv kv = gather(build_case(spec).problem, 0, 1);
  EXPECT_EQ(kv.keys(3, 5), 1.0);
  EXPECT_EQ(kv.values(3, 5), 1.0);
}

/// INVARIANTS.md: K and V say which block, offset, head and dimension they come from.
TEST(ValueFamilyTest, CodedValuesOfF32AreAllDistinct) {
  for (int block_size : {8, 16, 32}) {
    CaseSpec spec = spec_of("coded", {300}, ScalarType::f32);
    spec.block_size = block_size;
    const DecodeProblem p = build_case(spec).problem;
    for (const Tensor* cache : {&p.key_cache, &p.value_cache}) {
      std::map<double, std::int64_t> first_place;
      std::int64_t twice = 0;
      std::int64_t example = -1;
      std::int64_t before = -1;
      for (std::int64_t i = 0; i < cache->size(); ++i) {
        const auto [found, inserted] = first_place.emplace(cache->read(i), i);
        if (inserted) continue;
        if (twice++ == 0) {
          example = i;
          before = found->second;
        }
      }
      EXPECT_EQ(twice, 0) << "of " << cache->size() << " elements of the "
                          << (cache == &p.key_cache ? "key" : "value") << " cache; element "
                          << example << " repeats element " << before;
    }
  }
}

/// Whether two rows of a value cache differ anywhere.
bool differ(const Tensor& cache, std::int64_t first_a, std::int64_t first_b, int count,
            int stride) {
  for (int i = 0; i < count; ++i)
    if (cache.read(first_a + i * stride) != cache.read(first_b + i * stride)) return true;
  return false;
}

// 16 bits cannot tell every element from every other, but whole pages and whole tokens they can.
TEST(ValueFamilyTest, CodedPagesDifferInEveryScalarType) {
  for (ScalarType scalar : kScalars) {
    const DecodeProblem p = build_case(spec_of("coded", {100}, scalar)).problem;
    const int page = 64 * 16;
    for (std::int64_t a = 0; a < p.num_blocks() * 2; ++a)
      for (std::int64_t b = 0; b < a; ++b)
        EXPECT_TRUE(differ(p.value_cache, a * page, b * page, page, 1))
            << name_of(scalar) << ": pages " << a << " and " << b;
  }
}

TEST(ValueFamilyTest, CodedTokensOfAPageDifferInEveryScalarType) {
  for (ScalarType scalar : kScalars) {
    const DecodeProblem p = build_case(spec_of("coded", {100}, scalar)).problem;
    std::string equal;
    for (int a = 0; a < 16; ++a)
      for (int b = 0; b < a; ++b)
        if (!differ(p.value_cache, a, b, 64, 16))
          equal += " " + std::to_string(b) + "=" + std::to_string(a);
    EXPECT_EQ(equal, "") << name_of(scalar) << ", offsets of block 0";
  }
}

TEST(ValueFamilyTest, SmallIsAHundredthOfNormal) {
  const DecodeProblem p = build_case(spec_of("small", {400})).problem;
  double square = 0;
  for (std::int64_t i = 0; i < p.value_cache.size(); ++i)
    square += p.value_cache.read(i) * p.value_cache.read(i);
  EXPECT_NEAR(std::sqrt(square / static_cast<double>(p.value_cache.size())), 0.01, 0.0005);
}

TEST(ValueFamilyTest, EveryFamilyIsListedWithADescription) {
  std::vector<std::string> kinds;
  for (const ValueFamilyInfo& info : value_families()) {
    kinds.push_back(info.kind);
    EXPECT_FALSE(info.description.empty()) << info.kind;
    EXPECT_NO_THROW(build_case(spec_of(info.kind, {20, 0, 1}))) << info.kind;
  }
  for (const char* kind :
       {"normal", "peaked", "needle", "large-logits", "negative-logits", "constant", "coded"})
    EXPECT_EQ(std::count(kinds.begin(), kinds.end(), kind), 1) << kind;
}

TEST(ValueFamilyTest, UnknownKindsAreRefusedByName) {
  const auto message = input_error_of([] { build_case(spec_of("gaussian", {20})); });
  ASSERT_TRUE(message);
  EXPECT_NE(message->find("gaussian"), std::string::npos) << *message;
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.size_in_bytes() == b.size_in_bytes() &&
         std::memcmp(a.data(), b.data(), a.size_in_bytes()) == 0;
}

TEST(ValueFamilyTest, TheSeedAloneDecidesTheBits) {
  for (const std::string kind :
       {"normal", "peaked", "needle", "large-logits", "negative-logits", "small"}) {
    CaseSpec spec = spec_of(kind, {40, 17});
    spec.block_tables = TableKind::identity;
    const DecodeProblem first = build_case(spec).problem;
    const DecodeProblem again = build_case(spec).problem;
    EXPECT_TRUE(same_bits(first.query, again.query)) << kind;
    EXPECT_TRUE(same_bits(first.key_cache, again.key_cache)) << kind;
    EXPECT_TRUE(same_bits(first.value_cache, again.value_cache)) << kind;
    spec.query_values.seed = spec.key_values.seed = spec.value_values.seed = 8;
    const DecodeProblem other = build_case(spec).problem;
    EXPECT_FALSE(same_bits(first.query, other.query)) << kind;
    EXPECT_FALSE(same_bits(first.key_cache, other.key_cache)) << kind;
    EXPECT_FALSE(same_bits(first.value_cache, other.value_cache)) << kind;
  }
}

TEST(ValueFamilyTest, QueryKeysAndValuesAreIndependent) {
  const DecodeProblem p = build_case(spec_of("normal", {100}, ScalarType::f32)).problem;
  int equal = 0;
  for (std::int64_t i = 0; i < p.key_cache.size(); ++i)
    equal += p.key_cache.read(i) == p.value_cache.read(i) ? 1 : 0;
  EXPECT_LT(equal, 10);
}

TEST(ValueFamilyTest, UnusedSlotsHoldPlausibleStaleValues) {
  const DecodeProblem p = build_case(spec_of("peaked", {17})).problem;
  std::int64_t zeros = 0;
  for (std::int64_t i = 0; i < p.key_cache.size(); ++i) {
    EXPECT_TRUE(std::isfinite(p.key_cache.read(i)));
    zeros += p.key_cache.read(i) == 0 ? 1 : 0;
  }
  EXPECT_LT(zeros, p.key_cache.size() / 100);
}

TEST(ValueFamilyTest, KeptNormalNumbersAreThoseOfTheGenerator) {
  constexpr std::int64_t kMany = 300000;  // more than are kept
  for (const std::uint64_t seed : {5, 6, 7, 8, 9, 10, 11, 12, 13, 5}) {
    Random random(seed);
    std::vector<double> expected(kMany);
    for (double& number : expected) number = random.normal();
    const NormalNumbers normals(seed);
    for (const std::int64_t first : {1000L, 0L, 1L, 262100L, 290000L, 500L}) {
      std::vector<double> numbers(100);
      normals.copy(first, numbers);
      ASSERT_TRUE(std::equal(numbers.begin(), numbers.end(), expected.begin() + first))
          << "seed " << seed << ", from " << first;
    }
  }
}

}  // namespace
}  // namespace paged
