// What a stage refuses before it launches anything.
#include "reference/input_error.h"
#include "stages/registry.h"
#include "stages/shared_memory.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace paged {
namespace {

alignas(16) char memory[64];

/// Arguments that are right in every way; nothing is launched with them.
paged_decode_args right_arguments() {
  paged_decode_args args{};
  args.version = PAGED_DECODE_VERSION;
  args.scalar = args.cache = PAGED_F16;
  args.num_seqs = 2;
  args.num_heads = 8;
  args.num_kv_heads = 2;
  args.head_size = 64;
  args.block_size = 16;
  args.num_blocks = 8;
  args.max_num_blocks_per_seq = 3;
  args.max_seq_len = 35;
  args.query = args.key_cache = args.value_cache = memory;
  args.query_stride = 8 * 64;
  args.key_head_stride = args.value_head_stride = 64 * 16;
  args.key_block_stride = args.value_block_stride = 2 * 64 * 16;
  args.block_tables = args.seq_lens = reinterpret_cast<const std::int32_t*>(memory);
  args.scale = args.k_scale = args.v_scale = 1;
  args.sparse_vert_stride = args.sparse_block_size = 1;
  args.output = memory;
  args.partition_size = 512;
  return args;
}

struct WrongArguments {
  std::string name;
  std::function<void(paged_decode_args&)> spoil;
  std::string message;  // part of the one line
};

class StageArgumentsTest : public ::testing::TestWithParam<WrongArguments> {};

TEST(StageArguments, RightOnesAreAccepted) { EXPECT_NO_THROW(check_arguments(right_arguments())); }

TEST(StageArguments, V2WithoutAWorkspaceIsRefusedBeforeALaunch) {
  paged_decode_args args = right_arguments();
  args.variant = PAGED_V2;
  try {
    find_stage("5", Backend::cpu).run(args);
    FAIL() << "accepted";
  } catch (const InputError& error) {
    // 2 sequences, 8 heads, 1 partition, 64 outputs and two statistics in f32.
    EXPECT_NE(std::string(error.what()).find("workspace is a null pointer"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("4224 bytes"), std::string::npos) << error.what();
  }
}

TEST_P(StageArgumentsTest, AreRefusedInOneLineThatNamesThem) {
  paged_decode_args args = right_arguments();
  GetParam().spoil(args);
  try {
    check_arguments(args);
    FAIL() << "accepted";
  } catch (const InputError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find(GetParam().message), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Wrong, StageArgumentsTest,
    ::testing::Values(
        WrongArguments{"version", [](auto& a) { a.version = 7; }, "version 7"},
        WrongArguments{"no_sequence", [](auto& a) { a.num_seqs = 0; },
                       "num_seqs is 0; it must be at least 1"},
        WrongArguments{"variant", [](auto& a) { a.variant = 7; }, "variant is 7; it must be 0"},
        WrongArguments{"partition_size", [](auto& a) { a.partition_size = 0; },
                       "partition_size is 0; it must be at least 1"},
        WrongArguments{"sparse_block_size",
                       [](auto& a) {
                         a.sparse_vert_stride = 2;
                         a.sparse_block_size = 24;
                       },
                       "sparse_block_size is 24; it must be a multiple of block_size 16"},
        WrongArguments{"query_null", [](auto& a) { a.query = nullptr; }, "query is a null"},
        WrongArguments{"key_misaligned", [](auto& a) { a.key_cache = memory + 2; },
                       "key_cache is misaligned: its address is 2 past"},
        WrongArguments{"output_misaligned", [](auto& a) { a.output = memory + 8; },
                       "output is misaligned: its address is 8 past"},
        WrongArguments{"lse_misaligned",
                       [](auto& a) { a.lse = reinterpret_cast<float*>(memory + 4); },
                       "lse is misaligned"},
        WrongArguments{"maxima_misaligned",
                       [](auto& a) { a.maxima = reinterpret_cast<float*>(memory + 4); },
                       "maxima is misaligned"},
        WrongArguments{"sums_misaligned",
                       [](auto& a) { a.sums = reinterpret_cast<float*>(memory + 12); },
                       "sums is misaligned"},
        WrongArguments{"version_1", [](auto& a) { a.version = 1; },
                       "version 1; this build knows version 3"},
        WrongArguments{"cache_layout", [](auto& a) { a.cache_layout = PAGED_HEADS_THEN_TOKENS; },
                       "cache_layout is 2"},
        WrongArguments{"scalar_unknown", [](auto& a) { a.scalar = PAGED_E4M3; }, "scalar is 3"},
        WrongArguments{"probabilities_unknown", [](auto& a) { a.probabilities = PAGED_BF16; },
                       "probabilities is 2"},
        WrongArguments{"probabilities_beside_fp8",
                       [](auto& a) {
                         a.probabilities = PAGED_F16;
                         a.cache = PAGED_E4M3;
                       },
                       "probabilities are f16 beside scalar f16 and an e4m3 cache"},
        WrongArguments{"probabilities_beside_bf16",
                       [](auto& a) {
                         a.probabilities = PAGED_F16;
                         a.scalar = a.cache = PAGED_BF16;
                       },
                       "beside scalar bf16"},
        WrongArguments{"cache_of_another_type", [](auto& a) { a.cache = PAGED_F32; }, "cache is 0"},
        WrongArguments{"heads_not_divisible", [](auto& a) { a.num_kv_heads = 3; },
                       "8 query heads cannot be shared by 3"},
        WrongArguments{"no_kv_head", [](auto& a) { a.num_kv_heads = 0; }, "num_kv_heads is 0"},
        WrongArguments{"row_too_short", [](auto& a) { a.max_num_blocks_per_seq = 2; },
                       "max_num_blocks_per_seq is 2; it must be at least 3"},
        WrongArguments{"query_stride", [](auto& a) { a.query_stride = 511; }, "at least 512"},
        WrongArguments{"block_stride", [](auto& a) { a.key_block_stride = 2047; }, "at least 2048"},
        // Large enough, but vectors of 16 bytes would be misaligned.
        WrongArguments{"query_stride_misaligned", [](auto& a) { a.query_stride += 4; },
                       "query_stride is 516; it must be a multiple of 8 (16 bytes)"},
        WrongArguments{"query_stride_misaligned_f32",
                       [](auto& a) {
                         a.scalar = a.cache = PAGED_F32;
                         a.query_stride += 2;
                       },
                       "query_stride is 514; it must be a multiple of 4 (16 bytes)"},
        WrongArguments{"key_head_stride_misaligned",
                       [](auto& a) {
                         a.key_head_stride += 1;
                         a.key_block_stride += 64;
                       },
                       "key_head_stride is 1025; it must be a multiple of 8 (16 bytes)"},
        WrongArguments{"value_head_stride_misaligned",
                       [](auto& a) {
                         a.value_head_stride += 7;
                         a.value_block_stride += 64;
                       },
                       "value_head_stride is 1031; it must be a multiple of 8 (16 bytes)"},
        WrongArguments{"key_block_stride_misaligned", [](auto& a) { a.key_block_stride += 4; },
                       "key_block_stride is 2052; it must be a multiple of 8 (16 bytes)"},
        WrongArguments{"value_block_stride_misaligned_fp8",
                       [](auto& a) {
                         a.cache = PAGED_E4M3;
                         a.value_block_stride += 8;
                       },
                       "value_block_stride is 2056; it must be a multiple of 16 (16 bytes)"},
        WrongArguments{"sparse_stride", [](auto& a) { a.sparse_vert_stride = 0; },
                       "sparse_vert_stride is 0"}),
    [](const auto& tested) { return tested.param.name; });

TEST(StageArguments, HalfProbabilitiesBesideAnF16CacheAreAccepted) {
  paged_decode_args args = right_arguments();
  args.probabilities = PAGED_F16;
  EXPECT_NO_THROW(check_arguments(args));
  EXPECT_EQ(shape_of(args).probabilities, ScalarType::f16);
}

/// A shape of one sequence at the edge of what a stage's shared memory holds.
DecodeShape shape_of_length(int length) {
  DecodeShape shape;
  shape.num_seqs = shape.num_heads = shape.num_kv_heads = 1;
  shape.head_size = 64;
  shape.block_size = 16;
  shape.max_seq_len = length;
  shape.variant = KernelVariant::v1;
  return shape;
}

TEST(StageLimits, SharedMemoryCountsStaticVariablesToo) {
  DeviceLimits limits;
  limits.name = "a device";
  limits.shared_bytes_per_block = 232448;
  for (const Stage& stage : stages(Backend::cpu)) {
    const LaunchPlan plan = stage.plan(shape_of_length(1024));
    EXPECT_GT(plan.static_shared_bytes, 0U) << stage.name;
    // The longest whole pages that fit beside the static variables.
    const int longest =
        static_cast<int>((limits.shared_bytes_per_block - plan.static_shared_bytes) / 4 / 16 * 16);
    EXPECT_NO_THROW(check_supported(stage, shape_of_length(longest), limits)) << stage.name;
    EXPECT_THROW(check_supported(stage, shape_of_length(longest + 16), limits), InputError)
        << stage.name;
  }
}

TEST(StageSupportTest, OnlyStagesWithVectorisedPvHaveHalfProbabilities) {
  DeviceLimits limits;
  limits.shared_bytes_per_block = 232448;
  DecodeShape shape = shape_of_length(100);
  shape.probabilities = ScalarType::f16;
  for (const Stage& stage : stages(Backend::cpu))
    if (stage.number >= 4) {
      EXPECT_NO_THROW(check_supported(stage, shape, limits)) << stage.name;
    } else {
      EXPECT_THROW(check_supported(stage, shape, limits), InputError) << stage.name;
    }
}

TEST(SharedMemory, FollowsTheFormulas) {
  DecodeShape shape = shape_of_length(8192);
  EXPECT_EQ(bytes_of_logits(shape), 32768U);
  shape.max_seq_len = 17;
  EXPECT_EQ(bytes_of_logits(shape), 4U * 32);
  EXPECT_EQ(bytes_of_partial_outputs(128, 128), 4U * 2 * 128);
  EXPECT_EQ(bytes_of_v1(shape, 128), 4U * 2 * 64);  // partial outputs are larger than 32 logits
  EXPECT_EQ(bytes_of_v2(512, 64, 128), 2048U);
}

}  // namespace
}  // namespace paged
