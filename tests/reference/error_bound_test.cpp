// The derived bounds against float32 emulations of the arithmetic that a stage declares: no
// emulation may leave its bound, and the bounds may not be so wide that they prove nothing.
#include "reference/error_bound.h"

#include "tests/reference/logical_tokens.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace paged {
namespace {

using testing::Layout;

// ---- a stage in float32 ----------------------------------------------------------------------
/// What the declaration leaves open.
struct Freedom {
  bool fused_multiply_add = false;
  /// Errors of the exponential: 0 none, 1 random up to the declared size, 2 the declared size, low
  /// for the first half of the tokens and high for the second.
  int exp_errors = 1;
  unsigned seed = 1;
};

struct Emulated {
  std::vector<float> logits;
  std::vector<float> output;
  double lse = -std::numeric_limits<double>::infinity();
  float maximum = -std::numeric_limits<float>::infinity();
  float sum = 0;
};

/// Adds the lanes' partial sums pairwise, as shuffles do.
float tree_sum(std::vector<float> lanes) {
  for (std::size_t width = lanes.size(); width > 1; width = (width + 1) / 2)
    for (std::size_t i = 0; i < width / 2; ++i) lanes[i] += lanes[i + (width + 1) / 2];
  return lanes[0];
}

float multiply_add(float a, float b, float c, bool fused) {
  if (fused) return std::fma(a, b, c);
  const float product = a * b;
  return product + c;
}

float rounded_to(ScalarType type, float value) {
  if (type == ScalarType::f16) return static_cast<float>(Eigen::half(value));
  if (type == ScalarType::bf16) return static_cast<float>(Eigen::bfloat16(value));
  return value;
}

/// Products of up to 8 pairs of factors and their sum in f16: four pairs of products in a chain,
/// the last pair in f32.
template <typename Factors>
float half_products(int count, Factors factors) {
  float pair[2] = {0, 0};
  for (int k = 0; k < std::min(count, 8); ++k) {
    const auto [a, b] = factors(k);
    const float product = rounded_to(ScalarType::f16, a * b);
    pair[k % 2] = rounded_to(ScalarType::f16, pair[k % 2] + product);
  }
  return pair[0] + pair[1];
}

/// exp with an error within the declared one. One unit of the declared error is left for the
/// rounding of the result to float.
float declared_exp(float x, const StageArithmetic& arithmetic, const Freedom& freedom,
                   bool in_first_half, std::mt19937& random) {
  const double units = arithmetic.exp_ulps_constant + arithmetic.exp_ulps_slope * std::abs(x) - 1;
  std::uniform_real_distribution<double> any(-1, 1);
  const double direction = freedom.exp_errors == 0   ? 0
                           : freedom.exp_errors == 1 ? any(random)
                                                     : (in_first_half ? -1 : 1);
  return static_cast<float>(std::exp(static_cast<double>(x)) * (1 + direction * units * 0x1p-23));
}

class Emulator {
 public:
  Emulator(const DecodeProblem& problem, const StageArithmetic& arithmetic, Freedom freedom)
      : p_(problem), arithmetic_(arithmetic), freedom_(freedom), random_(freedom.seed) {}

  Emulated run(int seq, int head) {
    return run(seq, head, 0, p_.seq_lens[static_cast<std::size_t>(seq)], p_.scalar);
  }

