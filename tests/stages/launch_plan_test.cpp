// Sizes of shared memory and workspaces, and which of V1 and V2 a call gets.
#include "stages/partition_workspace.h"
#include "stages/registry.h"
#include "stages/shared_memory.h"
#include "stages/v1_v2_policy.h"
#include "tests/harness/input_file.h"
#include "tests/harness/json_object.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <string>

namespace paged {
namespace {

DecodeShape batch_of(int num_seqs, int num_heads, int max_seq_len) {
  DecodeShape shape;
  shape.num_seqs = num_seqs;
  shape.num_heads = shape.num_kv_heads = num_heads;
  shape.head_size = 128;
  shape.block_size = 16;
  shape.max_seq_len = max_seq_len;
  return shape;
}

DecodeShape with_cache(DecodeShape shape, CacheType cache) {
  shape.cache = cache;
  return shape;
}

TEST(SharedMemory, LogitsTakeFourBytesATokenInWholePages) {
  EXPECT_EQ(bytes_of_logits(batch_of(1, 1, 0)), 0U);
  EXPECT_EQ(bytes_of_logits(batch_of(1, 1, 1)), 4U * 16);
  EXPECT_EQ(bytes_of_logits(batch_of(1, 1, 16)), 4U * 16);
  EXPECT_EQ(bytes_of_logits(batch_of(1, 1, 17)), 4U * 32);
  EXPECT_EQ(bytes_of_logits(batch_of(1, 1, 8192)), 32U * 1024);
}

TEST(SharedMemory, V1TakesTheLargerOfLogitsAndPartialOutputs) {
  // Two of the four warps hand over 128 floats each.
  EXPECT_EQ(bytes_of_v1(batch_of(1, 1, 1), 128), 2U * 128 * 4);
  EXPECT_EQ(bytes_of_v1(batch_of(1, 1, 256), 128), 2U * 128 * 4);
  EXPECT_EQ(bytes_of_v1(batch_of(1, 1, 257), 128), 4U * 272);
}

TEST(SharedMemory, V2TakesTheLogitsOfOnePartitionHoweverLongTheSequence) {
  EXPECT_EQ(bytes_of_v2(512, 128, 128), 2048U);
  EXPECT_EQ(bytes_of_v2(64, 128, 128), 1024U);
}

TEST(SharedMemory, TheReductionTakesAWeightAPartitionInGroupsOfFourWithOneToSpare) {
  EXPECT_EQ(bytes_of_reduction(0), 16U);
  EXPECT_EQ(bytes_of_reduction(3), 16U);
  EXPECT_EQ(bytes_of_reduction(4), 32U);
  EXPECT_EQ(bytes_of_reduction(5), 32U);
}

TEST(SharedMemory, StaticVariablesAreTheScratchOfTheSoftmaxAndTheQueryInFloats) {
  EXPECT_EQ(bytes_of_softmax_scratch(128), 2U * 4 * 4);
  EXPECT_EQ(bytes_of_static_shared(batch_of(1, 1, 1), 128), 32U + 128 * 4);
}

TEST(SharedMemory, PlansOfTheStagesSayWhatTheyAskFor) {
  const DecodeShape shape = batch_of(3, 8, 1000);
  for (const char* number : {"2", "3", "4"}) {
    const LaunchPlan plan = find_stage(number, Backend::cpu).plan(shape);
    EXPECT_EQ(plan.grid_x, 8) << number;
    EXPECT_EQ(plan.grid_y, 3) << number;
    EXPECT_EQ(plan.grid_z, 1) << number;
    EXPECT_EQ(plan.threads, 128) << number;
    EXPECT_EQ(plan.shared_bytes, 4U * 1008) << number;
    EXPECT_EQ(plan.static_shared_bytes, 544U) << number;
    EXPECT_EQ(plan.workspace_bytes, 0U) << number;
    EXPECT_EQ(plan.partitions, 0) << number;
  }
  const LaunchPlan v2 = find_stage("5", Backend::cpu).plan(shape);
  EXPECT_EQ(v2.grid_z, 2);
  EXPECT_EQ(v2.shared_bytes, 2048U);
  EXPECT_EQ(v2.partitions, 2);
  EXPECT_EQ(v2.workspace_bytes, 4U * 3 * 8 * 2 * (2 + 128));
}

TEST(PartitionWorkspaceTest, HoldsTwoStatisticsAndAnOutputAPartition) {
  EXPECT_EQ(PartitionWorkspace::bytes(0, 8, 128, 4), 0U);
  EXPECT_EQ(PartitionWorkspace::bytes(2, 8, 128, 0), 0U);
  EXPECT_EQ(PartitionWorkspace::bytes(2, 8, 128, 3), 4U * 2 * 8 * 3 * 130);
  // Past 4 GiB.
  EXPECT_EQ(PartitionWorkspace::bytes(1024, 64, 256, 256), std::size_t{4} * 1024 * 64 * 256 * 258);
  float memory[2 * 3 * 2 * (2 + 4)];
  const PartitionWorkspace workspace(memory, 2, 3, 2);
  EXPECT_EQ(workspace.maxima, memory);
  EXPECT_EQ(workspace.sums, memory + 12);
  EXPECT_EQ(workspace.outputs, memory + 24);
}

TEST(PartitionWorkspaceTest, PartitionsAreCountedWithoutOverflow) {
  EXPECT_EQ(num_partitions(0, 512), 0);
  EXPECT_EQ(num_partitions(512, 512), 1);
  EXPECT_EQ(num_partitions(513, 512), 2);
  EXPECT_EQ(num_partitions(2147483647, 512), 4194304);
}

TEST(V1V2Policy, TheChoiceOfV060ChangesAtItsThreeEdges) {
  EXPECT_TRUE(v060_takes_v1(batch_of(1, 1, 512)));     // one partition
  EXPECT_FALSE(v060_takes_v1(batch_of(1, 1, 513)));    // two, and few blocks
  EXPECT_FALSE(v060_takes_v1(batch_of(16, 32, 513)));  // 512 blocks
  EXPECT_TRUE(v060_takes_v1(batch_of(19, 27, 513)));   // 513
  EXPECT_TRUE(v060_takes_v1(batch_of(19, 27, 8192)));
  EXPECT_FALSE(v060_takes_v1(batch_of(19, 27, 8193)));
  EXPECT_TRUE(v060_takes_v1(batch_of(1 << 17, 1 << 15, 1024)));  // 2^32 blocks
}

TEST(V1V2Policy, TheMeasuredChoiceOf16BitCachesEndsAt4096Tokens) {
  EXPECT_TRUE(measured_takes_v1(batch_of(1, 1, 512)));
  EXPECT_FALSE(measured_takes_v1(batch_of(1, 1, 513)));
  EXPECT_FALSE(measured_takes_v1(batch_of(16, 32, 4096)));
  EXPECT_TRUE(measured_takes_v1(batch_of(19, 27, 4096)));
  EXPECT_FALSE(measured_takes_v1(batch_of(19, 27, 4097)));
}

TEST(V1V2Policy, TheMeasuredChoiceOf8BitCachesIsV1OnlyForFewBlocksOfOnePartition) {
  const auto e4m3 = [](const DecodeShape& shape) { return with_cache(shape, CacheType::e4m3); };
  EXPECT_TRUE(measured_takes_v1(e4m3(batch_of(1, 1, 512))));
  EXPECT_FALSE(measured_takes_v1(e4m3(batch_of(1, 1, 513))));
  EXPECT_TRUE(measured_takes_v1(e4m3(batch_of(16, 32, 512))));   // 512 blocks
  EXPECT_FALSE(measured_takes_v1(e4m3(batch_of(19, 27, 512))));  // 513
  EXPECT_FALSE(measured_takes_v1(e4m3(batch_of(64, 32, 4096))));
}

/// Of each shape that was measured for both: whether a call gets V1.
nlohmann::json choices_for_measured_shapes() {
  nlohmann::json choices;
  for (const CacheType cache : {CacheType::f16, CacheType::e4m3}) {
    const std::string type(name_of(cache));
    const std::string file =
        std::string(STAGE_TESTS_MEASUREMENTS) + "/h200_2026-11-30/crossover_" + type + ".json";
    const nlohmann::json measured = parse_json(content_of_input(file), file);
    for (const auto& result : measured.at("results")) {
      const std::string sizes = result.at("shape");  // "8 x 4096"
      const int num_heads = result.at("num_heads");
      const DecodeShape shape =
          batch_of(std::stoi(sizes), num_heads, std::stoi(sizes.substr(sizes.rfind(' '))));
      choices[type][std::to_string(num_heads)][sizes] = takes_v1(with_cache(shape, cache));
    }
  }
  return choices;
}

/// docs/measurements/tables.py, which knows no policy, marks by this file where the choice is
/// wrong.
TEST(V1V2Policy, IsWrittenDownForTheTablesOfMeasurements) {
  const std::string file = std::string(STAGE_TESTS_MEASUREMENTS) + "/v1_v2_choices.json";
  const nlohmann::json choices = choices_for_measured_shapes();
  if (parse_json(content_of_input(file), file) == choices) return;
  const auto right = std::filesystem::temp_directory_path() / "v1_v2_choices.json";
  std::ofstream(right) << choices.dump(1) << '\n';
  FAIL() << "the policy is another one: cp " << right.string() << ' ' << file
         << ", and print the tables of docs/measurements/README.md anew with tables.py beside it";
}

TEST(V1V2Policy, ACallGetsWhatItAsksFor) {
  DecodeShape shape = batch_of(64, 32, 8192);  // where the two policies differ
  EXPECT_FALSE(takes_v1(shape));
  shape.variant = KernelVariant::v060;
  EXPECT_TRUE(takes_v1(shape));
  shape.variant = KernelVariant::v2;
  EXPECT_FALSE(takes_v1(shape));
  shape.variant = KernelVariant::v1;
  EXPECT_TRUE(takes_v1(shape));
  EXPECT_EQ(find_stage("5", Backend::cpu).plan(shape).partitions, 0);
}

}  // namespace
}  // namespace paged
