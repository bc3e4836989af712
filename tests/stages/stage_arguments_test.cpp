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

/// The same in a layout in which a token's elements lie together.
paged_decode_args right_arguments(paged_cache_layout layout) {
  paged_decode_args args = right_arguments();
  if (layout == PAGED_CLASSIC) return args;
  args.cache_layout = layout;
  const bool heads_inside = layout == PAGED_TOKENS_THEN_HEADS;
  args.key_token_stride = args.value_token_stride = heads_inside ? 2 * 64 : 64;
  args.key_head_stride = args.value_head_stride = heads_inside ? 64 : 16 * 64;
  return args;
}

struct WrongArguments {
  std::string name;
  std::function<void(paged_decode_args&)> spoil;
  std::string message;  // part of the one line
  paged_cache_layout layout = PAGED_CLASSIC;
};

class StageArgumentsTest : public ::testing::TestWithParam<WrongArguments> {};

TEST(StageArguments, RightOnesAreAccepted) {
  for (const auto layout : {PAGED_CLASSIC, PAGED_TOKENS_THEN_HEADS, PAGED_HEADS_THEN_TOKENS}) {
    paged_decode_args args = right_arguments(layout);
    EXPECT_NO_THROW(check_arguments(args, layout)) << layout;
    // A gap of 16 bytes between what the innermost stride leads to; none behind the last one.
    (layout == PAGED_HEADS_THEN_TOKENS ? args.key_token_stride : args.key_head_stride) += 8;
    const int others = layout == PAGED_HEADS_THEN_TOKENS ? 15 : 1;
    if (layout == PAGED_TOKENS_THEN_HEADS) args.key_token_stride += 8;
    if (layout == PAGED_HEADS_THEN_TOKENS) args.key_head_stride += 8 * others;
    args.key_block_stride += layout == PAGED_CLASSIC ? 8 : 16 * 15;
    EXPECT_NO_THROW(check_arguments(args, layout)) << layout;
  }
}

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
  paged_decode_args args = right_arguments(GetParam().layout);
  GetParam().spoil(args);
  try {
    check_arguments(args, GetParam().layout);
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
        WrongArguments{"key_head_stride_beyond_64_bits",
                       [](auto& a) { a.key_head_stride = std::int64_t{0x7FFFFFFFFFFFFFF8}; },
                       "key_head_stride is 9223372036854775800; a block of that stride has more"},
        WrongArguments{"key_block_stride_misaligned", [](auto& a) { a.key_block_stride += 4; },
                       "key_block_stride is 2052; it must be a multiple of 8 (16 bytes)"},
        WrongArguments{"value_block_stride_misaligned_fp8",
                       [](auto& a) {
                         a.cache = PAGED_E4M3;
                         a.value_block_stride += 8;
                       },
                       "value_block_stride is 2056; it must be a multiple of 16 (16 bytes)"},
        WrongArguments{"token_stride", [](auto& a) { a.value_token_stride = 64; },
                       "value_token_stride is 64; it must be 0 in the classic layout"},
        // Tokens, then heads.
        WrongArguments{"classic_for_tokens_then_heads",
                       [](auto& a) { a.cache_layout = PAGED_CLASSIC; },
                       "cache_layout is 0; this kernel takes 1, tokens then heads",
                       PAGED_TOKENS_THEN_HEADS},
        WrongArguments{"tokens_head_stride", [](auto& a) { a.key_head_stride = 56; },
                       "key_head_stride is 56; it must be at least 64", PAGED_TOKENS_THEN_HEADS},
        WrongArguments{"tokens_token_stride", [](auto& a) { a.value_token_stride = 120; },
                       "value_token_stride is 120; it must be at least 128",
                       PAGED_TOKENS_THEN_HEADS},
        // 2 heads 72 apart, the last of 64: 136.
        WrongArguments{"tokens_that_overlap_by_a_gap", [](auto& a) { a.key_head_stride += 8; },
                       "key_token_stride is 128; it must be at least 136",
                       PAGED_TOKENS_THEN_HEADS},
        WrongArguments{"tokens_block_stride", [](auto& a) { a.key_block_stride -= 8; },
                       "key_block_stride is 2040; it must be at least 2048",
                       PAGED_TOKENS_THEN_HEADS},
        WrongArguments{"tokens_token_stride_misaligned",
                       [](auto& a) {
                         a.key_token_stride += 4;
                         a.key_block_stride += 64;
                       },
                       "key_token_stride is 132; it must be a multiple of 8 (16 bytes)",
                       PAGED_TOKENS_THEN_HEADS},
        WrongArguments{"tokens_head_stride_misaligned_fp8",
                       [](auto& a) {
                         a.cache = PAGED_E5M2;
                         a.value_head_stride += 8;
                         a.value_token_stride += 16;
                         a.value_block_stride += 256;
                       },
                       "value_head_stride is 72; it must be a multiple of 16 (16 bytes)",
                       PAGED_TOKENS_THEN_HEADS},
        WrongArguments{"tokens_key_misaligned", [](auto& a) { a.key_cache = memory + 2; },
                       "key_cache is misaligned: its address is 2 past", PAGED_TOKENS_THEN_HEADS},
        // Heads, then tokens.
        WrongArguments{"tokens_for_heads_then_tokens",
                       [](auto& a) { a.cache_layout = PAGED_TOKENS_THEN_HEADS; },
                       "cache_layout is 1; this kernel takes 2, heads then tokens",
                       PAGED_HEADS_THEN_TOKENS},
        WrongArguments{"heads_token_stride", [](auto& a) { a.value_token_stride = 0; },
                       "value_token_stride is 0; it must be at least 64", PAGED_HEADS_THEN_TOKENS},
        WrongArguments{"heads_head_stride", [](auto& a) { a.key_head_stride = 1016; },
                       "key_head_stride is 1016; it must be at least 1024",
                       PAGED_HEADS_THEN_TOKENS},
        WrongArguments{"heads_block_stride", [](auto& a) { a.value_block_stride = 2040; },
                       "value_block_stride is 2040; it must be at least 2048",
                       PAGED_HEADS_THEN_TOKENS},
        WrongArguments{"heads_token_stride_misaligned",
                       [](auto& a) {
                         a.key_token_stride += 1;
                         a.key_head_stride += 64;
                         a.key_block_stride += 128;
                       },
                       "key_token_stride is 65; it must be a multiple of 8 (16 bytes)",
                       PAGED_HEADS_THEN_TOKENS},
        WrongArguments{"heads_block_stride_misaligned_f32",
                       [](auto& a) {
                         a.scalar = a.cache = PAGED_F32;
                         a.key_block_stride += 2;
                       },
                       "key_block_stride is 2050; it must be a multiple of 4 (16 bytes)",
                       PAGED_HEADS_THEN_TOKENS},
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
