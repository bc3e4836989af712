// Validation of decode problems: what is accepted, and what each refusal says.
#include "reference/decode_problem.h"

#include "tests/reference/error_message.h"
#include "tests/reference/logical_tokens.h"
#include "tests/reference/not_finite.h"

#include <gtest/gtest.h>

#include <climits>
#include <functional>
#include <limits>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace paged {
namespace {

using testing::kFloatInfinity;
using testing::kFloatNaN;
using testing::Layout;
using testing::zero_problem;

Layout baseline_layout() {
  Layout layout;
  layout.num_heads = 8;
  layout.num_kv_heads = 2;
  layout.head_size = 32;
  layout.block_size = 16;
  layout.scalar = ScalarType::f16;
  layout.cache = CacheType::f16;
  layout.seq_lens = {35, 17, 0};
  layout.tables = {{7, 2, 9}, {4, 1}, {}};
  layout.num_blocks = 12;
  layout.table_width = 4;
  layout.table_padding = -7;
  return layout;
}

DecodeProblem baseline() { return zero_problem(baseline_layout()); }

// ---- what is accepted ------------------------------------------------------------------------
TEST(DecodeProblem, TheBaselineIsValid) { EXPECT_NO_THROW(baseline().validate()); }

TEST(DecodeProblem, PaddingEntriesMayHoldAnything) {
  for (const int padding : {-1, INT_MIN, INT_MAX, 0, 7, 12, 1000000}) {
    Layout layout = baseline_layout();
    layout.table_padding = padding;
    EXPECT_NO_THROW(zero_problem(layout).validate()) << padding;
  }
}

TEST(DecodeProblem, AnEntryIsPaddingFromTheCeilingOn) {
  // 16 and 32 tokens need exactly one and two pages: the next entry is padding (BUGS.md 6).
  Layout layout = baseline_layout();
  layout.seq_lens = {16, 32, 48};
  layout.tables = {{7}, {4, 1}, {0, 5, 11}};
  EXPECT_NO_THROW(zero_problem(layout).validate());
  layout.seq_lens[1] = 33;  // now the third entry of row 1 counts, and it holds -7
  EXPECT_THROW(zero_problem(layout).validate(), InputError);
}

TEST(DecodeProblem, ALengthThatFillsItsTableRowIsValid) {
  Layout layout = baseline_layout();
  layout.seq_lens = {64};
  layout.tables = {{7, 2, 9, 11}};
  EXPECT_NO_THROW(zero_problem(layout).validate());
}

TEST(DecodeProblem, ARowWithRoomForMoreThanTwoToThe31TokensIsValid) {
  Layout layout = baseline_layout();
  layout.num_heads = layout.num_kv_heads = 1;
  layout.head_size = 8;
  layout.block_size = 65536;
  layout.num_blocks = 1;
  layout.seq_lens = {100};
  layout.tables = {{0}};
  layout.table_width = 40000;
  EXPECT_NO_THROW(zero_problem(layout).validate());
}

TEST(DecodeProblem, NoSequencesAtAllIsValid) {
  Layout layout = baseline_layout();
  layout.seq_lens = {};
  layout.tables = {};
  EXPECT_NO_THROW(zero_problem(layout).validate());
}

TEST(DecodeProblem, EmptySequencesNeedNoTable) {
  Layout layout = baseline_layout();
  layout.seq_lens = {0, 0};
  layout.tables = {{}, {}};
  EXPECT_NO_THROW(zero_problem(layout).validate());
  layout.table_width = 0;
  EXPECT_NO_THROW(zero_problem(layout).validate());
}

TEST(DecodeProblem, ACacheWithoutBlocksServesEmptySequences) {
  Layout layout = baseline_layout();
  layout.seq_lens = {0, 0};
  layout.tables = {{}, {}};
  layout.num_blocks = 0;
  EXPECT_NO_THROW(zero_problem(layout).validate());
}

TEST(DecodeProblem, SequencesMayShareBlocks) {
  Layout layout = baseline_layout();
  layout.tables = {{7, 2, 9}, {7, 2}, {}};
  EXPECT_NO_THROW(zero_problem(layout).validate());
}

TEST(DecodeProblem, AnyDivisorIsAValidHeadRatio) {
  for (const int per_kv_head : {1, 4, 5, 7, 16}) {
    Layout layout = baseline_layout();
    layout.num_kv_heads = 3;
    layout.num_heads = 3 * per_kv_head;
    EXPECT_NO_THROW(zero_problem(layout).validate()) << per_kv_head;
  }
}

TEST(DecodeProblem, EveryPairOfScalarAndItsOwnOrAnFp8CacheIsValid) {
  for (const ScalarType scalar : {ScalarType::f32, ScalarType::f16, ScalarType::bf16})
    for (const CacheType cache : {same_as(scalar), CacheType::e4m3, CacheType::e5m2}) {
      Layout layout = baseline_layout();
      layout.scalar = scalar;
      layout.cache = cache;
      EXPECT_NO_THROW(zero_problem(layout).validate()) << name_of(scalar) << ' ' << name_of(cache);
    }
}

TEST(DecodeProblem, HalfProbabilitiesTakeAHalfScalarAndCache) {
  const std::pair<ScalarType, CacheType> others[] = {{ScalarType::f32, CacheType::f32},
                                                     {ScalarType::bf16, CacheType::bf16},
                                                     {ScalarType::f16, CacheType::e4m3},
                                                     {ScalarType::bf16, CacheType::e5m2}};
  EXPECT_NO_THROW(check_probabilities(ScalarType::f16, ScalarType::f16, CacheType::f16));
  for (const auto& [scalar, cache] : others) {
    EXPECT_NO_THROW(check_probabilities(ScalarType::f32, scalar, cache));
    EXPECT_THROW(check_probabilities(ScalarType::f16, scalar, cache), InputError);
    EXPECT_THROW(check_probabilities(ScalarType::bf16, scalar, cache), InputError);
    Layout layout = baseline_layout();
    layout.scalar = scalar;
    layout.cache = cache;
    DecodeProblem p = zero_problem(layout);
    p.probabilities = ScalarType::f16;
    EXPECT_THROW(p.validate(), InputError);
    EXPECT_EQ(p.shape().probabilities, ScalarType::f16);
  }
}

TEST(DecodeProblem, AnyFiniteScaleIsValid) {
  for (const float scale : {0.0F, -1.0F, 1e-30F, 1e30F}) {
    DecodeProblem p = baseline();
    p.scale = scale;
    EXPECT_NO_THROW(p.validate()) << scale;
  }
}

TEST(DecodeProblem, ASlopeWhoseBiasIsJustAFloatIsValid) {
  DecodeProblem p = baseline();
  p.alibi_slopes.assign(8, 1.0e37F);  // 34 of it are 3.4e38
  EXPECT_NO_THROW(p.validate());
  p.seq_lens = {1, 1, 0};  // no distance at all
  p.alibi_slopes.assign(8, std::numeric_limits<float>::max());
  EXPECT_NO_THROW(p.validate());
}

TEST(DecodeProblem, TypesInMessagesHaveTheirArticle) {
  EXPECT_EQ(with_article(CacheType::bf16), "a bf16");
  EXPECT_EQ(with_article(CacheType::f16), "an f16");
  EXPECT_EQ(with_article(CacheType::f32), "an f32");
  EXPECT_EQ(with_article(CacheType::e4m3), "an e4m3");
  EXPECT_EQ(with_article(CacheType::e5m2), "an e5m2");
}

TEST(DecodeProblem, SlopesForEveryHeadAndActiveSparsityAreValid) {
  DecodeProblem p = baseline();
  p.alibi_slopes.assign(8, 0.5F);
  p.sparsity = {.local_blocks = 2, .vert_stride = 8, .block_size = 48, .head_sliding_step = -1};
  EXPECT_NO_THROW(p.validate());
}

// ---- what is refused -------------------------------------------------------------------------
/// One mistake in an otherwise valid problem, and what its message must name: of each inner list
/// at least one spelling.
struct Violation {
  const char* name;
  std::function<DecodeProblem()> problem;
  std::vector<std::vector<std::string>> mentioned;
};
void PrintTo(const Violation& violation, std::ostream* out) { *out << violation.name; }

std::function<DecodeProblem()> edited(const std::function<void(DecodeProblem&)>& edit) {
  return [edit] {
    DecodeProblem p = baseline();
    edit(p);
    return p;
  };
}

std::function<DecodeProblem()> laid_out(const std::function<void(Layout&)>& edit) {
  return [edit] {
    Layout layout = baseline_layout();
    edit(layout);
    return zero_problem(layout);
  };
}

/// The block id at a valid entry of a row replaced by another.
std::function<DecodeProblem()> with_block_id(int seq, int entry, int id) {
  return edited([=](DecodeProblem& p) {
    p.block_tables[static_cast<std::size_t>(seq * p.max_num_blocks_per_seq + entry)] = id;
  });
}

Tensor key_shaped(CacheType type, std::vector<std::int64_t> shape) { return {type, shape}; }

const std::vector<std::string> kZero = {"0", "0.0", "0.000000"};

std::vector<Violation> head_violations() {
  return {
      {"SixteenHeadsOverFiveKvHeads",  // BUGS.md 16
       laid_out([](Layout& l) { l.num_heads = 16, l.num_kv_heads = 5; }),
       {{"16"}, {"5"}}},
      {"FewerHeadsThanKvHeads",
       laid_out([](Layout& l) { l.num_heads = 3, l.num_kv_heads = 6; }),
       {{"3"}, {"6"}}},
      {"NoHeads", laid_out([](Layout& l) { l.num_heads = 0; }), {{"0"}}},
      {"NegativeHeads", edited([](DecodeProblem& p) { p.num_heads = -8; }), {{"-8"}}},
      {"NoKvHeads", laid_out([](Layout& l) { l.num_kv_heads = 0; }), {{"0"}}},
      {"NegativeKvHeads", edited([](DecodeProblem& p) { p.num_kv_heads = -2; }), {{"-2"}}},
      {"HeadSizeZero", laid_out([](Layout& l) { l.head_size = 0; }), {{"0"}}},
      {"NegativeHeadSize", edited([](DecodeProblem& p) { p.head_size = -32; }), {{"-32"}}},
      {"HeadSizeNoMultipleOfTheKeyVector",
       laid_out([](Layout& l) { l.head_size = 44; }),
       {{"44"}, {"8"}}},
      {"HeadSize120WithFp8",
       laid_out([](Layout& l) { l.head_size = 120, l.cache = CacheType::e4m3; }),
       {{"120"}, {"16"}}},
      {"BlockSizeZero", laid_out([](Layout& l) { l.block_size = 0; }), {{"0"}}},
      {"NegativeBlockSize", edited([](DecodeProblem& p) { p.block_size = -16; }), {{"-16"}}},
  };
}

std::vector<Violation> scale_violations() {
  return {
      {"ScaleNaN", edited([](DecodeProblem& p) { p.scale = kFloatNaN; }), {{"nan", "NaN"}}},
      {"ScaleInfinite", edited([](DecodeProblem& p) { p.scale = -kFloatInfinity; }), {{"-inf"}}},
      {"KeyScaleZero", edited([](DecodeProblem& p) { p.k_scale = 0; }), {kZero, {"k_scale"}}},
      {"KeyScaleNegative",
       edited([](DecodeProblem& p) { p.k_scale = -0.5F; }),
       {{"-0.5", "-0.500000"}, {"k_scale"}}},
      {"KeyScaleNaN",
       edited([](DecodeProblem& p) { p.k_scale = kFloatNaN; }),
       {{"nan", "NaN"}, {"k_scale"}}},
      {"KeyScaleInfinite",
       edited([](DecodeProblem& p) { p.k_scale = kFloatInfinity; }),
       {{"inf"}, {"k_scale"}}},
      {"ValueScaleZero", edited([](DecodeProblem& p) { p.v_scale = 0; }), {kZero, {"v_scale"}}},
      {"ValueScaleNegative",
       edited([](DecodeProblem& p) { p.v_scale = -0.25F; }),
       {{"-0.25", "-0.250000"}, {"v_scale"}}},
      {"ValueScaleNaN",
       edited([](DecodeProblem& p) { p.v_scale = kFloatNaN; }),
       {{"nan", "NaN"}, {"v_scale"}}},
      {"ValueScaleInfinite",
       edited([](DecodeProblem& p) { p.v_scale = kFloatInfinity; }),
       {{"inf"}, {"v_scale"}}},
  };
}

std::vector<Violation> slope_violations() {
  return {
      {"SlopeWhoseBiasOverflows",  // 34 tokens before the last: 3.4e38
       edited([](DecodeProblem& p) {
         p.alibi_slopes.assign(8, 0.5F);
         p.alibi_slopes[3] = -1.1e37F;
       }),
       {{"alibi_slopes"}, {"3"}, {"-1.10000001e+37"}, {"34"}}},
  };
}

std::vector<Violation> tensor_violations() {
  return {
      {"QueryOfAnotherType",
       edited([](DecodeProblem& p) {
         p.query = Tensor(CacheType::f32, {3, 8, 32});
       }),
       {{"f32"}, {"f16"}}},
      {"QueryOfAnFp8Type",
       edited([](DecodeProblem& p) {
         p.query = Tensor(CacheType::e4m3, {3, 8, 32});
       }),
       {{"e4m3"}, {"f16"}}},
      {"QueryForTooFewSequences",
       edited([](DecodeProblem& p) {
         p.query = Tensor(CacheType::f16, {2, 8, 32});
       }),
       {{"2"}, {"3"}}},
      {"QueryWithTooManyHeads",
       edited([](DecodeProblem& p) {
         p.query = Tensor(CacheType::f16, {3, 9, 32});
       }),
       {{"9"}, {"8"}}},
      {"QueryOfAnotherHeadSize",
       edited([](DecodeProblem& p) {
         p.query = Tensor(CacheType::f16, {3, 8, 40});
       }),
       {{"40"}, {"32"}}},
      {"QueryOfAnotherRank",
       edited([](DecodeProblem& p) {
         p.query = Tensor(CacheType::f16, {24, 32});
       }),
       {{"24"}}},
      {"QueryMissing", edited([](DecodeProblem& p) { p.query = Tensor(); }), {}},
      {"CacheOfAnotherScalar",
       laid_out([](Layout& l) { l.cache = CacheType::bf16; }),
       {{"bf16"}, {"f16"}}},
      {"CacheWiderThanTheScalar",
       laid_out([](Layout& l) { l.cache = CacheType::f32; }),
       {{"f32"}, {"f16"}}},
      {"ValueCacheOfAnotherTypeThanTheKeyCache",
       edited([](DecodeProblem& p) {
         p.value_cache = Tensor(CacheType::e4m3, {12, 2, 32, 16});
       }),
       {{"e4m3"}, {"f16"}}},
      {"Fp8CachesOfTwoKinds",
       [] {
         Layout layout = baseline_layout();
         layout.cache = CacheType::e5m2;
         DecodeProblem p = zero_problem(layout);
         p.value_cache = Tensor(CacheType::e4m3, {12, 2, 32, 16});
         return p;
       },
       {{"e4m3"}, {"e5m2"}}},
      {"KeyCacheWithTheVectorWidthOfTheScalar",  // BUGS.md 25
       [] {
         Layout layout = baseline_layout();
         layout.cache = CacheType::e4m3;
         DecodeProblem p = zero_problem(layout);
         p.key_cache = key_shaped(CacheType::e4m3, {12, 2, 4, 16, 8});
         return p;
       },
       {{"16"}, {"8"}}},
      {"KeyCacheWithTooFewHeads",
       edited([](DecodeProblem& p) {
         p.key_cache = key_shaped(CacheType::f16, {12, 1, 4, 16, 8});
       }),
       {{"1"}, {"2"}}},
      {"KeyCacheOfAnotherBlockSize",
       edited([](DecodeProblem& p) {
         p.key_cache = key_shaped(CacheType::f16, {12, 2, 4, 32, 8});
       }),
       {{"32"}, {"16"}}},
      {"KeyCacheOfAnotherHeadSize",
       edited([](DecodeProblem& p) {
         p.key_cache = key_shaped(CacheType::f16, {12, 2, 5, 16, 8});
       }),
       {{"5"}, {"4"}}},
      {"KeyCacheOfAnotherRank",
       edited([](DecodeProblem& p) {
         p.key_cache = key_shaped(CacheType::f16, {12, 2, 32, 16});
       }),
       {}},
      {"KeyCacheMissing", edited([](DecodeProblem& p) { p.key_cache = Tensor(); }), {}},
      {"ValueCacheWithFewerBlocksThanTheKeyCache",
       edited([](DecodeProblem& p) {
         p.value_cache = Tensor(CacheType::f16, {11, 2, 32, 16});
       }),
       {{"11"}, {"12"}}},
      {"ValueCacheWithTooManyHeads",
       edited([](DecodeProblem& p) {
         p.value_cache = Tensor(CacheType::f16, {12, 4, 32, 16});
       }),
       {{"4"}, {"2"}}},
      {"ValueCacheTransposed",
       edited([](DecodeProblem& p) {
         p.value_cache = Tensor(CacheType::f16, {12, 2, 16, 32});
       }),
       {{"16"}, {"32"}}},
      {"ValueCacheMissing", edited([](DecodeProblem& p) { p.value_cache = Tensor(); }), {}},
  };
}

std::vector<Violation> table_violations() {
  return {
      {"BlockIdEqualToTheNumberOfBlocks",
       with_block_id(1, 1, 12),  // BUGS.md 21
       {{"12"}, {"sequence 1", "seq 1"}, {"entry 1"}}},
      {"BlockIdMinusOneInTheValidPart",
       with_block_id(0, 2, -1),
       {{"-1"}, {"12", "11"}, {"sequence 0", "seq 0"}, {"entry 2"}}},
      {"BlockIdFarOutside",
       with_block_id(1, 0, 4711),
       {{"4711"}, {"12", "11"}, {"sequence 1", "seq 1"}, {"entry 0"}}},
      {"LargestBlockId",
       with_block_id(0, 0, INT_MAX),
       {{"2147483647"}, {"12", "11"}, {"sequence 0", "seq 0"}, {"entry 0"}}},
      {"SmallestBlockId",
       with_block_id(0, 1, INT_MIN),
       {{"-2147483648"}, {"12", "11"}, {"sequence 0", "seq 0"}, {"entry 1"}}},
      {"NegativeLength",
       edited([](DecodeProblem& p) { p.seq_lens[1] = -3; }),
       {{"-3"}, {"sequence 1", "seq 1"}}},
      {"LengthOnePastTheTableRow",
       edited([](DecodeProblem& p) { p.seq_lens[1] = 65; }),
       {{"65"}, {"64", "4"}, {"sequence 1", "seq 1"}}},
      {"LargestLength",
       edited([](DecodeProblem& p) { p.seq_lens[2] = INT_MAX; }),
       {{"2147483647"}, {"64", "4"}, {"sequence 2", "seq 2"}}},
      {"TableOneEntryShort",
       edited([](DecodeProblem& p) { p.block_tables.pop_back(); }),
       {{"11"}, {"12", "4"}}},
      {"TableOneEntryLong",
       edited([](DecodeProblem& p) { p.block_tables.push_back(0); }),
       {{"13"}, {"12", "4"}}},
      {"NegativeTableWidth",
       edited([](DecodeProblem& p) { p.max_num_blocks_per_seq = -4; }),
       {{"-4"}}},
      {"ATableForMoreSequencesThanLengths",
       edited([](DecodeProblem& p) { p.seq_lens.pop_back(); }),
       {}},
  };
}

std::vector<Violation> position_and_sparsity_violations() {
  return {
      {"SlopesForKvHeadsOnly",
       edited([](DecodeProblem& p) { p.alibi_slopes.assign(2, 0.5F); }),
       {{"2"}, {"8"}}},
      {"OneSlopeTooMany",
       edited([](DecodeProblem& p) { p.alibi_slopes.assign(9, 0.5F); }),
       {{"9"}, {"8"}}},
      {"SparseBlockNoMultipleOfThePage",
       edited([](DecodeProblem& p) {
         p.sparsity = {.local_blocks = 1, .vert_stride = 8, .block_size = 24};
       }),
       {{"24"}, {"16"}}},
      {"SparseBlockZero",
       edited([](DecodeProblem& p) {
         p.sparsity = {.local_blocks = 1, .vert_stride = 8, .block_size = 0};
       }),
       {{"0"}}},
      {"SparseBlockNegative",
       edited([](DecodeProblem& p) {
         p.sparsity = {.local_blocks = 1, .vert_stride = 8, .block_size = -64};
       }),
       {{"-64"}}},
      {"NegativeLocalBlocks",
       edited([](DecodeProblem& p) { p.sparsity = {.local_blocks = -3, .vert_stride = 8}; }),
       {{"-3"}}},
      {"StrideZero", edited([](DecodeProblem& p) { p.sparsity.vert_stride = 0; }), {{"0"}}},
      {"NegativeStride", edited([](DecodeProblem& p) { p.sparsity.vert_stride = -9; }), {{"-9"}}},
      {"NegativeRank",
       edited([](DecodeProblem& p) {
         p.sparsity = {.local_blocks = 1, .vert_stride = 8, .tensor_parallel_rank = -5};
       }),
       {{"-5"}}},
  };
}

class EveryViolation : public ::testing::TestWithParam<Violation> {};

TEST_P(EveryViolation, IsRefusedInOneLineThatNamesValueLimitAndPlace) {
  const DecodeProblem p = GetParam().problem();
  const auto message = testing::input_error_of([&] { p.validate(); });
  ASSERT_TRUE(message.has_value()) << "accepted";
  EXPECT_FALSE(message->empty());
  EXPECT_EQ(message->find('\n'), std::string::npos) << *message;
  for (const std::vector<std::string>& spellings : GetParam().mentioned)
    EXPECT_TRUE(testing::mentions_any(*message, spellings))
        << '"' << *message << "\" does not name " << spellings.front();
}

std::string violation_name(const ::testing::TestParamInfo<Violation>& violation) {
  return violation.param.name;
}

INSTANTIATE_TEST_SUITE_P(Heads, EveryViolation, ::testing::ValuesIn(head_violations()),
                         violation_name);
INSTANTIATE_TEST_SUITE_P(Scales, EveryViolation, ::testing::ValuesIn(scale_violations()),
                         violation_name);
INSTANTIATE_TEST_SUITE_P(Slopes, EveryViolation, ::testing::ValuesIn(slope_violations()),
                         violation_name);
INSTANTIATE_TEST_SUITE_P(Tensors, EveryViolation, ::testing::ValuesIn(tensor_violations()),
                         violation_name);
INSTANTIATE_TEST_SUITE_P(Tables, EveryViolation, ::testing::ValuesIn(table_violations()),
                         violation_name);
INSTANTIATE_TEST_SUITE_P(Options, EveryViolation,
                         ::testing::ValuesIn(position_and_sparsity_violations()), violation_name);

// ---- what a problem says about itself --------------------------------------------------------
TEST(DecodeProblem, ShapeSumsItUp) {
  Layout layout = baseline_layout();
  layout.cache = CacheType::e5m2;
  const DecodeShape shape = zero_problem(layout).shape();
  EXPECT_EQ(shape.num_seqs, 3);
  EXPECT_EQ(shape.num_heads, 8);
  EXPECT_EQ(shape.num_kv_heads, 2);
  EXPECT_EQ(shape.head_size, 32);
  EXPECT_EQ(shape.block_size, 16);
  EXPECT_EQ(shape.num_blocks, 12);
  EXPECT_EQ(shape.max_num_blocks_per_seq, 4);
  EXPECT_EQ(shape.max_seq_len, 35);
  EXPECT_EQ(shape.scalar, ScalarType::f16);
  EXPECT_EQ(shape.cache, CacheType::e5m2);
}

TEST(DecodeProblem, ShapeOfNoSequencesHasLengthZero) {
  Layout layout = baseline_layout();
  layout.seq_lens = {};
  layout.tables = {};
  EXPECT_EQ(zero_problem(layout).shape().num_seqs, 0);
  EXPECT_EQ(zero_problem(layout).shape().max_seq_len, 0);
}

TEST(DecodeProblem, ATableRowStartsAtSequenceTimesWidth) {
  const DecodeProblem p = baseline();
  EXPECT_EQ(p.block_table(0)[0], 7);
  EXPECT_EQ(p.block_table(1)[0], 4);
  EXPECT_EQ(p.block_table(1)[1], 1);
  EXPECT_EQ(p.block_table(2)[0], -7);
}

TEST(DecodeProblem, NewCachesAreZeroAndOfTheSpecifiedShape) {
  const Tensor key = make_key_cache(CacheType::f16, 12, 2, 128, 16);
  EXPECT_EQ(key.type(), CacheType::f16);
  EXPECT_EQ(key.shape(), (std::vector<std::int64_t>{12, 2, 16, 16, 8}));
  const Tensor fp8 = make_key_cache(CacheType::e4m3, 3, 2, 64, 8);
  EXPECT_EQ(fp8.shape(), (std::vector<std::int64_t>{3, 2, 4, 8, 16}));
  const Tensor single = make_key_cache(CacheType::f32, 3, 2, 64, 8);
  EXPECT_EQ(single.shape(), (std::vector<std::int64_t>{3, 2, 16, 8, 4}));
  const Tensor value = make_value_cache(CacheType::bf16, 12, 2, 128, 16);
  EXPECT_EQ(value.type(), CacheType::bf16);
  EXPECT_EQ(value.shape(), (std::vector<std::int64_t>{12, 2, 128, 16}));
  for (std::int64_t i = 0; i < key.size(); ++i) ASSERT_EQ(key.read(i), 0.0);
}

TEST(DecodeProblem, LinearIndicesAreThoseOfTheRowMajorTensors) {
  for (const CacheType cache : {CacheType::f16, CacheType::e4m3}) {
    Layout layout = baseline_layout();
    layout.cache = cache;
    const DecodeProblem p = zero_problem(layout);
    std::set<std::int64_t> keys, values;
    for (int block = 0; block < 12; ++block)
      for (int kv_head = 0; kv_head < 2; ++kv_head)
        for (int token = 0; token < 16; ++token)
          for (int dim = 0; dim < 32; ++dim) {
            ASSERT_EQ(key_index(p, block, kv_head, token, dim),
                      testing::key_position(p, block, kv_head, token, dim));
            ASSERT_EQ(value_index(p, block, kv_head, token, dim),
                      testing::value_position(p, block, kv_head, token, dim));
            const ElementRuns key = key_elements(p, block, kv_head, token);
            const ElementRuns value = value_elements(p, block, kv_head, token);
            ASSERT_EQ(key_index(p, block, kv_head, token, dim),
                      key.first + dim / key.run * key.stride + dim % key.run);
            ASSERT_EQ(value_index(p, block, kv_head, token, dim),
                      value.first + dim / value.run * value.stride + dim % value.run);
            keys.insert(key_index(p, block, kv_head, token, dim));
            values.insert(value_index(p, block, kv_head, token, dim));
          }
    EXPECT_EQ(static_cast<std::int64_t>(keys.size()), p.key_cache.size());
    EXPECT_EQ(static_cast<std::int64_t>(values.size()), p.value_cache.size());
  }
}

TEST(DecodeProblem, LinearIndicesPastTwoToThe31AreRight) {
  const DecodeProblem p = baseline();  // 2 * 32 * 16 = 1024 elements a block
  EXPECT_EQ(key_index(p, 5000000, 1, 3, 9), 5000000LL * 1024 + 512 + (1 * 16 + 3) * 8 + 1);
  EXPECT_EQ(value_index(p, 5000000, 1, 3, 9), 5000000LL * 1024 + 512 + 9 * 16 + 3);
}

}  // namespace
}  // namespace paged
