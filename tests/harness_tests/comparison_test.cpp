// The one comparison: what it must accept, and above all what it must not.
#include "tests/harness/comparison.h"

#include "tests/harness/case_builder.h"
#include "tests/harness/random.h"
#include "tests/reference/error_message.h"
#include "tests/reference/not_finite.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

namespace paged {
namespace {

using testing::kInfinity;
using testing::kNaN;
using testing::mentions;

constexpr int kSeqs = 2;
constexpr int kHeads = 4;
constexpr int kHeadSize = 64;

DecodeProblem some_problem(ScalarType scalar) {
  CaseSpec spec;
  spec.name = "some";
  spec.num_heads = kHeads;
  spec.num_kv_heads = 2;
  spec.head_size = kHeadSize;
  spec.block_size = 16;
  spec.scalar = scalar;
  spec.seq_lens = {40, 17};
  return build_case(spec).problem;
}

/// What a perfect implementation would return: the reference, rounded to the types of the outputs.
DecodeOutputs rounded(const DecodeProblem& problem, const ReferenceAnswer& answer) {
  DecodeOutputs outputs;
  outputs.output = Tensor(same_as(problem.scalar), problem.query.shape());
  outputs.max_seq_len = problem.shape().max_seq_len;
  std::int64_t i = 0;
  for (const HeadAttention& head : answer.attention) {
    for (double value : head.output) outputs.output.write(i++, value);
    outputs.lse.push_back(static_cast<float>(head.lse));
    outputs.maxima.push_back(static_cast<float>(head.maximum));
    outputs.sums.push_back(static_cast<float>(head.sum));
    const std::size_t row = outputs.logits.size();
    outputs.logits.resize(row + outputs.max_seq_len, std::numeric_limits<float>::quiet_NaN());
    for (Eigen::Index token = 0; token < head.logits.size(); ++token)
      outputs.logits[row + token] = static_cast<float>(head.logits[token]);
  }
  return outputs;
}

/// Outputs in f32 beside bounds that are set by hand, so that a share of a bound is exact enough.
class ComparisonTest : public ::testing::Test {
 protected:
  static constexpr double kBound = 1e-3;

  ComparisonTest()
      : problem_(some_problem(ScalarType::f32)),
        answer_(reference_answer(problem_, StageArithmetic())),
        outputs_(rounded(problem_, answer_)) {
    for (HeadErrorBound& bound : answer_.bounds) {
      bound.output.setConstant(kBound);
      bound.logits.setConstant(kBound);
      bound.lse = bound.maximum = bound.sum = kBound;
    }
  }

  static std::int64_t element(int seq, int head, int dim) {
    return (seq * kHeads + head) * kHeadSize + dim;
  }
  /// Moves one element away from the reference by a share of its bound.
  void shift(int seq, int head, int dim, double share) {
    outputs_.output.write(element(seq, head, dim),
                          answer_.attention[seq * kHeads + head].output[dim] + share * kBound);
  }
  Comparison compared() const { return compare(problem_, outputs_, answer_); }

  /// Rejected, with the place of the fault in the message.
  void expect_rejected_at(int seq, int head, const std::string& more) const {
    const Comparison result = compared();
    EXPECT_FALSE(result.passed);
    EXPECT_TRUE(mentions(result.message, "sequence " + std::to_string(seq))) << result.message;
    EXPECT_TRUE(mentions(result.message, "head " + std::to_string(head))) << result.message;
    EXPECT_NE(result.message.find(more), std::string::npos) << result.message;
    EXPECT_EQ(result.message.find('\n'), std::string::npos) << result.message;
  }

