// Which problems have an answer of numbers, and what is said of the others.
#include "reference/finite_answer.h"

#include "reference/number_range.h"
#include "reference/tensor.h"
#include "tests/reference/error_message.h"
#include "tests/reference/logical_tokens.h"
#include "tests/reference/not_finite.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace paged {
namespace {

using testing::input_error_of;
using testing::kInfinity;
using testing::kNaN;
using testing::mentions;

/// 11 tokens on blocks 3 and 1, and 5 on block 4; groups of two query heads.
class FiniteAnswerTest : public ::testing::Test {
 protected:
  FiniteAnswerTest() : problem_(make(ScalarType::f32, CacheType::f32)) {}

  static DecodeProblem make(ScalarType scalar, CacheType cache) {
    testing::Layout layout;
    layout.scalar = scalar;
    layout.cache = cache;
    layout.seq_lens = {11, 5};
    layout.tables = {{3, 1}, {4}};
    DecodeProblem problem = testing::zero_problem(layout);
    testing::fill_with_exact_values(problem, 7);
    return problem;
  }
  void set_key(int seq, int token, int kv_head, int dim, double value) {
    problem_.key_cache.write(testing::key_of_token(problem_, seq, token, kv_head, dim), value);
  }
  void set_value(int seq, int token, int kv_head, int dim, double value) {
    problem_.value_cache.write(testing::value_of_token(problem_, seq, token, kv_head, dim), value);
  }
  void set_query(int seq, int head, int dim, double value) {
    problem_.query.write((seq * 4 + head) * 16 + dim, value);
  }
  void expect_accepted() const {
    EXPECT_EQ(input_error_of([&] { check_finite_answer(problem_); }), std::nullopt);
  }
  void expect_refused(const std::vector<std::string>& words) const {
    const auto message = input_error_of([&] { check_finite_answer(problem_); });
    ASSERT_TRUE(message) << "accepted";
    for (const std::string& word : words) EXPECT_TRUE(mentions(*message, word)) << *message;
    EXPECT_EQ(message->find('\n'), std::string::npos) << *message;
  }

