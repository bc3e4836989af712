// Fuzzing finds a wrong stage, makes the case small and writes it so that it fails again; it finds
// nothing wrong with a right one. And what it is made of: drawing, writing, shrinking.
#include "tests/harness/fuzz.h"

#include "reference/input_error.h"
#include "tests/harness/case_file.h"
#include "tests/harness/random_case.h"
#include "tests/harness/smaller_cases.h"
#include "tests/harness_tests/plain_cache_kernels.h"
#include "tests/harness_tests/plain_device.h"
#include "tests/harness_tests/plain_stage.h"
#include "tests/harness_tests/temporary_folder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <set>
#include <string>

namespace paged {
namespace {

using testing::CacheMistake;
using testing::Mistake;
using testing::plain_cache_kernels;
using testing::plain_stage;
using testing::PlainDevice;
using testing::TemporaryFolder;

const std::vector<ScalarType> kAllScalars = {ScalarType::f32, ScalarType::f16, ScalarType::bf16};

/// A plain stage that can be fuzzed.
class PlainTarget {
 public:
  explicit PlainTarget(Mistake mistake) : stage_(plain_stage(mistake, kAllScalars)) {}
  const Stage& stage() const { return stage_; }
  std::vector<CheckResult> check(const CheckRequest& request) {
    KernelUnderTest kernel(stage_, device_, plain_cache_kernels(CacheMistake::none));
    return run_checks(kernel, request);
  }
  FuzzOutcome fuzz(const FuzzRequest& request) {
    return paged::fuzz({&stage_, [this](const CheckRequest& r) { return check(r); }}, request);
  }

