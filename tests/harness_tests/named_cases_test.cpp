// The cases that come with the project: worked examples, real requests, a real model's decode step.
#include "tests/harness/named_cases.h"

#include "reference/cache_layout.h"
#include "reference/decode_attention.h"
#include "tests/harness/case_builder.h"
#include "tests/harness/npy.h"
#include "tests/reference/error_message.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <set>
#include <string>
#include <vector>

namespace paged {
namespace {

using testing::input_error_of;

const std::filesystem::path kTests = PAGED_TESTS_DIRECTORY;

DecodeProblem problem_of(const std::string& name) { return build_case(find_case(name)).problem; }

std::vector<std::int32_t> valid_row(const DecodeProblem& p, int seq) {
  const std::int32_t* row = p.block_table(seq);
  return {row, row + (p.seq_lens[seq] + p.block_size - 1) / p.block_size};
}

// ---- finding ----------------------------------------------------------------------------------
TEST(NamedCasesTest, EveryNamedCaseHasADescriptionAndBuilds) {
  const std::vector<NamedCase> cases = named_cases();
  EXPECT_GE(cases.size(), 9U);
  for (const NamedCase& c : cases) {
    EXPECT_FALSE(c.description.empty()) << c.name;
    EXPECT_EQ(find_case(c.name).name, c.name);
    EXPECT_NO_THROW(build_case(find_case(c.name)).problem.validate()) << c.name;
  }
}

TEST(NamedCasesTest, ACaseIsFoundByNameAndByFile) {
  const CaseSpec by_name = find_case("worked-example-1-gqa");
  const CaseSpec by_file = find_case((kTests / "cases" / "worked-example-1-gqa.json").string());
  EXPECT_EQ(by_name.name, by_file.name);
  EXPECT_EQ(by_name.seq_lens, by_file.seq_lens);
}

TEST(NamedCasesTest, AnUnknownNameListsTheKnown) {
  for (const std::string name :
       {"worked-example-9", "", "../cases/worked-example-1-gqa", "worked-example-1-gqa/"}) {
    const auto message = input_error_of([&] { find_case(name); });
    ASSERT_TRUE(message) << "accepted '" << name << "'";
    EXPECT_NE(message->find("worked-example-1-gqa"), std::string::npos) << *message;
    EXPECT_EQ(message->find('\n'), std::string::npos);
  }
}

// ---- worked examples of PAGED_ATTENTION.md ----------------------------------------------------
TEST(WorkedExampleTest, OneQueryHeadFiveReadsKvHeadOneOnPages7And2And9) {
  const DecodeProblem p = problem_of("worked-example-1-gqa");
  EXPECT_EQ(p.block_size, 16);
  EXPECT_EQ(p.head_size, 128);
  EXPECT_EQ(p.num_heads, 8);
  EXPECT_EQ(p.num_kv_heads, 2);
  EXPECT_EQ(p.seq_lens, std::vector<std::int32_t>{35});
  EXPECT_EQ(p.scalar, ScalarType::f16);
  EXPECT_EQ(valid_row(p, 0), (std::vector<std::int32_t>{7, 2, 9}));
  EXPECT_EQ(kv_head_of(5, p.num_heads, p.num_kv_heads), 1);
  EXPECT_EQ(num_pages(35, 16), 3);
  EXPECT_EQ(35 - 2 * 16, 3) << "valid tokens on the last page";

  // Only the three valid tokens of page 9 are numbers.
  for (int offset = 0; offset < 16; ++offset) {
    const bool poisoned = std::isnan(p.value_cache.read(((9 * 2 + 1) * 128 + 0) * 16 + offset));
    EXPECT_EQ(poisoned, offset >= 3) << "offset " << offset;
  }
  // Head 5's output changes with KV head 1 and not with KV head 0.
  const Eigen::VectorXd before = decode_attention(p)[5].output;
  for (int kv_head : {0, 1}) {
    DecodeProblem changed = p;
    changed.value_cache.write(((7 * 2 + kv_head) * 128 + 0) * 16 + 0, 100.0);
    EXPECT_EQ(decode_attention(changed)[5].output == before, kv_head == 0);
  }
}

TEST(WorkedExampleTest, TwoPartitionsOf1100Tokens) {
  const DecodeProblem p = problem_of("worked-example-2-partitions");
  ASSERT_EQ(p.seq_lens, std::vector<std::int32_t>{1100});
  EXPECT_EQ(p.block_size, 16);
  const int partitions = (1100 + 511) / 512;
  EXPECT_EQ(partitions, 3);
  EXPECT_EQ(num_pages(512, p.block_size), 32);
  EXPECT_EQ(num_pages(1100, p.block_size), 32 + 32 + 5);
  EXPECT_EQ(1100 - 2 * 512, 76);
  EXPECT_EQ(1100 - (num_pages(1100, 16) - 1) * 16, 12) << "tokens on the last page";
}

TEST(WorkedExampleTest, ThreeToken16IsTheFirstOnPhysicalBlock2) {
  const DecodeProblem p = problem_of("worked-example-3-address-walk");
  ASSERT_EQ(p.seq_lens, std::vector<std::int32_t>{17});
  EXPECT_EQ(valid_row(p, 0), (std::vector<std::int32_t>{7, 2}));
  const int token = 16;
  EXPECT_EQ(token / p.block_size, 1);
  EXPECT_EQ(token % p.block_size, 0);
  EXPECT_EQ(p.block_table(0)[1], 2);
  // The needle lies there: the output is nearly its value.
  const HeadAttention attention = decode_attention(p)[0];
  EXPECT_GT(attention.weights[token], 0.9);
  for (int dim : {0, 31, 63}) {
    const double value = p.value_cache.read((2 * 64 + dim) * 16 + 0);
    EXPECT_NEAR(attention.output[dim], value, 0.2);
  }
}

TEST(WorkedExampleTest, FourWarpsReadPages7And2And9And4) {
  const DecodeProblem p = problem_of("worked-example-4-warps");
  ASSERT_EQ(p.seq_lens, std::vector<std::int32_t>{64});
  const std::vector<std::int32_t> row = valid_row(p, 0);
  // Warp w takes logical blocks w, w + 4, ...
  const std::vector<std::int32_t> first_page_of_warp(row.begin(), row.begin() + 4);
  EXPECT_EQ(first_page_of_warp, (std::vector<std::int32_t>{7, 2, 9, 4}));
  EXPECT_EQ(row.size(), 4U) << "no warp has a second page";
}

// ---- real requests ----------------------------------------------------------------------------
class RequestMixTest : public ::testing::TestWithParam<std::pair<const char*, int>> {
 protected:
  const nlohmann::json histogram_ = nlohmann::json::parse(
      std::ifstream(kTests / "data" / "azure_request_lengths" / "histogram.json"));
};

TEST_P(RequestMixTest, HasTheLengthsOfTheOctiles) {
  const std::string service = GetParam().first;
  const std::vector<int> octiles =
      histogram_.at(service + "_octile_midpoints").get<std::vector<int>>();
  EXPECT_EQ(find_case("request-mix-" + service).seq_lens, octiles);
}

TEST_P(RequestMixTest, HistogramCountsEveryRequest) {
  const auto counts = histogram_.at(GetParam().first).get<std::vector<int>>();
  EXPECT_EQ(counts.size(), histogram_.at("upper_edges").size());
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), 0), GetParam().second);
}