  DecodeProblem problem_;
};

TEST_F(FiniteAnswerTest, NumbersAreAccepted) {
  expect_accepted();
  problem_ = make(ScalarType::bf16, CacheType::e4m3);
  expect_accepted();
}

TEST_F(FiniteAnswerTest, WhatIsNoNumberInATokenIsNamedWithItsPlace) {
  for (const double special : {kNaN, kInfinity, -kInfinity}) {
    const std::string text = std::isnan(special) ? "nan" : special > 0 ? "inf" : "-inf";
    problem_ = make(ScalarType::f32, CacheType::f32);
    set_key(0, 9, 1, 5, special);  // page 1 of sequence 0; KV head 1 serves heads 2 and 3
    expect_refused({"sequence 0", "head 2", "token 9", "block 1", "offset 1", "key", "5", text});
    problem_ = make(ScalarType::f32, CacheType::f32);
    set_value(1, 4, 0, 15, special);
    expect_refused({"sequence 1", "head 0", "token 4", "block 4", "offset 4", "value", "15", text});
    problem_ = make(ScalarType::f32, CacheType::f32);
    set_query(1, 3, 2, special);
    expect_refused({"sequence 1", "head 3", "query", "2", text});
  }
}

TEST_F(FiniteAnswerTest, WhatNoTokenReadsMayHoldAnything) {
  const DecodeProblem clean = problem_;
  problem_.key_cache.fill(kNaN);
  problem_.value_cache.fill(kInfinity);
  testing::for_each_token_element(problem_, [&](int seq, int token, int kv_head, int dim) {
    const auto key = testing::key_of_token(problem_, seq, token, kv_head, dim);
    problem_.key_cache.write(key, clean.key_cache.read(key));
    const auto value = testing::value_of_token(problem_, seq, token, kv_head, dim);
    problem_.value_cache.write(value, clean.value_cache.read(value));
  });
  expect_accepted();
}

TEST_F(FiniteAnswerTest, PagesThatBlockSparseAttentionLeavesOutMayHoldAnything) {
  // The last page alone takes part, apart from every 1000th sparse block.
  problem_.sparsity = {.local_blocks = 1, .vert_stride = 1000, .block_size = 8};
  set_key(0, 2, 0, 3, kNaN);
  set_value(0, 2, 1, 3, kInfinity);
  expect_accepted();
  problem_.sparsity.local_blocks = 2;
  expect_refused({"sequence 0", "head 0", "token 2"});
}

TEST_F(FiniteAnswerTest, QueriesOfSequencesWithoutTokensMayHoldAnything) {
  problem_.seq_lens[1] = 0;
  set_query(1, 0, 0, kNaN);
  expect_accepted();
}

TEST_F(FiniteAnswerTest, SumsOfProductsMustStayInTheRangeOfF32WhateverTheirOrder) {
  // 2^127 - 2^127 is 0, but not if other terms are added in between.
  set_query(0, 1, 0, 0x1p100);
  set_query(0, 1, 1, 0x1p100);
  set_key(0, 6, 0, 0, 0x1p27);
  set_key(0, 6, 0, 1, -0x1p27);
  expect_refused({"sequence 0", "head 1", "token 6", "q . k"});
  set_key(0, 6, 0, 1, -0x1p26);
  expect_accepted();
  problem_.scale = 4;
  expect_refused({"sequence 0", "head 1", "token 6", "scale"});
}

TEST_F(FiniteAnswerTest, TheBiasCountsToo) {
  problem_.alibi_slopes = {0, 0, 0, 3e37F};  // times 10: 3e38
  expect_accepted();
  set_query(0, 3, 0, 1e38);
  set_key(0, 0, 1, 0, 1);
  expect_refused({"sequence 0", "head 3", "token 0", "ALiBi"});
}

TEST_F(FiniteAnswerTest, ScaledFp8ElementsMustBeNumbers) {
  problem_ = make(ScalarType::f32, CacheType::e4m3);
  set_value(0, 0, 0, 0, 448);
  problem_.v_scale = 1e36F;
  expect_refused({"sequence 0", "head 0", "token 0", "value", "4.48e+38"});
}

TEST_F(FiniteAnswerTest, AnOutputMustFitTheScalarType) {
  problem_ = make(ScalarType::f16, CacheType::e4m3);
  problem_.v_scale = 1e6F;
  expect_refused({"sequence 0", "head 0", "output", "f16"});
  // A value that does not fit, but gets no weight.
  problem_ = make(ScalarType::f16, CacheType::e4m3);
  problem_.v_scale = 1000;
  set_value(0, 3, 0, 2, 448);
  for (int head : {0, 1}) set_query(0, head, 0, 256);
  for (int token = 0; token < 11; ++token) set_key(0, token, 0, 0, token == 3 ? -4 : 4);
  expect_accepted();
}

TEST(NumberRangeTest, ThresholdsAreWhereRoundingLeavesTheType) {
  for (const CacheType type :
       {CacheType::f32, CacheType::f16, CacheType::bf16, CacheType::e4m3, CacheType::e5m2}) {
    Tensor tensor(type, {1});
    const auto rounded = [&](double value) {
      tensor.write(0, value);
      return tensor.read(0);
    };
    const double greatest = greatest_number(type);
    const double threshold = overflow_threshold(type);
    EXPECT_EQ(rounded(greatest), greatest) << name_of(type);
    EXPECT_EQ(rounded(std::nextafter(threshold, 0)), greatest) << name_of(type);
    EXPECT_EQ(rounded(threshold), is_fp8(type) ? greatest : kInfinity) << name_of(type);
    EXPECT_EQ(rounded(underflow_threshold(type)), 0) << name_of(type);
    EXPECT_GT(rounded(std::nextafter(underflow_threshold(type), 1)), 0) << name_of(type);
    // Halfway to where the next number would be.
    int exponent = 0;
    std::frexp(greatest, &exponent);
    EXPECT_EQ(threshold - greatest,
              type == CacheType::e4m3 ? 16 : (std::ldexp(1, exponent) - greatest) / 2)
        << name_of(type);
  }
}

}  // namespace
}  // namespace paged