  /// Over tokens [first, end) alone, with an output of type `output`.
  Emulated run(int seq, int head, int first, int end, ScalarType output) {
    const int length = end - first;
    const int kv_head = head / (p_.num_heads / p_.num_kv_heads);
    Emulated e;
    float maximum = -std::numeric_limits<float>::infinity();
    for (int t = 0; t < length; ++t) {
      e.logits.push_back(logit(seq, head, kv_head, first + t));
      maximum = std::max(maximum, e.logits.back());
    }
    if (!arithmetic_.subtracts_maximum) maximum = 0;
    std::vector<float> u;
    std::vector<float> sums(static_cast<std::size_t>(arithmetic_.lanes_per_sum), 0.0F);
    for (int t = 0; t < length; ++t) {
      u.push_back(declared_exp(e.logits[static_cast<std::size_t>(t)] - maximum, arithmetic_,
                               freedom_, 2 * t < length, random_));
      sums[static_cast<std::size_t>(t) % sums.size()] += u.back();
    }
    const float sum = tree_sum(sums);
    const float inverse = 1.0F / (arithmetic_.guards_denominator ? sum + 1e-6F : sum);
    for (int dim = 0; dim < p_.head_size; ++dim) {
      const OutputSum dealt = output_sum(arithmetic_, p_.scalar, p_.block_size);
      std::vector<float> lanes(static_cast<std::size_t>(dealt.lanes), 0.0F);
      const auto weight = [&](int t) {
        return rounded_to(arithmetic_.probabilities, u[static_cast<std::size_t>(t)] * inverse);
      };
      const auto lane = [&](int i) -> float& {
        return lanes[static_cast<std::size_t>(i) % lanes.size()];
      };
      if (arithmetic_.products == ScalarType::f16)
        for (int t = 0; t < length; t += 8)
          lane(t / 8) += half_products(length - t, [&](int k) {
            return std::pair(weight(t + k), value(seq, kv_head, first + t + k, dim));
          });
      else
        for (int t = 0; t < length; ++t)
          lane(t / dealt.run) = multiply_add(weight(t), value(seq, kv_head, first + t, dim),
                                             lane(t / dealt.run), freedom_.fused_multiply_add);
      e.output.push_back(rounded_to(output, tree_sum(lanes)));
    }
    e.maximum = maximum;
    e.sum = sum;
    if (length > 0) e.lse = static_cast<double>(maximum) + std::log(static_cast<double>(sum));
    return e;
  }

 private:
  /// Converted on load: the stored element times the scale, in float.
  float key(int seq, int kv_head, int t, int dim) const {
    const auto stored =
        static_cast<float>(p_.key_cache.read(testing::key_of_token(p_, seq, t, kv_head, dim)));
    return is_fp8(p_.cache()) ? stored * p_.k_scale : stored;
  }
  float value(int seq, int kv_head, int t, int dim) const {
    const auto stored =
        static_cast<float>(p_.value_cache.read(testing::value_of_token(p_, seq, t, kv_head, dim)));
    return is_fp8(p_.cache()) ? stored * p_.v_scale : stored;
  }
  float logit(int seq, int head, int kv_head, int t) const {
    std::vector<float> lanes(static_cast<std::size_t>(arithmetic_.lanes_per_dot), 0.0F);
    for (int dim = 0; dim < p_.head_size; ++dim) {
      const auto q =
          static_cast<float>(p_.query.read((seq * p_.num_heads + head) * p_.head_size + dim));
      float& lane = lanes[static_cast<std::size_t>(dim) % lanes.size()];
      lane = multiply_add(q, key(seq, kv_head, t, dim), lane, freedom_.fused_multiply_add);
    }
    float l = p_.scale * tree_sum(lanes);
    if (!p_.alibi_slopes.empty()) {
      const int length = p_.seq_lens[static_cast<std::size_t>(seq)];
      const float bias =
          p_.alibi_slopes[static_cast<std::size_t>(head)] * static_cast<float>(t - (length - 1));
      l += bias;
    }
    return l;
  }