  DecodeProblem problem_;
  ReferenceAnswer answer_;
  DecodeOutputs outputs_;
};

// ---- what is accepted -------------------------------------------------------------------------
TEST(ComparisonOfTheReferenceTest, AcceptsTheRoundedReferenceInEveryType) {
  for (ScalarType scalar : {ScalarType::f32, ScalarType::f16, ScalarType::bf16}) {
    const DecodeProblem problem = some_problem(scalar);
    const ReferenceAnswer answer = reference_answer(problem, StageArithmetic());
    const Comparison result = compare(problem, rounded(problem, answer), answer);
    EXPECT_TRUE(result.passed) << name_of(scalar) << ": " << result.message;
    EXPECT_TRUE(result.message.empty());
    EXPECT_LE(result.bound_used, 1);
    EXPECT_GT(result.bound_used, 0) << "rounding leaves some error";
  }
}

TEST_F(ComparisonTest, AcceptsAnElementWithinItsBound) {
  for (const double share : {0.99, -0.99}) {
    shift(1, 2, 5, share);
    const Comparison result = compared();
    EXPECT_TRUE(result.passed) << result.message;
    EXPECT_NEAR(result.bound_used, 0.99, 0.005);
    EXPECT_NEAR(result.max_abs_error, 0.99 * kBound, 0.01 * kBound);
  }
}

TEST_F(ComparisonTest, AcceptsIndependentErrorsWithinTheBounds) {
  Random random(3);
  for (int seq = 0; seq < kSeqs; ++seq)
    for (int head = 0; head < kHeads; ++head)
      for (int dim = 0; dim < kHeadSize; ++dim)
        shift(seq, head, dim, 0.98 * (2 * random.uniform() - 1));
  EXPECT_TRUE(compared().passed) << compared().message;
}

TEST_F(ComparisonTest, AcceptsWhateverLiesBehindTheLogitsOfAShorterSequence) {
  ASSERT_TRUE(std::isnan(outputs_.logits[kHeads * outputs_.max_seq_len + 17]));
  EXPECT_TRUE(compared().passed) << compared().message;
}

TEST_F(ComparisonTest, AcceptsOutputsWithoutLogits) {
  outputs_.logits.clear();
  EXPECT_TRUE(compared().passed) << compared().message;
}

// ---- the sets of NaN and infinity -------------------------------------------------------------
TEST_F(ComparisonTest, RejectsNanForANumberWhereverItIs) {
  for (const auto& [seq, head, dim] : {std::tuple(0, 0, 0), std::tuple(1, 2, 5),
                                       std::tuple(kSeqs - 1, kHeads - 1, kHeadSize - 1)}) {
    const double before = outputs_.output.read(element(seq, head, dim));
    outputs_.output.write(element(seq, head, dim), kNaN);
    expect_rejected_at(seq, head, "dimension " + std::to_string(dim));
    outputs_.output.write(element(seq, head, dim), before);
  }
}

TEST_F(ComparisonTest, RejectsNanEvenWithAnInfiniteBound) {
  for (HeadErrorBound& bound : answer_.bounds) bound.output.setConstant(kInfinity);
  outputs_.output.write(element(1, 2, 5), kNaN);
  EXPECT_FALSE(compared().passed);
}

TEST_F(ComparisonTest, RejectsAnOutputOfNothingButNan) {
  outputs_.output.fill(kNaN);
  EXPECT_FALSE(compared().passed);
}

TEST_F(ComparisonTest, RejectsInfinityForANumber) {
  for (const double infinity : {kInfinity, -kInfinity}) {
    outputs_.output.write(element(1, 2, 5), infinity);
    expect_rejected_at(1, 2, "dimension 5");
  }
}

TEST_F(ComparisonTest, RejectsANumberWhereTheReferenceIsNotOne) {
  for (const double special : {kNaN, kInfinity, -kInfinity}) {
    answer_.attention[1 * kHeads + 2].output[5] = special;
    expect_rejected_at(1, 2, "dimension 5");
  }
}

TEST_F(ComparisonTest, AcceptsNanAndInfinityWhereTheReferenceHasThem) {
  for (const double special : {kNaN, kInfinity, -kInfinity}) {
    answer_.attention[1 * kHeads + 2].output[5] = special;
    outputs_.output.write(element(1, 2, 5), special);
    EXPECT_TRUE(compared().passed) << special << ": " << compared().message;
  }
}

TEST_F(ComparisonTest, RejectsTheOtherInfinity) {
  answer_.attention[1 * kHeads + 2].output[5] = kInfinity;
  outputs_.output.write(element(1, 2, 5), -kInfinity);
  expect_rejected_at(1, 2, "dimension 5");
}

TEST(ComparisonOfTheReferenceTest, NextToTheOverflowThresholdEitherSideIsRightButNothingElse) {
  // 65520 and more round to infinity in f16; within the bound of that, both answers are right.
  const DecodeProblem problem = some_problem(ScalarType::f16);
  ReferenceAnswer answer = reference_answer(problem, StageArithmetic());
  DecodeOutputs outputs = rounded(problem, answer);
  answer.attention[0].output[0] = 65519;
  answer.bounds[0].output[0] = 32;
  for (const double right : {65504.0, kInfinity}) {
    outputs.output.write(0, right);
    EXPECT_TRUE(compare(problem, outputs, answer).passed) << right;
  }
  for (const double wrong : {kNaN, -kInfinity, -65504.0, 0.0}) {
    outputs.output.write(0, wrong);
    EXPECT_FALSE(compare(problem, outputs, answer).passed) << wrong;
  }
}

TEST(ComparisonOfTheReferenceTest, ExpectsInfinityWhereTheTypeOverflows) {
  const DecodeProblem problem = some_problem(ScalarType::f16);
  ReferenceAnswer answer = reference_answer(problem, StageArithmetic());
  DecodeOutputs outputs = rounded(problem, answer);
  answer.attention[0].output[0] = 7e4;  // above 65504, the greatest f16
  outputs.output.write(0, kInfinity);
  EXPECT_TRUE(compare(problem, outputs, answer).passed);
  outputs.output.write(0, 65504);
  EXPECT_FALSE(compare(problem, outputs, answer).passed);
}

// ---- every element against its own bound ------------------------------------------------------
TEST_F(ComparisonTest, RejectsOneElementOutsideItsBound) {
  for (const double share : {1.01, -1.01}) {
    shift(1, 2, 5, share);
    expect_rejected_at(1, 2, "dimension 5");
    EXPECT_NEAR(compared().bound_used, 1.01, 0.005);
  }
}

TEST_F(ComparisonTest, TheMessageTellsBothValuesAndTheBound) {
  answer_.attention[1 * kHeads + 2].output[5] = 0.25;
  outputs_.output.write(element(1, 2, 5), 0.75);
  const std::string message = compared().message;
  for (const char* number : {"0.25", "0.75", "0.001"})
    EXPECT_NE(message.find(number), std::string::npos) << message;
}

TEST_F(ComparisonTest, ABoundOfZeroAllowsNothingButEquality) {
  answer_.attention[0].output[3] = 0;
  answer_.bounds[0].output[3] = 0;
  outputs_.output.write(element(0, 0, 3), 0);
  EXPECT_TRUE(compared().passed) << compared().message;
  outputs_.output.write(element(0, 0, 3), 1e-30);
  EXPECT_FALSE(compared().passed);
}

TEST_F(ComparisonTest, EachElementHasABoundOfItsOwn) {
  answer_.bounds[1 * kHeads + 2].output[5] = kBound / 100;
  shift(1, 2, 5, 0.5);
  expect_rejected_at(1, 2, "dimension 5");
}

TEST_F(ComparisonTest, RejectsZerosForAnything) {
  outputs_.output.fill(0);
  EXPECT_FALSE(compared().passed);
}

// ---- the whole tensor -------------------------------------------------------------------------
TEST_F(ComparisonTest, RejectsASmallBiasThatEveryElementHides) {
  for (int seq = 0; seq < kSeqs; ++seq)
    for (int head = 0; head < kHeads; ++head)
      for (int dim = 0; dim < kHeadSize; ++dim) shift(seq, head, dim, 0.9);
  const Comparison result = compared();
  EXPECT_LT(result.bound_used, 1) << "each element is within its bound";
  EXPECT_FALSE(result.passed);
  EXPECT_FALSE(result.message.empty());
}

TEST_F(ComparisonTest, MeasuresTheWholeOutput) {
  double reference_square = 0;
  for (std::int64_t i = 0; i < outputs_.output.size(); ++i) {
    const double reference = answer_.attention[i / kHeadSize].output[i % kHeadSize];
    reference_square += reference * reference;
    outputs_.output.write(i, 1.5 * reference);
  }
  ASSERT_GT(reference_square, 0);
  const Comparison result = compared();
  EXPECT_FALSE(result.passed);
  EXPECT_NEAR(result.relative_l2, 0.5, 1e-5);
  EXPECT_NEAR(result.cosine_distance, 0, 1e-9) << "the same direction";
  for (std::int64_t i = 0; i < outputs_.output.size(); ++i)
    outputs_.output.write(i, -outputs_.output.read(i));
  EXPECT_NEAR(compared().cosine_distance, 2, 1e-9) << "the opposite direction";
}

// ---- statistics -------------------------------------------------------------------------------
TEST_F(ComparisonTest, RejectsAnLseOutsideItsBound) {
  const int i = 1 * kHeads + 2;
  outputs_.lse[i] = static_cast<float>(answer_.attention[i].lse + 0.9 * kBound);
  EXPECT_TRUE(compared().passed) << compared().message;
  outputs_.lse[i] = static_cast<float>(answer_.attention[i].lse + 1.1 * kBound);
  expect_rejected_at(1, 2, "LSE");
}

TEST_F(ComparisonTest, RejectsAnLseThatIsNoNumber) {
  for (const float wrong :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
        -std::numeric_limits<float>::infinity()}) {
    outputs_.lse[1 * kHeads + 2] = wrong;
    expect_rejected_at(1, 2, "LSE");
  }
}

TEST_F(ComparisonTest, RejectsALogitOutsideItsBoundAndNamesItsToken) {
  const int i = 1 * kHeads + 2;
  float& logit = outputs_.logits[i * outputs_.max_seq_len + 9];
  logit = static_cast<float>(answer_.attention[i].logits[9] - 1.1 * kBound);
  expect_rejected_at(1, 2, "token 9");
  logit = std::numeric_limits<float>::quiet_NaN();
  expect_rejected_at(1, 2, "token 9");
}

TEST(ComparisonOfTheReferenceTest, SeesAnAlibiPositionThatIsOffByOne) {
  // Softmax doesn't change with a constant shift of the logits, so the output can't show it.
  DecodeProblem problem = some_problem(ScalarType::f32);
  problem.alibi_slopes = {0.5F, 0.25F, 0.125F, 0.0625F};
  const ReferenceAnswer answer = reference_answer(problem, StageArithmetic());
  DecodeOutputs outputs = rounded(problem, answer);
  EXPECT_TRUE(compare(problem, outputs, answer).passed);
  for (int i = 0; i < kSeqs * kHeads; ++i) {
    const float slope = problem.alibi_slopes[i % kHeads];
    outputs.lse[i] -= slope;
    outputs.maxima[i] -= slope;
    for (int token = 0; token < outputs.max_seq_len; ++token)
      outputs.logits[i * outputs.max_seq_len + token] -= slope;
  }
  Comparison result = compare(problem, outputs, answer);
  EXPECT_FALSE(result.passed);
  EXPECT_NE(result.message.find("LSE"), std::string::npos) << result.message;
  outputs.logits.clear();  // LSE alone shows it, too
  outputs.maxima.clear();
  EXPECT_FALSE(compare(problem, outputs, answer).passed);
}

TEST(ComparisonOfTheReferenceTest, ExpectsMinusInfinityAsLseOfAnEmptySequence) {
  DecodeProblem problem = some_problem(ScalarType::f32);
  problem.seq_lens[1] = 0;
  const ReferenceAnswer answer = reference_answer(problem, StageArithmetic());
  DecodeOutputs outputs = rounded(problem, answer);
  ASSERT_EQ(outputs.lse[kHeads], -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(compare(problem, outputs, answer).passed)
      << compare(problem, outputs, answer).message;
  for (const float wrong : {0.0F, -1e30F, std::numeric_limits<float>::infinity()}) {
    outputs.lse[kHeads] = wrong;
    EXPECT_FALSE(compare(problem, outputs, answer).passed) << wrong;
  }
}

// ---- bit by bit -------------------------------------------------------------------------------
TEST_F(ComparisonTest, BitDifferenceIsEmptyForEqualBits) {
  outputs_.output.write(3, kNaN);  // NaN equals itself, bit for bit
  EXPECT_EQ(bit_difference(outputs_, outputs_), "");
}

TEST_F(ComparisonTest, BitDifferenceSeesTheSignOfZeroAndThePayloadOfNan) {
  DecodeOutputs a = outputs_;
  DecodeOutputs b = outputs_;
  const auto set_bits = [](DecodeOutputs& outputs, std::int64_t i, std::uint32_t bits) {
    std::memcpy(outputs.output.data() + 4 * i, &bits, 4);
  };
  const std::int64_t i = element(1, 2, 5);
  for (const auto& [bits_a, bits_b] :
       {std::pair(0x00000000U, 0x80000000U), std::pair(0x7FC00000U, 0x7FC00001U),
        std::pair(0x3F800000U, 0x3F800001U)}) {
    set_bits(a, i, bits_a);
    set_bits(b, i, bits_b);
    const std::string difference = bit_difference(a, b);
    EXPECT_TRUE(mentions(difference, "sequence 1")) << difference;
    EXPECT_TRUE(mentions(difference, "head 2")) << difference;
    EXPECT_TRUE(mentions(difference, "dimension 5")) << difference;
    EXPECT_EQ(bit_difference(a, a), "");
  }
}

TEST_F(ComparisonTest, BitDifferenceSeesTheLse) {
  DecodeOutputs other = outputs_;
  float& lse = other.lse[1 * kHeads + 2];
  lse = std::bit_cast<float>(std::bit_cast<std::uint32_t>(lse) + 1);
  EXPECT_NE(bit_difference(outputs_, other).find("LSE"), std::string::npos);
}

TEST_F(ComparisonTest, BitDifferenceLooksOnlyAtTheChosenSequencesAndHeads) {
  DecodeOutputs other = outputs_;
  other.output.write(element(1, 2, 5), 42);
  EXPECT_EQ(bit_difference(outputs_, 0, other, 0), "");
  EXPECT_NE(bit_difference(outputs_, 1, other, 1), "");
  EXPECT_EQ(bit_difference(outputs_, 1, other, 1, {0, 1, 3}), "");
  EXPECT_NE(bit_difference(outputs_, 1, other, 1, {2}), "");
}

TEST_F(ComparisonTest, BitDifferenceComparesSequencesAcrossBatches) {
  DecodeOutputs swapped = outputs_;
  const std::size_t row = static_cast<std::size_t>(kHeads) * kHeadSize * 4;
  std::memcpy(swapped.output.data(), outputs_.output.data() + row, row);
  std::memcpy(swapped.output.data() + row, outputs_.output.data(), row);
  for (int head = 0; head < kHeads; ++head)
    std::swap(swapped.lse[head], swapped.lse[kHeads + head]);
  EXPECT_EQ(bit_difference(outputs_, 0, swapped, 1), "");
  EXPECT_EQ(bit_difference(outputs_, 1, swapped, 0), "");
  EXPECT_NE(bit_difference(outputs_, 0, swapped, 0), "");
}

}  // namespace
}  // namespace paged
