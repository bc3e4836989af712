// Weights read from outside, and the cause that they point at: for every planted mistake that the
// weights can show the right one, and for right attention none.
#include "tests/harness/likely_cause.h"

#include "tests/harness/alibi_slopes.h"
#include "tests/harness/check_run.h"
#include "tests/harness/invariants/cases.h"
#include "tests/harness/stage_run.h"
#include "tests/harness_tests/plain_device.h"
#include "tests/harness_tests/plain_stage.h"

#include <gtest/gtest.h>

#include <set>
#include <tuple>
#include <utility>

namespace paged {
namespace {

using testing::Mistake;
using testing::plain_stage;
using testing::PlainDevice;

/// Three sequences of two pages and more, whose table also has valid blocks behind their last
/// pages; of several heads.
CaseSpec three_sequences(ScalarType scalar) {
  CaseSpec spec = make_case(scalar, {4, 2, 64, 16}, {19, 40, 61}, "normal", 3);
  spec.table_width = 6;
  spec.table_padding = 1;
  return spec;
}

CaseSpec with_fp8(ScalarType scalar) {
  CaseSpec spec = three_sequences(scalar);
  spec.cache = CacheType::e4m3;
  spec.k_scale = 0.25;
  spec.v_scale = 0.7;
  return spec;
}

CaseSpec with_alibi(ScalarType scalar) {
  CaseSpec spec = three_sequences(scalar);
  spec.alibi_slopes = alibi_slopes(4);
  return spec;
}

CaseSpec with_sparsity(ScalarType scalar) {
  CaseSpec spec = make_case(scalar, {4, 2, 64, 16}, {150}, "normal", 3);
  spec.block_sparse = {1, 3, 16, 1, 0};
  return spec;
}

CaseSpec with_partitions(ScalarType scalar) {
  CaseSpec spec = make_case(scalar, {1, 1, 64, 16}, {530}, "normal", 3);
  spec.variant = KernelVariant::v2;
  return spec;
}

CaseSpec far_below_zero(ScalarType scalar) {
  return make_case(scalar, {2, 1, 64, 16}, {9, 33}, "negative-logits", 3);
}

CaseSpec large(ScalarType scalar) {
  return make_case(scalar, {2, 1, 64, 16}, {17, 40}, "large-logits", 3);
}

CaseSpec below_any_finite_minus_infinity(ScalarType scalar) {
  CaseSpec spec = far_below_zero(scalar);
  spec.scale = 1;
  spec.key_values.logit = -2e4;
  return spec;
}

struct Expected {
  Mistake mistake;
  const char* cause;
  CaseSpec (*spec)(ScalarType) = three_sequences;
};

/// Every mistake of the plain stage that changes weights.
const Expected kExpected[] = {
    {Mistake::row_of_longest_sequence, "wrong-table-row"},
    {Mistake::row_of_next_sequence, "wrong-table-row"},
    {Mistake::table_ignored, "table-ignored"},
    {Mistake::tokens_in_address_order, "address-order"},
    {Mistake::last_token_dropped, "last-token-dropped"},
    {Mistake::last_page_dropped, "page-missing"},
    {Mistake::token_512_dropped, "token-dropped", with_partitions},
    {Mistake::longest_length_for_all, "length-of-longest"},
    {Mistake::tail_not_masked, "tail-not-masked"},
    {Mistake::tail_weighs_exp_of_zero, "padding-in-denominator"},
    {Mistake::kv_head_modulo, "wrong-kv-head"},
    {Mistake::query_of_sequence_0, "wrong-query"},
    {Mistake::x_of_scalar_type, "key-layout", with_fp8},
    {Mistake::no_scale, "scale-missing"},
    {Mistake::k_scale_dropped, "k-scale", with_fp8},
    {Mistake::v_scale_dropped, "v-scale", with_fp8},
    {Mistake::k_scale_for_values, "v-scale", with_fp8},
    {Mistake::alibi_sign, "alibi-sign", with_alibi},
    {Mistake::alibi_ignored, "alibi-missing", with_alibi},
    {Mistake::sparsity_ignored, "sparsity-ignored", with_sparsity},
    {Mistake::stripe_by_kv_head, "sparse-pattern", with_sparsity},
    {Mistake::no_maximum, "maximum", large},
    {Mistake::maximum_starts_at_zero, "maximum", far_below_zero},
    {Mistake::maximum_starts_at_minus_1e4, "maximum", below_any_finite_minus_infinity},
    {Mistake::sum_not_divided, "sum-not-divided"},
    {Mistake::dimensions_past_64_unwritten, "dimensions-unwritten",
     [](ScalarType scalar) {
       return make_case(scalar, {2, 1, 128, 16}, {70}, "normal", 3);
     }},
    {Mistake::page_too_many_attended, "page-too-many"},
    {Mistake::last_value_dropped, "value-dropped"},
    {Mistake::first_value_doubled, "token-doubled"},
    {Mistake::keys_ignored, "keys-ignored"},
    {Mistake::sum_not_rescaled, "sum-not-rescaled"},
    {Mistake::partitions_not_rescaled, "partition-not-rescaled", with_partitions},
    {Mistake::table_ignored_for_keys, "table-ignored"},
    {Mistake::table_ignored_for_values, "table-ignored"},
    {Mistake::dot_of_lane_0, "dimensions-lost"},
    {Mistake::dot_of_page, "sum-over-warp"},
    {Mistake::sum_of_lane_0, "part-in-denominator"},
};

std::string name_of(Mistake mistake) {
  for (const auto& info : testing::mistakes())
    if (info.mistake == mistake) return info.name;
  return "";
}

class LikelyCauseTest : public ::testing::TestWithParam<std::tuple<Expected, ScalarType>> {};

/// Whether no other weights than the right ones are recovered.
bool is_right(const Diagnosis& diagnosis) {
  return diagnosis.text.find("all weights are right") != std::string::npos;
}

TEST_P(LikelyCauseTest, IsTheMistake) {
  const auto& [expected, scalar] = GetParam();
  const DecodeProblem problem = build_case(expected.spec(scalar)).problem;
  PlainDevice device;
  const Stage stage = plain_stage(expected.mistake, {scalar});
  KernelUnderTest kernel(stage, device);
  int wrong = 0;
  for (int seq = 0; seq < problem.num_seqs(); ++seq)
    for (int head = 0; head < problem.num_heads; ++head) {
      const Diagnosis diagnosis = diagnose(kernel, problem, seq, head);
      if (is_right(diagnosis)) continue;  // one that the mistake leaves alone
      ++wrong;
      EXPECT_EQ(diagnosis.cause.id, expected.cause) << diagnosis.text;
      EXPECT_NE(diagnosis.text.find(diagnosis.cause.sentence), std::string::npos);
    }
  EXPECT_GT(wrong, 0) << "no weight shows it";
}

INSTANTIATE_TEST_SUITE_P(Mistakes, LikelyCauseTest,
                         ::testing::Combine(::testing::ValuesIn(kExpected),
                                            ::testing::Values(ScalarType::f32, ScalarType::f16)),
                         [](const auto& tested) {
                           return name_of(std::get<0>(tested.param).mistake) + "_" +
                                  std::string(name_of(std::get<1>(tested.param)));
                         });

void expect_no_cause(KernelUnderTest& kernel, const DecodeProblem& problem) {
  for (int seq = 0; seq < problem.num_seqs(); ++seq)
    for (int head = 0; head < problem.num_heads; ++head) {
      const Diagnosis diagnosis = diagnose(kernel, problem, seq, head);
      EXPECT_TRUE(is_right(diagnosis)) << diagnosis.text;
      EXPECT_EQ(diagnosis.cause.id, "") << diagnosis.text;
    }
}

TEST(LikelyCauseOfNothing, RightAttentionHasNone) {
  PlainDevice device;
  for (const ScalarType scalar : {ScalarType::f32, ScalarType::f16, ScalarType::bf16}) {
    const Stage stage = plain_stage(Mistake::none, {scalar});
    KernelUnderTest kernel(stage, device);
    std::set<CaseSpec (*)(ScalarType)> specs;
    for (const Expected& expected : kExpected) specs.insert(expected.spec);
    for (const auto spec : specs) expect_no_cause(kernel, build_case(spec(scalar)).problem);
  }
}

TEST(LikelyCauseOfNothing, StagesOfTheProjectHaveNone) {
  const std::unique_ptr<Device> device = make_device(Backend::cpu);
  for (const Stage& stage : stages(Backend::cpu, Checking::unchecked)) {
    SCOPED_TRACE(stage.name);
    KernelUnderTest kernel(stage, *device);
    for (const auto spec : {three_sequences, with_alibi, with_sparsity, with_fp8, with_partitions})
      expect_no_cause(kernel, build_case(spec(ScalarType::f16)).problem);
  }
}

// Mistakes that leave weights alone.
TEST(LikelyCauseOfStatistics, IsTheMistake) {
  PlainDevice device;
  const DecodeProblem problem = build_case(with_alibi(ScalarType::f32)).problem;
  for (const auto& [mistake, cause] : {std::pair(Mistake::alibi_off_by_one, "alibi-position"),
                                       std::pair(Mistake::lse_unwritten, "lse-unwritten")}) {
    const Stage stage = plain_stage(mistake, {ScalarType::f32});
    KernelUnderTest kernel(stage, device);
    for (int seq = 0; seq < problem.num_seqs(); ++seq)
      for (int head = 0; head < problem.num_heads; ++head) {
        const Diagnosis diagnosis = diagnose(kernel, problem, seq, head);
        EXPECT_TRUE(is_right(diagnosis)) << diagnosis.text;
        EXPECT_EQ(diagnosis.cause.id, cause) << diagnosis.text;
      }
  }
}

TEST(LikelyCauseOfStatistics, WhereNothingExplainsThemTheReportSaysWhereToLook) {
  PlainDevice device;
  const Stage stage = plain_stage(Mistake::values_clamped, {ScalarType::f32});
  KernelUnderTest kernel(stage, device);
  const DecodeProblem problem = build_case(three_sequences(ScalarType::f32)).problem;
  const Diagnosis diagnosis = diagnose(kernel, problem, 0, 0);
  EXPECT_TRUE(is_right(diagnosis)) << diagnosis.text;
  EXPECT_EQ(diagnosis.cause.id, "");
  EXPECT_NE(diagnosis.text.find("look at the values"), std::string::npos) << diagnosis.text;
}

// ---- in the report ------------------------------------------------------------------------------
TEST(DiagnosisTest, AFailureNamesTokenBlockAndCause) {
  PlainDevice device;
  const Stage stage = plain_stage(Mistake::last_token_dropped, {ScalarType::f32});
  KernelUnderTest kernel(stage, device);
  CaseSpec spec = make_case(ScalarType::f32, {1, 1, 64, 16}, {17}, "peaked", 1);
  spec.block_tables = std::vector<std::vector<std::int32_t>>{{3, 2}};
  const auto results = run_checks(kernel, {{"reference"}, {spec}, 1});
  ASSERT_EQ(results.size(), 1U);
  const Verdict& verdict = results[0].verdict;
  EXPECT_FALSE(verdict.held);
  EXPECT_FALSE(verdict.faulty);
  EXPECT_EQ(verdict.cause, "last-token-dropped");
  EXPECT_NE(verdict.message.find("seq 0 head 0 kv_head 0 seq_len 17: token 16 (logical block 1, "
                                 "offset 0, physical block 2) has weight 0.0000, reference 0."),
            std::string::npos)
      << verdict.message;
}

TEST(DiagnosisTest, WeightThatSitsElsewhereIsNamed) {
  PlainDevice device;
  const Stage stage = plain_stage(Mistake::row_of_next_sequence, {ScalarType::f32});
  KernelUnderTest kernel(stage, device);
  const DecodeProblem problem =
      build_case(make_case(ScalarType::f32, {1, 1, 64, 16}, {16, 16}, "needle", 1)).problem;
  const std::string text = diagnose(kernel, problem, 0, 0).text;
  EXPECT_NE(text.find("sits on physical block " + std::to_string(problem.block_table(1)[0]) +
                      " (sequence 1's)"),
            std::string::npos)
      << text;
}

/// On one page, tokens of one weight may come of either; a longer sequence tells them apart.
TEST(DiagnosisTest, MistakesWithEqualWeightsAreBothNamedUnlessOtherSequencesTellThemApart) {
  PlainDevice device;
  for (const auto& [mistake, cause] : {std::pair(Mistake::keys_ignored, "keys-ignored"),
                                       std::pair(Mistake::dot_of_page, "sum-over-warp")}) {
    const Stage stage = plain_stage(mistake, {ScalarType::f32});
    KernelUnderTest kernel(stage, device);
    const auto spec = [](std::vector<int> lengths) {
      return make_case(ScalarType::f32, {1, 1, 64, 16}, std::move(lengths), "normal", 1);
    };
    const Diagnosis alone = diagnose(kernel, build_case(spec({9})).problem, 0, 0);
    EXPECT_EQ(alone.cause.id, "");
    EXPECT_TRUE(alone.has_several_causes()) << alone.text;
    for (const char* part : {"; likely cause: either the keys, or the query, do not count",
                             ", or the dot products of a page's tokens are added"})
      EXPECT_NE(alone.text.find(part), std::string::npos) << alone.text;
    const Diagnosis first = diagnose(kernel, build_case(spec({9, 40})).problem, 0, 0);
    EXPECT_EQ(first.cause.id, cause) << first.text;
    const auto results = run_checks(kernel, {{"reference"}, {spec({9, 40})}, 1});
    ASSERT_EQ(results.size(), 1U);
    EXPECT_EQ(results[0].verdict.cause, cause) << results[0].verdict.message;
  }
}

TEST(DiagnosisTest, ALargeCaseIsLeftAlone) {
  PlainDevice device;
  const Stage stage = plain_stage(Mistake::no_scale, {ScalarType::f32});
  KernelUnderTest kernel(stage, device);
  const DecodeProblem problem =
      build_case(make_case(ScalarType::f32, {1, 1, 64, 16}, {7000}, "normal", 1)).problem;
  EXPECT_NE(diagnose(kernel, problem, 0, 0).text.find("smaller"), std::string::npos);
}

}  // namespace
}  // namespace paged