  const DecodeProblem& p_;
  StageArithmetic arithmetic_;
  Freedom freedom_;
  std::mt19937 random_;
};

// ---- inputs ----------------------------------------------------------------------------------
enum class Family { normal, peaked, needle, positive };

struct Inputs {
  ScalarType scalar = ScalarType::f32;
  CacheType cache = CacheType::f32;
  int head_size = 64;
  int length = 100;
  Family family = Family::normal;
  unsigned seed = 1;
};

Layout layout_of(const Inputs& inputs) {
  Layout layout;
  layout.num_heads = 2;
  layout.num_kv_heads = 1;
  layout.head_size = inputs.head_size;
  layout.block_size = 16;
  layout.scalar = inputs.scalar;
  layout.cache = inputs.cache;
  layout.seq_lens = {inputs.length};
  layout.table_width = (inputs.length + 15) / 16;
  layout.num_blocks = layout.table_width + 1;
  layout.tables = {{}};
  for (int i = 0; i < layout.table_width; ++i) layout.tables[0].push_back(layout.table_width - i);
  return layout;
}

DecodeProblem problem_of(const Inputs& inputs) {
  DecodeProblem p = testing::zero_problem(layout_of(inputs));
  p.scale = static_cast<float>(1 / std::sqrt(inputs.head_size));
  std::mt19937 random(inputs.seed);
  std::normal_distribution<double> normal;
  const bool positive = inputs.family == Family::positive;
  const auto next = [&] { return positive ? std::abs(normal(random)) : normal(random); };
  const double gain = inputs.family == Family::peaked ? 8 : 1;
  for (std::int64_t i = 0; i < p.query.size(); ++i) p.query.write(i, gain * next());
  testing::for_each_token_element(p, [&](int seq, int t, int kv_head, int dim) {
    double key = next();
    if (inputs.family == Family::needle && t == inputs.length / 3) key = 4 * p.query.read(dim);
    p.key_cache.write(testing::key_of_token(p, seq, t, kv_head, dim), key);
    p.value_cache.write(testing::value_of_token(p, seq, t, kv_head, dim), next());
  });
  return p;
}

HeadErrorBound bound_of(const DecodeProblem& p, const StageArithmetic& arithmetic, int head) {
  const GatheredKv kv = gather(p, 0, head / (p.num_heads / p.num_kv_heads));
  return bound_error(p, kv, attend(p, kv, 0, head), arithmetic, 0, head);
}

// ---- how much of the bound an emulation uses -------------------------------------------------
struct Shares {
  double logits = 0, output = 0, lse = 0, maximum = 0, sum = 0;
};

double share(double actual, double reference, double bound) {
  const double error = std::abs(actual - reference);
  return error == 0 ? 0 : error / bound;
}

/// The largest share of each bound over both heads; a share over 1 is a broken bound.
Shares shares_used(const DecodeProblem& p, const StageArithmetic& arithmetic, Freedom freedom) {
  Shares used;
  for (int head = 0; head < p.num_heads; ++head) {
    const GatheredKv kv = gather(p, 0, head / (p.num_heads / p.num_kv_heads));
    const HeadAttention reference = attend(p, kv, 0, head);
    const HeadErrorBound bound = bound_error(p, kv, reference, arithmetic, 0, head);
    const Emulated e = Emulator(p, arithmetic, freedom).run(0, head);
    EXPECT_EQ(bound.logits.size(), reference.logits.size());
    EXPECT_EQ(bound.output.size(), reference.output.size());
    for (Eigen::Index t = 0; t < reference.logits.size(); ++t)
      used.logits = std::max(used.logits, share(e.logits[static_cast<std::size_t>(t)],
                                                reference.logits[t], bound.logits[t]));
    for (Eigen::Index i = 0; i < reference.output.size(); ++i)
      used.output = std::max(used.output, share(e.output[static_cast<std::size_t>(i)],
                                                reference.output[i], bound.output[i]));
    used.lse = std::max(used.lse, share(e.lse, reference.lse, bound.lse));
    const ExpectedStatistics expected = expected_statistics(reference, arithmetic);
    used.maximum = std::max(used.maximum, share(e.maximum, expected.maximum, bound.maximum));
    used.sum = std::max(used.sum, share(e.sum, expected.sum, bound.sum));
  }
  return used;
}

void expect_within(const Shares& used, const std::string& what) {
  EXPECT_LE(used.logits, 1) << what << ": logits";
  EXPECT_LE(used.output, 1) << what << ": output";
  EXPECT_LE(used.lse, 1) << what << ": lse";
  EXPECT_LE(used.maximum, 1) << what << ": maximum";
  EXPECT_LE(used.sum, 1) << what << ": sum";
}

Shares largest_of(const Shares& a, const Shares& b) {
  return {std::max(a.logits, b.logits), std::max(a.output, b.output), std::max(a.lse, b.lse),
          std::max(a.maximum, b.maximum), std::max(a.sum, b.sum)};
}

void report(const std::string& what, const Shares& used) {
  std::printf("[   SHARE  ] %-28s logits %.4f  output %.4f  lse %.4f  maximum %.4f  sum %.4f\n",
              what.c_str(), used.logits, used.output, used.lse, used.maximum, used.sum);
}

std::string describe(const Inputs& inputs, const Freedom& freedom) {
  const char* families[] = {"normal", "peaked", "needle", "positive"};
  return std::string(name_of(inputs.scalar)) + "/" + std::string(name_of(inputs.cache)) + " d " +
         std::to_string(inputs.head_size) + " L " + std::to_string(inputs.length) + " " +
         families[static_cast<int>(inputs.family)] + " exp " + std::to_string(freedom.exp_errors) +
         (freedom.fused_multiply_add ? " fma" : "");
}

constexpr Family kFamilies[] = {Family::normal, Family::peaked, Family::needle, Family::positive};

/// Every head size, length, family and freedom for one pair of types.
Shares sweep(ScalarType scalar, CacheType cache, const StageArithmetic& arithmetic,
             float k_scale = 1, float v_scale = 1) {
  Shares largest;
  unsigned seed = 1;
  for (const int head_size : {16, 64, 128})
    for (const int length : {1, 2, 17, 200})
      for (const Family family : kFamilies)
        for (const int exp_errors : {1, 2}) {
          const Inputs inputs{scalar, cache, head_size, length, family, ++seed};
          const Freedom freedom{seed % 2 == 0, exp_errors, seed};
          DecodeProblem p = problem_of(inputs);
          p.k_scale = k_scale;
          p.v_scale = v_scale;
          const Shares used = shares_used(p, arithmetic, freedom);
          expect_within(used, describe(inputs, freedom));
          largest = largest_of(largest, used);
        }
  return largest;
}

class ErrorBoundOfTypes : public ::testing::TestWithParam<ScalarType> {};
INSTANTIATE_TEST_SUITE_P(ErrorBound, ErrorBoundOfTypes,
                         ::testing::Values(ScalarType::f32, ScalarType::f16, ScalarType::bf16),
                         [](const auto& type) { return std::string(name_of(type.param)); });

TEST_P(ErrorBoundOfTypes, CoversTheDefaultArithmeticAndIsNotFarAboveIt) {
  const Shares largest = sweep(GetParam(), same_as(GetParam()), StageArithmetic{});
  report(std::string(name_of(GetParam())) + " default", largest);
  EXPECT_GT(largest.logits, 0.01);
  EXPECT_GT(largest.output, 0.01);
  EXPECT_GT(largest.lse, 0.01);
  EXPECT_GT(largest.maximum, 0.01);
  EXPECT_GT(largest.sum, 0.01);
}

TEST_P(ErrorBoundOfTypes, CoversPartitionsAndIsNotFarAboveThem) {
  StageArithmetic arithmetic;
  arithmetic.lanes_per_dot = 4;
  arithmetic.partitions = true;
  constexpr int kPartition = 32;
  Shares largest;
  for (unsigned seed = 1; seed <= 12; ++seed) {
    const Inputs inputs{GetParam(), same_as(GetParam()), 64, 100, kFamilies[seed % 4], seed};
    const DecodeProblem p = problem_of(inputs);
    const GatheredKv kv = gather(p, 0, 0);
    const HeadAttention whole = attend(p, kv, 0, 0);
    const HeadErrorBound bound_of_whole = bound_error(p, kv, whole, arithmetic, 0, 0);
    for (int first = 0; first < inputs.length; first += kPartition) {
      const int end = std::min(first + kPartition, inputs.length);
      const HeadAttention reference = attend_partition(p, kv, whole, 0, 0, first, end);
      const HeadErrorBound bound =
          bound_partition_error(p, kv, reference, bound_of_whole, arithmetic, first);
      const Emulated e =
          Emulator(p, arithmetic, {seed % 2 == 0, 1 + static_cast<int>(seed % 2), seed})
              .run(0, 0, first, end, ScalarType::f32);
      Shares used;
      for (Eigen::Index i = 0; i < reference.output.size(); ++i)
        used.output = std::max(used.output, share(e.output[static_cast<std::size_t>(i)],
                                                  reference.output[i], bound.output[i]));
      used.maximum = share(e.maximum, reference.maximum, bound.maximum);
      used.sum = share(e.sum, reference.sum, bound.sum);
      expect_within(used, "partition at " + std::to_string(first) + " of " + describe(inputs, {}));
      largest = largest_of(largest, used);
    }
  }
  report(std::string(name_of(GetParam())) + " partitions", largest);
  EXPECT_GT(largest.output, 0.01);
  EXPECT_GT(largest.maximum, 0.01);
  EXPECT_GT(largest.sum, 0.01);
}

TEST(ErrorBound, OfTheMaximumIsAtMostThatOfALogit) {
  for (unsigned seed = 1; seed <= 8; ++seed) {
    const DecodeProblem p = problem_of({.family = kFamilies[seed % 4], .seed = seed});
    const HeadErrorBound bound = bound_of(p, StageArithmetic{}, 0);
    EXPECT_GT(bound.maximum, 0);
    EXPECT_LE(bound.maximum, bound.logits.maxCoeff() * (1 + 1e-6));
  }
}

TEST(ErrorBound, WithoutASubtractedMaximumTheMaximumIsExactAndTheSumThatOfTheExponentials) {
  const DecodeProblem p = problem_of({});
  StageArithmetic bare;
  bare.subtracts_maximum = false;
  const HeadAttention attention = attend(p, gather(p, 0, 0), 0, 0);
  const ExpectedStatistics expected = expected_statistics(attention, bare);
  EXPECT_EQ(expected.maximum, 0);
  EXPECT_NEAR(expected.sum, attention.logits.array().exp().sum(), 1e-9 * expected.sum);
  EXPECT_EQ(bound_of(p, bare, 0).maximum, 0);
}

TEST_P(ErrorBoundOfTypes, CoversSeveralLanes) {
  StageArithmetic arithmetic;
  arithmetic.lanes_per_dot = 4;
  arithmetic.lanes_per_sum = 32;
  arithmetic.warps_per_output = 4;
  const Shares largest = sweep(GetParam(), same_as(GetParam()), arithmetic);
  report(std::string(name_of(GetParam())) + " lanes 4/32, 4 warps", largest);
  EXPECT_GT(largest.output, 0.01);
}

TEST_P(ErrorBoundOfTypes, CoversProbabilitiesRoundedToTheScalar) {
  StageArithmetic arithmetic;
  arithmetic.probabilities = GetParam();
  const Shares largest = sweep(GetParam(), same_as(GetParam()), arithmetic);
  report(std::string(name_of(GetParam())) + " rounded probabilities", largest);
  EXPECT_GT(largest.output, 0.01);
}

TEST(ErrorBound, CoversProductsInHalf) {
  StageArithmetic arithmetic = with_probabilities(StageArithmetic{}, ScalarType::f16);
  ASSERT_EQ(arithmetic.products, ScalarType::f16);
  arithmetic.warps_per_output = 4;
  Shares largest = sweep(ScalarType::f16, CacheType::f16, arithmetic);
  report("f16 products", largest);
  EXPECT_GT(largest.output, 0.05);
  // Values so small that products are subnormal: now the absolute part is what counts.
  largest = {};
  for (const int length : {1, 3, 40, 1000}) {
    DecodeProblem p =
        problem_of({.scalar = ScalarType::f16, .cache = CacheType::f16, .length = length});
    for (std::int64_t i = 0; i < p.value_cache.size(); ++i)
      p.value_cache.write(i, p.value_cache.read(i) * 0x1p-9);
    largest = largest_of(largest, shares_used(p, arithmetic, {}));
    expect_within(largest, "subnormal products, length " + std::to_string(length));
  }
  report("f16 subnormal products", largest);
  EXPECT_GT(largest.output, 0.05);
}

TEST(ErrorBound, CoversTheConversionOfFp8CachesWithAnyScale) {
  for (const CacheType cache : {CacheType::e4m3, CacheType::e5m2}) {
    const Shares largest = sweep(ScalarType::f32, cache, StageArithmetic{}, 0.3F, 1.7F);
    report("f32/" + std::string(name_of(cache)) + " scales", largest);
  }
}

TEST(ErrorBound, CoversABareSumAsDenominator) {
  StageArithmetic arithmetic;
  arithmetic.guards_denominator = false;
  report("f32 without guard", sweep(ScalarType::f32, CacheType::f32, arithmetic));
}

TEST(ErrorBound, CoversExponentialsOfTheLogitsThemselves) {
  StageArithmetic arithmetic;
  arithmetic.subtracts_maximum = false;
  Shares largest;
  for (unsigned seed = 1; seed <= 12; ++seed)
    for (const int exp_errors : {0, 1, 2}) {
      const Inputs inputs{
          .length = 90, .family = seed % 2 ? Family::normal : Family::positive, .seed = seed};
      const Freedom freedom{false, exp_errors, seed};
      const Shares used = shares_used(problem_of(inputs), arithmetic, freedom);
      expect_within(used, describe(inputs, freedom));
      largest = largest_of(largest, used);
    }
  report("f32 without maximum", largest);
}

TEST(ErrorBound, CoversThePositionBias) {
  Shares largest;
  for (unsigned seed = 1; seed <= 8; ++seed) {
    DecodeProblem p = problem_of({.length = 300, .seed = seed});
    p.alibi_slopes = {0.70710678F, 0.0123F};
    const Shares used = shares_used(p, StageArithmetic{}, {seed % 2 == 0, 1, seed});
    expect_within(used, "alibi, seed " + std::to_string(seed));
    largest = largest_of(largest, used);
  }
  report("f32 alibi", largest);
}

TEST(ErrorBound, CoversLargeLogits) {
  Shares largest;
  for (const float scale : {16.0F, -60.0F}) {
    DecodeProblem p = problem_of({.length = 64, .family = Family::peaked});
    p.scale = scale;
    const Shares used = shares_used(p, StageArithmetic{}, {false, 1, 3});
    expect_within(used, "scale " + std::to_string(scale));
    largest = largest_of(largest, used);
  }
  report("f32 large logits", largest);
}

TEST_P(ErrorBoundOfTypes, CoversTheRoundingOfAMidpointByHand) {
  // Two equal logits, v = 1 and 1 + ulp: the output is the midpoint 1 + ulp/2 (less 5e-7 by the
  // guard), which rounds to 1, half a unit in the last place away.
  const double ulp = GetParam() == ScalarType::f32   ? 0x1p-23
                     : GetParam() == ScalarType::f16 ? 0x1p-10
                                                     : 0x1p-7;
  DecodeProblem p = problem_of({.scalar = GetParam(), .cache = same_as(GetParam()), .length = 2});
  p.key_cache.fill(0);
  p.value_cache.fill(1);
  p.value_cache.write(testing::value_of_token(p, 0, 1, 0, 5), 1 + ulp);
  const double exact = (2 + ulp) / (2 + 1e-6);
  EXPECT_NEAR(attend(p, gather(p, 0, 0), 0, 0).output[5], exact, 1e-15);
  const double half = GetParam() == ScalarType::f32 ? ulp / 2 : exact - 1;  // f32: no tie there
  EXPECT_GE(bound_of(p, StageArithmetic{}, 0).output[5], half);
}

TEST(ErrorBound, CoversOutputsThatAreSubnormalInHalf) {
  // Values so small that the output's rounding is an absolute error, not a relative one.
  DecodeProblem p = problem_of({.scalar = ScalarType::f16, .cache = CacheType::f16, .length = 3});
  for (std::int64_t i = 0; i < p.value_cache.size(); ++i)
    p.value_cache.write(i, p.value_cache.read(i) * 0x1p-22);
  expect_within(shares_used(p, StageArithmetic{}, {}), "subnormal outputs");
}

// ---- how the bound behaves -------------------------------------------------------------------
/// Everything constant, so that only the sizes change from one call to the next.
DecodeProblem constant_problem(int head_size, int length) {
  DecodeProblem p = problem_of({.head_size = head_size, .length = length});
  p.query.fill(1);
  p.key_cache.fill(1);
  p.value_cache.fill(1);
  p.scale = 1.0F / 64;
  return p;
}

TEST(ErrorBound, GrowsWithTheHeadSize) {
  double logits = 0, output = 0, lse = 0;
  for (const int head_size : {16, 32, 64, 128, 256}) {
    const HeadErrorBound bound = bound_of(constant_problem(head_size, 32), StageArithmetic{}, 0);
    EXPECT_GT(bound.logits[0], logits) << head_size;
    EXPECT_GT(bound.output[0], output) << head_size;
    EXPECT_GT(bound.lse, lse) << head_size;
    logits = bound.logits[0];
    output = bound.output[0];
    lse = bound.lse;
  }
}

TEST(ErrorBound, GrowsWithTheContext) {
  double output = 0;
  for (const int length : {16, 64, 256, 1024, 4096}) {
    const HeadErrorBound bound = bound_of(constant_problem(32, length), StageArithmetic{}, 0);
    EXPECT_GT(bound.output[0], output) << length;
    output = bound.output[0];
  }
}

TEST(ErrorBound, OfProductsInHalfGrowsWithTheContext) {
  const StageArithmetic half = with_probabilities(StageArithmetic{}, ScalarType::f16);
  double relative = 0;
  for (const int length : {64, 512, 4096}) {
    DecodeProblem p = constant_problem(32, length);
    p.value_cache.fill(0.01);
    const double wider = bound_of(p, half, 0).output[0] / 0.01;
    EXPECT_GT(wider, relative) << length;
    relative = wider;
  }
}

TEST(ErrorBound, TokensOfAnOutputAreDealtInVectorsOfPages) {
  StageArithmetic warps;
  warps.warps_per_output = 4;
  const auto expect = [&](ScalarType scalar, int block_size, int lanes, int run) {
    const OutputSum sum = output_sum(warps, scalar, block_size);
    EXPECT_EQ(sum.lanes, lanes) << name_of(scalar) << " " << block_size;
    EXPECT_EQ(sum.run, run) << name_of(scalar) << " " << block_size;
  };
  expect(ScalarType::f16, 16, 8, 8);
  expect(ScalarType::bf16, 8, 4, 8);
  expect(ScalarType::f32, 8, 8, 4);
  expect(ScalarType::f32, 32, 32, 4);
  expect(ScalarType::f16, 4, 4, 4);
  EXPECT_EQ(output_sum(StageArithmetic{}, ScalarType::f16, 16).lanes, 1);
}

TEST(ErrorBound, ShrinksWithMoreLanesAndGrowsWithCoarserTypes) {
  const DecodeProblem p = problem_of({.head_size = 128, .length = 400});
  const HeadErrorBound plain = bound_of(p, StageArithmetic{}, 0);
  StageArithmetic lanes;
  lanes.lanes_per_dot = 8;
  EXPECT_LT(bound_of(p, lanes, 0).logits[0], plain.logits[0]);
  lanes = {};
  lanes.warps_per_output = 4;
  EXPECT_LT(bound_of(p, lanes, 0).output[0], plain.output[0]);
  StageArithmetic coarse;
  coarse.probabilities = ScalarType::f16;
  EXPECT_GT(bound_of(p, coarse, 0).output[0], plain.output[0]);
  EXPECT_EQ(bound_of(p, coarse, 0).lse, plain.lse);
  StageArithmetic as_scalar;
  as_scalar.rounds_probabilities_to_scalar = true;
  const DecodeProblem half = problem_of(
      {.scalar = ScalarType::f16, .cache = CacheType::f16, .head_size = 128, .length = 400});
  EXPECT_EQ(bound_of(half, as_scalar, 0).output, bound_of(half, coarse, 0).output);
  StageArithmetic rough_exp;
  rough_exp.exp_ulps_constant = 50;
  EXPECT_GT(bound_of(p, rough_exp, 0).output[0], plain.output[0]);
}

void expect_no_nan(const HeadErrorBound& bound, const std::string& what) {
  EXPECT_FALSE(bound.logits.array().isNaN().any()) << what;
  EXPECT_FALSE(bound.output.array().isNaN().any()) << what;
  EXPECT_FALSE(std::isnan(bound.lse)) << what;
  EXPECT_TRUE((bound.logits.array() >= 0).all()) << what;
  EXPECT_TRUE((bound.output.array() >= 0).all()) << what;
  EXPECT_GE(bound.lse, 0) << what;
  EXPECT_GE(bound.maximum, 0) << what;
  EXPECT_GE(bound.sum, 0) << what;
}

/// A problem whose queries and keys, and whose values, are `inputs` times a magnitude.
DecodeProblem magnified_problem(const Inputs& inputs, double query_and_key, double values) {
  DecodeProblem p = problem_of(inputs);
  const auto magnify = [](Tensor& tensor, double factor) {
    for (std::int64_t i = 0; i < tensor.size(); ++i) tensor.write(i, tensor.read(i) * factor);
  };
  magnify(p.query, query_and_key);
  magnify(p.key_cache, query_and_key);
  magnify(p.value_cache, values);
  return p;
}

TEST(ErrorBound, IsNeverNaNForFiniteInputs) {
  for (const bool subtracts_maximum : {true, false})
    for (const double magnitude : {0.0, 1e-30, 1e-7, 1.0, 1e3, 65504.0, 1e18})
      for (const double values : {0.0, 1e-30, 1.0, 1e30}) {
        StageArithmetic arithmetic;
        arithmetic.subtracts_maximum = subtracts_maximum;
        std::ostringstream what;
        what << "q, k of " << magnitude << ", v of " << values << ", maximum "
             << (subtracts_maximum ? "subtracted" : "not subtracted");
        const Inputs inputs{.head_size = 32, .length = 40};
        expect_no_nan(bound_of(magnified_problem(inputs, magnitude, values), arithmetic, 1),
                      what.str());
      }
}

TEST(ErrorBound, OfUnitValuesIsThatOfTheSameValuesWrittenOut) {
  constexpr int kDims = 7;
  for (const double unit : {1.0, 0.5})
    for (const ScalarType scalar : {ScalarType::f32, ScalarType::f16}) {
      const DecodeProblem p =
          problem_of({scalar, same_as(scalar), 16, 40, Family::peaked, /*seed=*/3});
      GatheredKv kv = gather(p, 0, 0);
      std::vector<int> dims(40);
      kv.values = Eigen::MatrixXd::Zero(40, kDims);  // the last dimension is nobody's
      for (int token = 0; token < 40; ++token) {
        dims[token] = token * token % (kDims - 1);
        kv.values(token, dims[token]) = unit;
      }
      StageArithmetic arithmetic;
      arithmetic.rounds_probabilities_to_scalar = true;
      const HeadAttention attention = attend(p, kv, 0, 0);
      const HeadErrorBound written_out = bound_error(p, kv, attention, arithmetic, 0, 0);
      const HeadErrorBound counted =
          bound_unit_value_error(p, kv, attention, arithmetic, 0, 0, dims, unit);
      ASSERT_EQ(counted.output.size(), kDims);
      for (int dim = 0; dim < kDims; ++dim)
        EXPECT_NEAR(counted.output[dim] / written_out.output[dim], 1, 1e-9) << dim;
      EXPECT_EQ(counted.sum, written_out.sum);
    }
}

TEST(ErrorBound, OfAnEmptySequenceIsZeroAndEmpty) {
  const DecodeProblem p = problem_of({.length = 0});
  const HeadErrorBound bound = bound_of(p, StageArithmetic{}, 0);
  EXPECT_EQ(bound.logits.size(), 0);
  ASSERT_EQ(bound.output.size(), p.head_size);
  expect_no_nan(bound, "empty");
  EXPECT_TRUE((bound.output.array() == 0).all()) << "zeros are written exactly";
}

TEST(ErrorBound, OfLeftOutTokensIsNoNaN) {
  DecodeProblem p = problem_of({.length = 128});
  p.sparsity = {.local_blocks = 1, .vert_stride = 3, .block_size = 16};
  expect_no_nan(bound_of(p, StageArithmetic{}, 0), "block-sparse");
  p = problem_of({.length = 7});
  p.sparsity = {.local_blocks = 0, .vert_stride = 8, .block_size = 16};
  expect_no_nan(bound_of(p, StageArithmetic{}, 0), "all left out");
}

}  // namespace
}  // namespace paged
