// From a description to a problem: tables, poison, tensors, with index arithmetic of its own.
#include "tests/harness/case_builder.h"

#include "reference/decode_attention.h"
#include "tests/harness/npy.h"
#include "tests/harness/output_file.h"
#include "tests/harness_tests/temporary_folder.h"
#include "tests/reference/error_message.h"
#include "tests/reference/not_finite.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <string>
#include <vector>

namespace paged {
namespace {

using testing::input_error_of;
using testing::kNaN;
using testing::mentions;
using testing::TemporaryFolder;
using Rows = std::vector<std::vector<std::int32_t>>;

CaseSpec small_spec(std::vector<int> seq_lens) {
  CaseSpec spec;
  spec.name = "small";
  spec.num_heads = 4;
  spec.num_kv_heads = 2;
  spec.head_size = 32;
  spec.block_size = 16;
  spec.seq_lens = std::move(seq_lens);
  return spec;
}

/// key [num_blocks, num_kv_heads, head_size/x, block_size, x], x = 16 bytes of elements
double key_at(const DecodeProblem& p, std::int64_t block, int kv_head, int offset, int dim) {
  const std::int64_t bytes = p.key_cache.type() == CacheType::f32    ? 4
                             : p.key_cache.type() == CacheType::f16  ? 2
                             : p.key_cache.type() == CacheType::bf16 ? 2
                                                                     : 1;
  const std::int64_t x = 16 / bytes;
  const std::int64_t row = (block * p.num_kv_heads + kv_head) * (p.head_size / x) + dim / x;
  return p.key_cache.read((row * p.block_size + offset) * x + dim % x);
}

/// value [num_blocks, num_kv_heads, head_size, block_size]
double value_at(const DecodeProblem& p, std::int64_t block, int kv_head, int offset, int dim) {
  return p.value_cache.read(
      ((block * p.num_kv_heads + kv_head) * p.head_size + dim) * p.block_size + offset);
}

int pages_of(int seq_len, int block_size) { return (seq_len + block_size - 1) / block_size; }

std::vector<std::int32_t> row_of(const DecodeProblem& p, int seq) {
  const auto begin = p.block_tables.begin() + std::int64_t{seq} * p.max_num_blocks_per_seq;
  return {begin, begin + p.max_num_blocks_per_seq};
}

/// The valid entries of all rows, one after the other.
std::vector<std::int32_t> used_blocks(const DecodeProblem& p) {
  std::vector<std::int32_t> used;
  for (int seq = 0; seq < p.num_seqs(); ++seq) {
    const std::vector<std::int32_t> row = row_of(p, seq);
    used.insert(used.end(), row.begin(), row.begin() + pages_of(p.seq_lens[seq], p.block_size));
  }
  return used;
}

// ---- tables -----------------------------------------------------------------------------------
class TableKindTest : public ::testing::TestWithParam<TableKind> {};

TEST_P(TableKindTest, GivesEverySequenceBlocksOfItsOwn) {
  for (int block_size : {8, 16, 32}) {
    CaseSpec spec = small_spec({100, 0, 1, 16, 33, 64});
    spec.block_size = block_size;
    spec.block_tables = GetParam();
    const DecodeProblem p = build_case(spec).problem;
    EXPECT_NO_THROW(p.validate());
    const std::vector<std::int32_t> used = used_blocks(p);
    const std::set<std::int32_t> distinct(used.begin(), used.end());
    EXPECT_EQ(distinct.size(), used.size()) << "a block belongs to two sequences";
    EXPECT_GE(*distinct.begin(), 0);
    EXPECT_LT(*distinct.rbegin(), p.num_blocks());
    EXPECT_EQ(p.num_blocks(), static_cast<std::int64_t>(used.size()) + 3) << "three free ones";
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, TableKindTest,
                         ::testing::Values(TableKind::random, TableKind::identity,
                                           TableKind::reversed),
                         [](const auto& tested) {
                           return tested.param == TableKind::random     ? "random"
                                  : tested.param == TableKind::identity ? "identity"
                                                                        : "reversed";
                         });

TEST(CaseBuilderTest, IdentityTablesCountUpAndReversedOnesDown) {
  CaseSpec spec = small_spec({33, 16, 5});
  spec.block_tables = TableKind::identity;
  EXPECT_EQ(used_blocks(build_case(spec).problem), (std::vector<std::int32_t>{0, 1, 2, 3, 4}));
  spec.block_tables = TableKind::reversed;
  const std::vector<std::int32_t> down = used_blocks(build_case(spec).problem);
  for (std::size_t i = 1; i < down.size(); ++i) EXPECT_EQ(down[i], down[i - 1] - 1);
}

TEST(CaseBuilderTest, RandomTablesAreNeitherInOrderNorAlwaysTheSame) {
  CaseSpec spec = small_spec({320});
  const std::vector<std::int32_t> first = used_blocks(build_case(spec).problem);
  EXPECT_FALSE(std::is_sorted(first.begin(), first.end()));
  EXPECT_EQ(first, used_blocks(build_case(spec).problem)) << "same seed, same table";
  spec.query_values.seed = spec.key_values.seed = spec.value_values.seed = 8;
  EXPECT_NE(first, used_blocks(build_case(spec).problem)) << "other seed, other table";
}

TEST(CaseBuilderTest, ExplicitTablesAreTakenAsTheyAre) {
  CaseSpec spec = small_spec({35, 17, 0});
  spec.num_blocks = 12;
  spec.block_tables = Rows{{7, 2, 9}, {4, 1}, {}};
  const DecodeProblem p = build_case(spec).problem;
  EXPECT_EQ(p.max_num_blocks_per_seq, 3);
  EXPECT_EQ(row_of(p, 0), (std::vector<std::int32_t>{7, 2, 9}));
  EXPECT_EQ(row_of(p, 1), (std::vector<std::int32_t>{4, 1, -1}));
  EXPECT_EQ(row_of(p, 2), (std::vector<std::int32_t>{-1, -1, -1}));
}

TEST(CaseBuilderTest, WiderTablesAreFilledWithThePadding) {
  for (const std::int32_t padding : {-1, 0, std::numeric_limits<std::int32_t>::max(),
                                     std::numeric_limits<std::int32_t>::min()}) {
    CaseSpec spec = small_spec({35, 0});
    spec.table_width = 8;
    spec.table_padding = padding;
    const DecodeProblem p = build_case(spec).problem;
    EXPECT_EQ(p.max_num_blocks_per_seq, 8);
    for (int entry = 3; entry < 8; ++entry) EXPECT_EQ(row_of(p, 0)[entry], padding);
    for (int entry = 0; entry < 8; ++entry) EXPECT_EQ(row_of(p, 1)[entry], padding);
  }
}

TEST(CaseBuilderTest, EntriesPastASequencesPagesMayHoldAnything) {
  CaseSpec spec = small_spec({16});
  spec.num_blocks = 4;
  spec.block_tables = Rows{{2, 99, -7}};
  EXPECT_EQ(input_error_of([&] { build_case(spec); }), std::nullopt);
}

void expect_refused(const CaseSpec& spec, const std::vector<std::string>& words) {
  const auto message = input_error_of([&] { build_case(spec); });
  ASSERT_TRUE(message) << "accepted, expected an error about " << words.front();
  for (const std::string& word : words) EXPECT_TRUE(mentions(*message, word)) << *message;
  EXPECT_EQ(message->find('\n'), std::string::npos) << *message;
}

TEST(CaseBuilderTest, RefusesTooFewBlocks) {
  CaseSpec spec = small_spec({35, 17});
  spec.num_blocks = 4;
  expect_refused(spec, {"num_blocks", "4", "5"});
  spec.num_blocks = 5;
  EXPECT_EQ(input_error_of([&] { build_case(spec); }), std::nullopt);
}

TEST(CaseBuilderTest, RefusesBlockIdsOutsideTheCache) {
  for (const std::int32_t id : {12, -1, std::numeric_limits<std::int32_t>::max()}) {
    CaseSpec spec = small_spec({5, 35});
    spec.num_blocks = 12;
    spec.block_tables = Rows{{3}, {7, id, 9}};
    expect_refused(spec, {"sequence 1", "entry 1", std::to_string(id), "12"});
  }
}

TEST(CaseBuilderTest, RefusesTablesThatDoNotFitTheSequences) {
  CaseSpec spec = small_spec({35, 17});
  spec.block_tables = Rows{{7, 2, 9}};
  expect_refused(spec, {"block_tables", "1", "2"});
  spec.block_tables = Rows{{7, 2, 9}, {4}};
  expect_refused(spec, {"sequence 1", "17", "2", "1"});
  spec.block_tables = Rows{{7, 2, 9}, {4, 1}};
  spec.table_width = 2;
  expect_refused(spec, {"3", "table_width", "2"});
  spec.block_tables = TableKind::random;
  expect_refused(spec, {"3", "2"});
}

TEST(CaseBuilderTest, RefusesAShortRowWhateverThePadding) {
  CaseSpec spec = small_spec({33});
  spec.block_tables = Rows{{1, 2}};
  spec.table_width = 4;
  spec.table_padding = 0;  // a valid id: must not be taken for the third page
  expect_refused(spec, {"sequence 0", "33"});
}

TEST(CaseBuilderTest, RefusesHeadSizesThatACacheCannotHold) {
  CaseSpec spec = small_spec({3});
  spec.head_size = 120;
  EXPECT_EQ(input_error_of([&] { build_case(spec); }), std::nullopt);
  spec.cache = CacheType::e4m3;
  expect_refused(spec, {"120", "e4m3", "16"});
}

TEST(CaseBuilderTest, TellsTheShapeThatItWillBuild) {
  CaseSpec spec = small_spec({35, 17, 0});
  spec.partition_size = 64;
  const DecodeShape told = shape_of_case(spec);
  const DecodeShape built = build_case(spec).problem.shape();
  EXPECT_EQ(told.num_seqs, built.num_seqs);
  EXPECT_EQ(told.num_heads, built.num_heads);
  EXPECT_EQ(told.num_kv_heads, built.num_kv_heads);
  EXPECT_EQ(told.head_size, built.head_size);
  EXPECT_EQ(told.block_size, built.block_size);
  EXPECT_EQ(told.num_blocks, built.num_blocks);
  EXPECT_EQ(told.max_num_blocks_per_seq, built.max_num_blocks_per_seq);
  EXPECT_EQ(told.max_seq_len, built.max_seq_len);
  EXPECT_EQ(told.scalar, built.scalar);
  EXPECT_EQ(told.cache, built.cache);
  EXPECT_EQ(told.partition_size, built.partition_size);
  EXPECT_EQ(told.variant, built.variant);
}

TEST(CaseBuilderTest, RefusesQueriesAndTablesOfAbsurdSizeBeforeAskingForMemory) {
  CaseSpec query = small_spec({3});
  query.num_heads = std::numeric_limits<int>::max() - 1;
  expect_refused(query, {"num_heads", "2147483646"});
  CaseSpec wide = small_spec(std::vector<int>(51, 0));
  wide.table_width = 2000000;
  expect_refused(wide, {"table_width", "2000000", "67108864"});
  CaseSpec long_row = small_spec(std::vector<int>(5001, 0));
  long_row.seq_lens[7] = 800000;
  expect_refused(long_row, {"50000", "5001", "67108864"});
}

TEST(CaseBuilderTest, NamesTheTableEntryThatAsksForTooManyBlocks) {
  CaseSpec spec = small_spec({3, 3});
  spec.block_tables = Rows{{1}, {std::numeric_limits<std::int32_t>::max()}};
  expect_refused(spec, {"sequence 1", "entry 0", "2147483647"});
}

TEST(CaseBuilderTest, PaddingOfExplicitRowsAsksForNoBlocks) {
  CaseSpec spec = small_spec({35, 0, 16});
  spec.block_tables = Rows{{7, 2, 9, 900000}, {std::numeric_limits<std::int32_t>::max()}, {1, 500}};
  const DecodeProblem p = build_case(spec).problem;
  EXPECT_EQ(p.num_blocks(), 9 + 1 + 3) << "up to the largest id in use, and three free ones";
  EXPECT_EQ(row_of(p, 0), (std::vector<std::int32_t>{7, 2, 9, 900000}));
}

TEST(CaseBuilderTest, RefusesWhatARunWouldHandOutBeyondMemory) {
  CaseSpec logits = small_spec(std::vector<int>(60001, 0));
  logits.seq_lens[3] = 4000;
  expect_refused(logits, {"60001", "4000", "logits", "536870912"});
  CaseSpec partitions = small_spec(std::vector<int>(3001, 0));
  partitions.seq_lens[0] = 4096;
  partitions.partition_size = 16;
  partitions.head_size = 256;  // 3001 * 4 heads * 256 partitions * 256
  expect_refused(partitions, {"partition_size", "16", "partitions", "786694144"});
}

TEST(CaseBuilderTest, OfManyFreeBlocksLaterOnesRepeatEarlierOnes) {
  CaseSpec spec = small_spec({35, 17});
  const DecodeProblem few = build_case(spec).problem;
  spec.num_blocks = 20000;
  spec.block_tables = Rows{{few.block_table(0), few.block_table(0) + 3},
                           {few.block_table(1), few.block_table(1) + 2}};
  const DecodeProblem many = build_case(spec).problem;
  const std::size_t bytes = few.key_cache.size_in_bytes();
  EXPECT_EQ(std::memcmp(few.key_cache.data(), many.key_cache.data(), bytes), 0);
  EXPECT_EQ(std::memcmp(few.value_cache.data(), many.value_cache.data(), bytes), 0);
  for (const std::int64_t block : {1023, 1027, 1028, 2052, 12345, 19999}) {
    double square = 0;
    for (int dim = 0; dim < 32; ++dim)
      for (int offset = 0; offset < 16; ++offset)
        square += std::pow(key_at(many, block, 1, offset, dim), 2);
    EXPECT_NEAR(square / 512, 1, 0.3) << "block " << block;
  }
}

TEST(CaseBuilderTest, RefusesCachesOfAbsurdSizeBeforeAskingForMemory) {
  CaseSpec spec = small_spec({std::numeric_limits<int>::max()});
  EXPECT_TRUE(input_error_of([&] { build_case(spec); }));
  spec = small_spec({3});
  spec.num_blocks = std::numeric_limits<int>::max();
  EXPECT_TRUE(input_error_of([&] { build_case(spec); }));
}

// ---- poison -----------------------------------------------------------------------------------
/// NaN exactly at the given (block, offset) of every KV head and dimension of both caches.
void expect_nan_exactly_at(const DecodeProblem& p,
                           const std::set<std::pair<std::int64_t, int>>& slots) {
  std::int64_t keys = 0;
  std::int64_t values = 0;
  for (std::int64_t block = 0; block < p.num_blocks(); ++block)
    for (int offset = 0; offset < p.block_size; ++offset)
      for (int kv_head = 0; kv_head < p.num_kv_heads; ++kv_head)
        for (int dim = 0; dim < p.head_size; ++dim) {
          const bool poisoned = slots.contains({block, offset});
          ASSERT_EQ(std::isnan(key_at(p, block, kv_head, offset, dim)), poisoned)
              << "key of block " << block << ", offset " << offset << ", dimension " << dim;
          ASSERT_EQ(std::isnan(value_at(p, block, kv_head, offset, dim)), poisoned)
              << "value of block " << block << ", offset " << offset << ", dimension " << dim;
        }
  // And no element outside the index arithmetic above.
  for (std::int64_t i = 0; i < p.key_cache.size(); ++i) keys += std::isnan(p.key_cache.read(i));
  for (std::int64_t i = 0; i < p.value_cache.size(); ++i)
    values += std::isnan(p.value_cache.read(i));
  const auto expected = static_cast<std::int64_t>(slots.size()) * p.num_kv_heads * p.head_size;
  EXPECT_EQ(keys, expected);
  EXPECT_EQ(values, expected);
}

TEST(CasePoisonTest, TailPoisonLandsExactlyInTheUnusedSlotsOfLastPages) {
  for (CacheType cache : {CacheType::f16, CacheType::e4m3, CacheType::e5m2}) {
    CaseSpec spec = small_spec({35, 16, 0, 1});
    spec.cache = cache;
    spec.num_blocks = 9;
    spec.block_tables = Rows{{7, 2, 5}, {4}, {}, {8}};
    spec.poison.tail = kNaN;
    std::set<std::pair<std::int64_t, int>> slots;
    for (int offset = 3; offset < 16; ++offset) slots.insert({5, offset});
    for (int offset = 1; offset < 16; ++offset) slots.insert({8, offset});
    expect_nan_exactly_at(build_case(spec).problem, slots);
  }
}

TEST(CasePoisonTest, FreeBlockPoisonLandsExactlyInBlocksThatNobodyOwns) {
  CaseSpec spec = small_spec({35, 17, 0});
  spec.num_blocks = 9;
  spec.block_tables = Rows{{7, 2, 5}, {4, 1}, {}};
  spec.poison.free_blocks = kNaN;
  std::set<std::pair<std::int64_t, int>> slots;
  for (int block : {0, 3, 6, 8})
    for (int offset = 0; offset < 16; ++offset) slots.insert({block, offset});
  expect_nan_exactly_at(build_case(spec).problem, slots);
}

TEST(CasePoisonTest, PaddingOfTheTableOwnsNoBlock) {
  CaseSpec spec = small_spec({16});
  spec.num_blocks = 3;
  spec.block_tables = Rows{{1}};
  spec.table_width = 3;
  spec.table_padding = 2;
  spec.poison.free_blocks = kNaN;
  std::set<std::pair<std::int64_t, int>> slots;
  for (int block : {0, 2})
    for (int offset = 0; offset < 16; ++offset) slots.insert({block, offset});
  expect_nan_exactly_at(build_case(spec).problem, slots);
}

TEST(CasePoisonTest, TailsThatAnotherSequenceUsesAreLeftAlone) {
  // Sequence 1 ends inside page 3, which goes on with tokens of sequence 0.
  CaseSpec spec = small_spec({40, 20, 10});
  spec.num_blocks = 6;
  spec.block_tables = Rows{{2, 3, 5}, {2, 3}, {2}};
  spec.poison.tail = kNaN;
  spec.poison.free_blocks = kNaN;
  std::set<std::pair<std::int64_t, int>> slots;
  for (int offset = 8; offset < 16; ++offset) slots.insert({5, offset});
  for (int block : {0, 1, 4})
    for (int offset = 0; offset < 16; ++offset) slots.insert({block, offset});
  expect_nan_exactly_at(build_case(spec).problem, slots);
}

TEST(CasePoisonTest, ASharedPageIsPoisonedPastItsLongestUser) {
  CaseSpec spec = small_spec({5, 9});
  spec.num_blocks = 2;
  spec.block_tables = Rows{{1}, {1}};
  spec.poison.tail = kNaN;
  std::set<std::pair<std::int64_t, int>> slots;
  for (int offset = 9; offset < 16; ++offset) slots.insert({1, offset});
  expect_nan_exactly_at(build_case(spec).problem, slots);
}

TEST(CasePoisonTest, OtherPoisonsAreStoredAsTheyAre) {
  for (const double poison : {std::numeric_limits<double>::infinity(),
                              -std::numeric_limits<double>::infinity(), 65504.0, -1.0}) {
    CaseSpec spec = small_spec({5});
    spec.num_blocks = 1;
    spec.block_tables = Rows{{0}};
    spec.poison.tail = poison;
    const DecodeProblem p = build_case(spec).problem;
    EXPECT_EQ(key_at(p, 0, 1, 5, 31), poison);
    EXPECT_EQ(value_at(p, 0, 1, 15, 0), poison);
    EXPECT_LT(std::abs(key_at(p, 0, 1, 4, 31)), 20);
  }
}

TEST(CasePoisonTest, FinitePoisonMustFitTheCache) {
  CaseSpec spec = small_spec({5});
  spec.poison.tail = 1e30;
  expect_refused(spec, {"poison.tail", "1e+30", "f16", "65504"});
  spec.poison = {.tail = {}, .free_blocks = -500};
  EXPECT_EQ(input_error_of([&] { build_case(spec); }), std::nullopt);
  spec.cache = CacheType::e4m3;
  expect_refused(spec, {"poison.free_blocks", "-500", "e4m3", "448"});
}

// ---- an answer of numbers ----------------------------------------------------------------------
ValueFamily constant(double value) {
  ValueFamily family;
  family.kind = "constant";
  family.value = value;
  return family;
}

TEST(CaseAnswerTest, GeneratedValuesMustFitTheirTensor) {
  struct Misfit {
    ScalarType scalar;
    CacheType cache;
    double std;
    const char* tensor;
    const char* type;
    const char* greatest;
  };
  for (const Misfit& misfit :
       {Misfit{ScalarType::f16, CacheType::f16, 1e30, "query", "f16", "65504"},
        Misfit{ScalarType::bf16, CacheType::bf16, 3e38, "query", "bf16", "3.38953139e+38"},
        Misfit{ScalarType::f32, CacheType::f32, 3e38, "query", "f32", "3.40282347e+38"},
        Misfit{ScalarType::f32, CacheType::e4m3, 1e3, "key_cache", "e4m3", "448"},
        Misfit{ScalarType::f32, CacheType::e5m2, 1e5, "key_cache", "e5m2", "57344"}}) {
    CaseSpec spec = small_spec({35, 17});
    spec.scalar = misfit.scalar;
    spec.cache = misfit.cache;
    for (ValueFamily* family : {&spec.query_values, &spec.key_values, &spec.value_values})
      family->standard_deviation = misfit.std;
    expect_refused(spec, {misfit.tensor, misfit.type, misfit.greatest, "std"});
  }
  CaseSpec spec = small_spec({35});
  spec.value_values = constant(65520);  // the first number that rounds to infinity
  expect_refused(spec, {"value_cache", "65520", "f16", "value"});
  spec.value_values = constant(65519);
  EXPECT_EQ(input_error_of([&] { build_case(spec); }), std::nullopt);
  spec.key_values.kind = "negative-logits";
  spec.key_values.logit = -1e30;
  expect_refused(spec, {"key_cache", "f16", "logit"});
}

TEST(CaseAnswerTest, GeneratedValuesMustNotAllBecomeZero) {
  CaseSpec spec = small_spec({35});
  spec.value_values.standard_deviation = 1e-30;
  expect_refused(spec, {"value_cache", "0", "f16", "std"});
  spec.value_values.standard_deviation = 0;  // zeros that were asked for
  EXPECT_EQ(input_error_of([&] { build_case(spec); }), std::nullopt);
}

TEST(CaseAnswerTest, FamiliesThatShapeLogitsNeedAScale) {
  CaseSpec spec = small_spec({35});
  spec.scale = 0;
  EXPECT_EQ(input_error_of([&] { build_case(spec); }), std::nullopt) << "all logits are 0";
  for (const char* kind : {"peaked", "needle", "large-logits", "negative-logits"}) {
    spec.key_values.kind = kind;
    expect_refused(spec, {kind, "scale of 0"});
  }
}

TEST(CaseAnswerTest, LogitsMustStayInTheRangeOfF32) {
  CaseSpec spec = small_spec({35});
  spec.scalar = ScalarType::f32;
  spec.query_values = spec.key_values = constant(1e20);  // each fits, their product does not
  expect_refused(spec, {"sequence 0", "head 0", "token 0", "q . k"});
  spec.query_values = spec.key_values = constant(1e10);
  spec.scale = 1e30;
  expect_refused(spec, {"sequence 0", "head 0", "token 0", "scale"});
}

TEST(CasePoisonTest, PoisonChangesNoOtherValue) {
  CaseSpec spec = small_spec({35, 17});
  const DecodeProblem clean = build_case(spec).problem;
  spec.poison.tail = kNaN;
  spec.poison.free_blocks = kNaN;
  const DecodeProblem poisoned = build_case(spec).problem;
  EXPECT_EQ(clean.block_tables, poisoned.block_tables);
  for (std::int64_t i = 0; i < clean.key_cache.size(); ++i)
    if (!std::isnan(poisoned.key_cache.read(i))) {
      ASSERT_EQ(clean.key_cache.read(i), poisoned.key_cache.read(i));
    }
  for (std::int64_t i = 0; i < clean.value_cache.size(); ++i)
    if (!std::isnan(poisoned.value_cache.read(i))) {
      ASSERT_EQ(clean.value_cache.read(i), poisoned.value_cache.read(i));
    }
}

TEST(CasePoisonTest, SlotsAndBlocksOfChosenSequencesAreTheirsAlone) {
  CaseSpec spec = small_spec({18, 3});
  spec.num_blocks = 4;
  spec.block_tables = Rows{{3, 0}, {2}};
  const DecodeProblem p = build_case(spec).problem;
  EXPECT_EQ(all_seqs(p), (std::vector<int>{0, 1}));
  EXPECT_EQ(blocks_of(p, {0}), (std::vector<bool>{true, false, false, true}));
  EXPECT_EQ(blocks_of(p, {1}), (std::vector<bool>{false, false, true, false}));
  const std::vector<bool> slots = slots_of(p, {0});
  ASSERT_EQ(slots.size(), 64U);
  for (int slot = 0; slot < 64; ++slot)
    EXPECT_EQ(slots[slot], slot / 16 == 3 || slot < 2) << "slot " << slot;
}

// ---- tensors from files -----------------------------------------------------------------------
class CaseTensorsTest : public ::testing::Test {
 protected:
  /// Every element another number that is exact in the type: i mod 251, in quarters.
  std::filesystem::path numbers(const std::string& name, CacheType type,
                                const std::vector<std::int64_t>& shape) {
    Tensor tensor(type, shape);
    for (std::int64_t i = 0; i < tensor.size(); ++i) tensor.write(i, number(i));
    OutputFile(folder_ / name).commit(npy_of(tensor));
    return folder_ / name;
  }
  static double number(std::int64_t i) { return static_cast<double>(i % 251 - 125) / 4; }

  TemporaryFolder folder_;
};

TEST_F(CaseTensorsTest, TokensOfATextLandInTheirSlots) {
  for (CacheType type : {CacheType::f16, CacheType::f32, CacheType::bf16}) {
    CaseSpec spec = small_spec({35, 17});
    spec.scalar = type == CacheType::f16   ? ScalarType::f16
                  : type == CacheType::f32 ? ScalarType::f32
                                           : ScalarType::bf16;
    spec.num_blocks = 8;
    spec.block_tables = Rows{{7, 2, 5}, {4, 1}};
    spec.tensors = {{"keys", numbers("k.npy", type, {35, 2, 32})},
                    {"values", numbers("v.npy", type, {40, 2, 32})}};
    const DecodeProblem p = build_case(spec).problem;
    for (int seq = 0; seq < 2; ++seq)
      for (int token = 0; token < p.seq_lens[seq]; ++token)
        for (int kv_head = 0; kv_head < 2; ++kv_head)
          for (int dim = 0; dim < 32; ++dim) {
            const std::int64_t block = row_of(p, seq)[token / 16];
            const double expected = number((token * 2 + kv_head) * 32 + dim);
            ASSERT_EQ(key_at(p, block, kv_head, token % 16, dim), expected) << "token " << token;
            ASSERT_EQ(value_at(p, block, kv_head, token % 16, dim), expected) << "token " << token;
          }
  }
}

TEST_F(CaseTensorsTest, AQueryIsTakenAndConvertedToTheScalarType) {
  for (CacheType type : {CacheType::f16, CacheType::f32}) {
    CaseSpec spec = small_spec({3, 2});
    spec.tensors = {{"query", numbers("q.npy", type, {2, 4, 32})}};
    const DecodeProblem p = build_case(spec).problem;
    EXPECT_EQ(p.query.type(), CacheType::f16);
    for (std::int64_t i = 0; i < p.query.size(); ++i) ASSERT_EQ(p.query.read(i), number(i));
  }
}

TEST_F(CaseTensorsTest, CachesAreTakenBitForBit) {
  CaseSpec spec = small_spec({3});
  spec.num_blocks = 2;
  spec.cache = CacheType::e4m3;
  spec.k_scale = 0.25;
  spec.v_scale = 0.5;
  Tensor keys(CacheType::e4m3, {2, 2, 2, 16, 16});
  Tensor values(CacheType::e4m3, {2, 2, 32, 16});
  for (std::int64_t i = 0; i < keys.size(); ++i) {
    keys.data()[i] = static_cast<std::byte>(i % 127);
    values.data()[i] = static_cast<std::byte>(i % 113);
  }
  OutputFile(folder_ / "k.npy").commit(npy_of(keys));
  OutputFile(folder_ / "v.npy").commit(npy_of(values));
  spec.tensors = {{"key_cache", folder_ / "k.npy"}, {"value_cache", folder_ / "v.npy"}};
  const DecodeProblem p = build_case(spec).problem;
  EXPECT_EQ(std::memcmp(p.key_cache.data(), keys.data(), keys.size_in_bytes()), 0);
  EXPECT_EQ(std::memcmp(p.value_cache.data(), values.data(), values.size_in_bytes()), 0);
}

TEST_F(CaseTensorsTest, TokensKeepTheirValuesInAScaledFp8Cache) {
  // value = stored * scale, so stored = value / scale; powers of two are exact in both.
  CaseSpec spec = small_spec({3});
  spec.cache = CacheType::e4m3;
  spec.k_scale = 0.25;
  spec.v_scale = 0.5;
  Tensor tokens(CacheType::f16, {3, 2, 32});
  for (std::int64_t i = 0; i < tokens.size(); ++i) tokens.write(i, i % 2 == 0 ? 1.0 : -2.0);
  OutputFile(folder_ / "t.npy").commit(npy_of(tokens));
  spec.tensors = {{"keys", folder_ / "t.npy"}, {"values", folder_ / "t.npy"}};
  const GatheredKv kv = gather(build_case(spec).problem, 0, 0);
  EXPECT_EQ(kv.keys(0, 0), 1.0);
  EXPECT_EQ(kv.keys(0, 1), -2.0);
  EXPECT_EQ(kv.values(0, 0), 1.0);
  EXPECT_EQ(kv.values(0, 1), -2.0);
}

TEST_F(CaseTensorsTest, WrongShapesAreRefusedWithBothShapes) {
  const auto refused = [&](const std::string& tensor, const std::vector<std::int64_t>& shape,
                           const std::string& word) {
    CaseSpec spec = small_spec({35, 17});
    spec.num_blocks = 6;
    spec.tensors = {{tensor, numbers("t.npy", CacheType::f16, shape)}};
    const auto message = input_error_of([&] { build_case(spec); });
    ASSERT_TRUE(message) << tensor << " of shape " << to_string(shape);
    EXPECT_NE(message->find(tensor), std::string::npos) << *message;
    EXPECT_NE(message->find(word), std::string::npos) << *message << " lacks " << word;
  };
  refused("query", {2, 4, 31}, "[2, 4, 31]");
  refused("query", {1, 4, 32}, "[2, 4, 32]");
  refused("query", {2 * 4 * 32}, "[2, 4, 32]");
  refused("key_cache", {6, 2, 32, 16}, "[6, 2, 4, 16, 8]");
  refused("value_cache", {6, 2, 16, 32}, "[6, 2, 32, 16]");
  refused("keys", {34, 2, 32}, "35");  // fewer tokens than sequence 0 has
  refused("keys", {35, 4, 32}, "[35, 4, 32]");
  refused("values", {35, 64}, "[35, 64]");
}

TEST_F(CaseTensorsTest, KeysBesideAKeyCacheAreRefused) {
  CaseSpec spec = small_spec({3});
  spec.num_blocks = 2;
  spec.tensors = {{"keys", numbers("t.npy", CacheType::f16, {3, 2, 32})},
                  {"key_cache", numbers("k.npy", CacheType::f16, {2, 2, 4, 16, 8})}};
  expect_refused(spec, {"keys", "key_cache", "t.npy", "k.npy"});
  spec.tensors = {{"values", folder_ / "t.npy"},
                  {"value_cache", numbers("v.npy", CacheType::f16, {2, 2, 32, 16})}};
  expect_refused(spec, {"values", "value_cache"});
}

TEST_F(CaseTensorsTest, ABlockCannotHoldTwoPagesOfOneText) {
  CaseSpec spec = small_spec({35, 17});
  spec.tensors = {{"keys", numbers("k.npy", CacheType::f16, {35, 2, 32})}};
  spec.block_tables = Rows{{7, 2, 7}, {4, 1}};  // twice in one row
  expect_refused(spec, {"block 7", "entry 0 of sequence 0", "entry 2 of sequence 0"});
  spec.block_tables = Rows{{7, 2, 5}, {2, 1}};  // at different places of two
  expect_refused(spec, {"block 2", "entry 1 of sequence 0", "entry 0 of sequence 1"});
  spec.block_tables = Rows{{7, 2, 5}, {7, 2}};  // a shared prefix
  EXPECT_EQ(input_error_of([&] { build_case(spec); }), std::nullopt);
  spec.tensors.clear();  // generated values may share blocks in any way
  spec.block_tables = Rows{{7, 2, 7}, {2, 1}};
  EXPECT_EQ(input_error_of([&] { build_case(spec); }), std::nullopt);
}

TEST_F(CaseTensorsTest, CacheFilesAndNumBlocksMustAgree) {
  CaseSpec spec = small_spec({35});
  const std::filesystem::path keys = numbers("k.npy", CacheType::f16, {6, 2, 4, 16, 8});
  const std::filesystem::path values = numbers("v.npy", CacheType::f16, {6, 2, 32, 16});
  spec.tensors = {{"key_cache", keys}, {"value_cache", values}};
  EXPECT_EQ(build_case(spec).problem.num_blocks(), 6);
  spec.num_blocks = 8;
  expect_refused(spec, {"key_cache", "k.npy", "[6, 2, 4, 16, 8]", "[8, 2, 4, 16, 8]"});
  spec.num_blocks.reset();
  for (const char* name : {"key_cache", "value_cache"}) {  // one file: the other is made to fit
    CaseSpec one = spec;
    one.tensors.erase(name);
    EXPECT_EQ(build_case(one).problem.num_blocks(), 6);
  }
  spec.tensors["value_cache"] = numbers("w.npy", CacheType::f16, {5, 2, 32, 16});
  expect_refused(spec, {"key_cache", "6", "value_cache", "5"});
  spec.tensors = {{"key_cache", keys}};
  spec.seq_lens = {100};
  expect_refused(spec, {"k.npy", "6", "7"});
  spec.block_tables = Rows{{0, 1, 2, 3, 4, 5, 6}};
  expect_refused(spec, {"sequence 0", "entry 6", "6"});
}

TEST_F(CaseTensorsTest, NumbersThatDoNotFitAnotherTypeAreRefused) {
  Tensor large(CacheType::f32, {1, 4, 32});
  large.write(37, 1e30);
  OutputFile(folder_ / "q.npy").commit(npy_of(large));
  CaseSpec spec = small_spec({1});
  spec.tensors = {{"query", folder_ / "q.npy"}};
  expect_refused(spec, {"query", "q.npy", "37", "f16", "65504"});
  Tensor tokens(CacheType::f32, {1, 2, 32});
  tokens.write(5, -70000);
  OutputFile(folder_ / "t.npy").commit(npy_of(tokens));
  spec.tensors = {{"values", folder_ / "t.npy"}};
  expect_refused(spec, {"values", "t.npy", "5", "-70000", "f16"});
  spec.cache = CacheType::e4m3;
  tokens.write(5, 400);
  OutputFile(folder_ / "t.npy").commit(npy_of(tokens));
  EXPECT_EQ(input_error_of([&] { build_case(spec); }), std::nullopt);
  spec.v_scale = 0.5;  // stored as 800
  expect_refused(spec, {"values", "t.npy", "5", "800", "e4m3", "448"});
}

TEST_F(CaseTensorsTest, NumbersThatAreAllLostInAnotherTypeAreRefused) {
  Tensor tiny(CacheType::f32, {1, 4, 32});
  tiny.fill(1e-30);
  OutputFile(folder_ / "q.npy").commit(npy_of(tiny));
  CaseSpec spec = small_spec({1});
  spec.tensors = {{"query", folder_ / "q.npy"}};
  expect_refused(spec, {"query", "q.npy", "0", "f16", "1e-30"});
  tiny.write(3, 1);  // one that is left
  OutputFile(folder_ / "q.npy").commit(npy_of(tiny));
  EXPECT_EQ(input_error_of([&] { build_case(spec); }), std::nullopt);
  Tensor tokens(CacheType::f32, {1, 2, 32});
  tokens.fill(0x1p-9);
  OutputFile(folder_ / "t.npy").commit(npy_of(tokens));
  spec.cache = CacheType::e4m3;
  spec.tensors = {{"keys", folder_ / "t.npy"}};
  EXPECT_EQ(input_error_of([&] { build_case(spec); }), std::nullopt);
  spec.k_scale = 2;
  expect_refused(spec, {"keys", "t.npy", "0", "e4m3"});
}

TEST_F(CaseTensorsTest, NanInAFileIsRefusedWhereATokenReadsItAndNowhereElse) {
  Tensor tokens(CacheType::f16, {40, 2, 32});
  tokens.write(std::int64_t{39} * 64, kNaN);  // behind the longest sequence
  OutputFile(folder_ / "t.npy").commit(npy_of(tokens));
  CaseSpec spec = small_spec({3, 35});
  spec.tensors = {{"values", folder_ / "t.npy"}};
  EXPECT_EQ(input_error_of([&] { build_case(spec); }), std::nullopt);
  spec.seq_lens[1] = 40;
  expect_refused(spec, {"sequence 1", "head 0", "token 39", "value", "nan"});
}

TEST_F(CaseTensorsTest, Fp8CachesFromFloatFilesAreRefused) {
  CaseSpec spec = small_spec({3});
  spec.num_blocks = 2;
  spec.cache = CacheType::e4m3;
  spec.tensors = {{"key_cache", numbers("k.npy", CacheType::f16, {2, 2, 4, 16, 8})},
                  {"value_cache", numbers("v.npy", CacheType::f16, {2, 2, 32, 16})}};
  const auto message = input_error_of([&] { build_case(spec); });
  ASSERT_TRUE(message);
  for (const char* word : {"k.npy", "f16", "e4m3"}) EXPECT_TRUE(mentions(*message, word));
}

TEST_F(CaseTensorsTest, CachesOfAnotherTypeAreRefused) {
  CaseSpec spec = small_spec({3});
  spec.num_blocks = 2;
  spec.tensors = {{"key_cache", numbers("k.npy", CacheType::f32, {2, 2, 4, 16, 8})}};
  const auto message = input_error_of([&] { build_case(spec); });
  ASSERT_TRUE(message);
  EXPECT_NE(message->find("f32"), std::string::npos) << *message;
}

}  // namespace
}  // namespace paged