TEST_P(RequestMixTest, OctilesLieInTheBinsThatTheCountsSay) {
  const std::string service = GetParam().first;
  const auto counts = histogram_.at(service).get<std::vector<double>>();
  const auto edges = histogram_.at("upper_edges").get<std::vector<int>>();
  const auto octiles = histogram_.at(service + "_octile_midpoints").get<std::vector<int>>();
  ASSERT_EQ(octiles.size(), 8U);
  for (int i = 0; i < 8; ++i) {
    const double rank = (2 * i + 1) / 16.0 * GetParam().second;  // 6.25 %, 18.75 %, ...
    double below = 0;
    std::size_t bin = 0;
    while (below + counts[bin] < rank) below += counts[bin++];
    EXPECT_LE(octiles[i], edges[bin]) << "octile " << i;
    EXPECT_GT(octiles[i], bin == 0 ? 0 : edges[bin - 1]) << "octile " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Services, RequestMixTest,
                         ::testing::Values(std::pair("conversation", 19366),
                                           std::pair("code", 8819)),
                         [](const auto& tested) { return std::string(tested.param.first); });

// ---- a real decode step -----------------------------------------------------------------------
class SmolLm2Test : public ::testing::TestWithParam<const char*> {
 protected:
  const std::string layer_ = GetParam();
  const std::filesystem::path data_ = kTests / "data" / "smollm2_decode_step";
  const DecodeProblem problem_ = problem_of("smollm2-layer-" + layer_);
};

TEST_P(SmolLm2Test, ReferenceEqualsTheIndependentComputation) {
  const Tensor expected = read_npy(data_ / ("layer_" + layer_ + "_output.npy"));
  ASSERT_EQ(expected.shape(), (std::vector<std::int64_t>{3, 9, 64}));
  const std::vector<HeadAttention> attention = decode_attention(problem_);
  ASSERT_EQ(attention.size(), 27U);
  // The stored output is rounded to f32 and has no guard of 1e-6 in its denominator, which is at
  // least 1: each changes less than 1e-6 of an element. The rest is the cancellation of sums in
  // double precision.
  for (std::int64_t i = 0; i < expected.size(); ++i) {
    const double stored = expected.read(i);
    EXPECT_NEAR(attention[i / 64].output[i % 64], stored, 2e-6 * std::abs(stored) + 1e-12)
        << "sequence " << i / 576 << ", head " << i / 64 % 9 << ", dimension " << i % 64;
  }
}

TEST_P(SmolLm2Test, HasTheShapeThatItsReadmeStates) {
  EXPECT_EQ(problem_.num_heads, 9);
  EXPECT_EQ(problem_.num_kv_heads, 3);
  EXPECT_EQ(problem_.head_size, 64);
  EXPECT_EQ(problem_.scale, 0.125F);
  EXPECT_EQ(problem_.seq_lens, (std::vector<std::int32_t>{745, 333, 17}));
  EXPECT_EQ(valid_row(problem_, 0).size(), 47U);
  EXPECT_EQ(valid_row(problem_, 1).size(), 21U);
  EXPECT_EQ(valid_row(problem_, 2).size(), 2U);
  const std::vector<std::int32_t> pages = valid_row(problem_, 0);
  EXPECT_EQ(std::set<std::int32_t>(pages.begin(), pages.end()).size(), pages.size());
}

TEST_P(SmolLm2Test, ShorterSequencesArePrefixesOnTheSamePages) {
  const std::vector<std::int32_t> pages = valid_row(problem_, 0);
  for (int seq : {1, 2}) {
    const std::vector<std::int32_t> shared = valid_row(problem_, seq);
    EXPECT_TRUE(std::equal(shared.begin(), shared.end(), pages.begin()));
    // Their last page goes on with true keys of later tokens, which poison must not reach.
    const std::int64_t block = shared.back();
    for (int offset = 0; offset < 16; ++offset)
      EXPECT_FALSE(std::isnan(problem_.value_cache.read(block * 3 * 64 * 16 + offset)));
  }
}

TEST_P(SmolLm2Test, KeepsTheStoredKeysAndQueriesBitForBit) {
  const Tensor keys = read_npy(data_ / ("layer_" + layer_ + "_keys.npy"));
  const Tensor query = read_npy(data_ / ("layer_" + layer_ + "_query.npy"));
  ASSERT_EQ(keys.shape(), (std::vector<std::int64_t>{745, 3, 64}));
  for (int token = 0; token < 745; ++token)
    for (int kv_head = 0; kv_head < 3; ++kv_head)
      for (int dim = 0; dim < 64; ++dim) {
        const std::int64_t block = problem_.block_table(0)[token / 16];
        const std::int64_t i =
            (((block * 3 + kv_head) * 8 + dim / 8) * 16 + token % 16) * 8 + dim % 8;
        ASSERT_EQ(problem_.key_cache.read(i), keys.read((token * 3 + kv_head) * 64 + dim))
            << "token " << token << ", KV head " << kv_head << ", dimension " << dim;
      }
  for (std::int64_t i = 0; i < query.size(); ++i) ASSERT_EQ(problem_.query.read(i), query.read(i));
}

INSTANTIATE_TEST_SUITE_P(Layers, SmolLm2Test, ::testing::Values("00", "14", "29"),
                         [](const auto& tested) { return std::string("layer_") + tested.param; });

}  // namespace
}  // namespace paged