 private:
  PlainDevice device_;
  Stage stage_;
};

struct Planted {
  Mistake mistake;
  const char* name;
  std::vector<std::string> invariants;
  int most_tokens;
  int most_heads = 2;
};

class FuzzFindsTest : public ::testing::TestWithParam<Planted> {};

TEST_P(FuzzFindsTest, AndMakesSmallAndWrites) {
  PlainTarget target(GetParam().mistake);
  FuzzRequest request;
  request.seconds = 20;  // it ends with what it finds
  request.invariants = GetParam().invariants;
  const FuzzOutcome outcome = target.fuzz(request);
  ASSERT_TRUE(outcome.failure) << outcome.cases << " cases, " << outcome.tries << " tries";
  const FuzzFailure& failure = *outcome.failure;
  EXPECT_FALSE(failure.result.verdict.message.empty());
  EXPECT_LE(std::accumulate(failure.spec.seq_lens.begin(), failure.spec.seq_lens.end(), 0),
            GetParam().most_tokens)
      << case_file_of(failure.spec);
  EXPECT_LE(failure.spec.num_heads, GetParam().most_heads) << case_file_of(failure.spec);

  const TemporaryFolder folder;
  CheckRequest again;
  again.cases = {read_case_file(folder.write("f.json", case_file_of(failure.spec)))};
  again.invariants = {failure.result.invariant};
  const auto results = target.check(again);
  ASSERT_EQ(results.size(), 1U);
  EXPECT_FALSE(results[0].verdict.held);
  EXPECT_EQ(results[0].verdict.message, failure.result.verdict.message);
  PlainTarget right(Mistake::none);
  EXPECT_TRUE(right.check(again)[0].verdict.held) << "it is the mistake that fails, not the case";
}

INSTANTIATE_TEST_SUITE_P(
    Mistakes, FuzzFindsTest,
    ::testing::Values(Planted{Mistake::last_page_dropped, "last_page_dropped", {}, 2},
                      Planted{Mistake::kv_head_modulo, "kv_head_modulo", {"reference"}, 3, 4},
                      Planted{Mistake::tail_weight_zero_times_value, "tail", {"tail-isolation"}, 3},
                      Planted{Mistake::k_scale_for_values, "k_scale", {"reference"}, 2},
                      Planted{Mistake::partitions_not_rescaled, "rescale", {"reference"}, 40}),
    [](const auto& tested) { return std::string(tested.param.name); });

/// In one token any length that is too short looks like any other.
TEST(FuzzTest, MakesACaseNoSmallerThanItsCauseTakes) {
  PlainTarget target(Mistake::last_token_dropped);
  FuzzRequest request;
  request.seed = 2;  // draws a sequence of several tokens first
  request.seconds = 20;
  request.invariants = {"reference"};
  const FuzzOutcome outcome = target.fuzz(request);
  ASSERT_TRUE(outcome.failure);
  EXPECT_EQ(outcome.failure->result.verdict.cause, "last-token-dropped");
  EXPECT_EQ(std::accumulate(outcome.failure->spec.seq_lens.begin(),
                            outcome.failure->spec.seq_lens.end(), 0),
            2)
      << case_file_of(outcome.failure->spec);
}

TEST(FuzzTest, FindsNothingWrongWithARightStage) {
  PlainTarget target(Mistake::none);
  FuzzRequest request;
  request.seconds = 3;
  const FuzzOutcome outcome = target.fuzz(request);
  ASSERT_FALSE(outcome.failure) << outcome.failure->result.invariant << ": "
                                << outcome.failure->result.verdict.message << "\n"
                                << case_file_of(outcome.failure->spec);
  EXPECT_GT(outcome.cases, 5);
  EXPECT_LT(outcome.refused, outcome.cases) << "most of what is drawn must have an answer";
}

TEST(FuzzTest, DrawsTheSameBySeed) {
  const Stage stage = plain_stage(Mistake::none, kAllScalars);
  std::set<std::string> seen;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Random a(seed), b(seed);
    const std::string drawn = case_file_of(random_case(a, stage));
    EXPECT_EQ(drawn, case_file_of(random_case(b, stage)));
    seen.insert(drawn);
  }
  EXPECT_EQ(seen.size(), 50U);
}

TEST(FuzzTest, DrawsForPagesOfAnySize) {
  for (const int block_size : {1, 2, 3, 512, 65536}) {
    Stage stage = plain_stage(Mistake::none, kAllScalars);
    stage.supports.block_sizes = {block_size};
    stage.supports.instances = {};
    Random random(5);
    for (int i = 0; i < 200; ++i) {
      const CaseSpec spec = random_case(random, stage);
      std::int64_t tokens = 0;
      for (const int seq_len : spec.seq_lens) tokens += seq_len;
      ASSERT_EQ(spec.block_size, block_size);
      ASSERT_LE(tokens, std::max(4096, block_size + 1)) << case_file_of(spec);
      ASSERT_GE(*std::min_element(spec.seq_lens.begin(), spec.seq_lens.end()), 0);
    }
  }
}

/// What a case costs grows with its heads and pages; most cases are cheap, and some are not.
TEST(FuzzTest, DrawsSmallCasesMostly) {
  const Stage stage = plain_stage(Mistake::none, kAllScalars);
  Random random(1);
  constexpr int kCases = 400;
  std::int64_t pages = 0;
  int many_heads = 0, several_sequences = 0, groups = 0, long_ones = 0;
  for (int i = 0; i < kCases; ++i) {
    const CaseSpec spec = random_case(random, stage);
    int of_case = 0;
    for (const int length : spec.seq_lens)
      of_case += (length + spec.block_size - 1) / spec.block_size;
    pages += std::int64_t{of_case} * spec.num_heads;
    many_heads += spec.num_heads > 6;
    several_sequences += spec.seq_lens.size() > 1;
    groups += spec.num_heads > spec.num_kv_heads && spec.num_kv_heads > 1;
    long_ones += of_case * spec.block_size > 500;
  }
  EXPECT_LT(pages, 12 * kCases) << "pages times heads";
  EXPECT_GT(several_sequences, kCases / 4);
  for (const int count : {many_heads, groups, long_ones}) EXPECT_GT(count, kCases / 100);
}

/// What is drawn, written and read is the same case: the same bits in every tensor.
TEST(CaseFileTest, IsReadBackAsTheSameCase) {
  const Stage stage = plain_stage(Mistake::none, kAllScalars);
  Random random(7);
  int built = 0;
  for (int i = 0; i < 60; ++i) {
    const CaseSpec spec = random_case(random, stage);
    const std::string text = case_file_of(spec);
    const CaseSpec back = parse_case(text, "back", "");
    EXPECT_EQ(case_file_of(back), text);
    DecodeProblem first, second;
    try {
      first = build_case(spec).problem;
    } catch (const InputError&) {
      EXPECT_THROW(build_case(back), InputError) << text;
      continue;
    }
    ++built;
    second = build_case(back).problem;
    EXPECT_EQ(first.block_tables, second.block_tables) << text;
    EXPECT_EQ(first.alibi_slopes, second.alibi_slopes) << text;
    EXPECT_EQ(first.seq_lens, second.seq_lens) << text;
    EXPECT_EQ(first.scale, second.scale) << text;
    EXPECT_EQ(first.partition_size, second.partition_size) << text;
    EXPECT_EQ(first.variant, second.variant) << text;
    for (const auto& [a, b] :
         {std::pair(&first.query, &second.query), std::pair(&first.key_cache, &second.key_cache),
          std::pair(&first.value_cache, &second.value_cache)}) {
      ASSERT_EQ(a->size_in_bytes(), b->size_in_bytes()) << text;
      EXPECT_EQ(std::memcmp(a->data(), b->data(), a->size_in_bytes()), 0) << text;
    }
  }
  EXPECT_GT(built, 40);
}

TEST(ShrinkTest, ComesToTheLeastCaseThatStillFails) {
  const Stage stage = plain_stage(Mistake::none, kAllScalars);
  Random random(3);
  for (int i = 0; i < 20; ++i) {
    CaseSpec start = random_case(random, stage);
    start.seq_lens.push_back(37);
    int tries = 0;
    // Fails with a sequence of at least 5 tokens.
    const CaseSpec least = shrink(
        start, stage.supports,
        [&](const CaseSpec& spec) {
          ++tries;
          return std::any_of(spec.seq_lens.begin(), spec.seq_lens.end(),
                             [](int length) { return length >= 5; });
        },
        [] { return true; });
    EXPECT_EQ(least.seq_lens, std::vector<int>{5});
    EXPECT_EQ(least.num_heads, 1);
    EXPECT_EQ(least.scalar, ScalarType::f32);
    EXPECT_EQ(least.value_values.kind, "constant");
    EXPECT_TRUE(least.alibi_slopes.empty() && !least.poison.tail && !least.block_sparse.active());
    EXPECT_LT(tries, 2000);
  }
}

TEST(ShrinkTest, StopsWhenItIsTold) {
  const Stage stage = plain_stage(Mistake::none, kAllScalars);
  Random random(4);
  const CaseSpec start = random_case(random, stage);
  int left = 3;
  const CaseSpec end = shrink(
      start, stage.supports, [](const CaseSpec&) { return true; }, [&] { return left-- > 0; });
  EXPECT_NE(case_file_of(end), case_file_of(start));
  EXPECT_EQ(left, -1);
}

}  // namespace
}  // namespace paged
