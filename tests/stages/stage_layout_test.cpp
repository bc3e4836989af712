// No result depends on how query and caches are laid out in memory.
#include "reference/input_error.h"
#include "tests/harness/case_builder.h"
#include "tests/stages/stage_kernels.h"

#include <vector>

namespace paged {
namespace {

struct NamedLayout {
  const char* name;
  InputLayout layout;
};

/// Gaps are multiples of 16 elements: 16 bytes of fp8 elements, more of others. Keys have other
/// gaps than values, so that a stride of one that is used for the other shows.
const NamedLayout kLayouts[] = {
    {"gaps between queries", {.query_gap = 48}},
    {"gaps between heads of keys", {.key_gaps = {16, 0}}},
    {"gaps between blocks of values", {.value_gaps = {0, 32}}},
    {"gaps everywhere", {.query_gap = 16, .key_gaps = {64, 160}, .value_gaps = {16, 1024}}},
    {"split view", {.arrangement = CacheArrangement::split_view}},
    {"split view with gaps",
     {.key_gaps = {32, 16}, .value_gaps = {48, 0}, .arrangement = CacheArrangement::split_view}},
    {"interleaved", {.arrangement = CacheArrangement::interleaved}},
    {"interleaved with gaps",
     {.query_gap = 80,
      .key_gaps = {16, 16},
      .value_gaps = {0, 48},
      .arrangement = CacheArrangement::interleaved}},
    {"blocks before", {.blocks_before = 5}},
};

using StageLayoutTest = StageKernelTest;

TEST_P(StageLayoutTest, GivesTheSameBitsAsTensorsWithoutGaps) {
  const std::pair<ScalarType, CacheType> types[] = {{ScalarType::f32, CacheType::f32},
                                                    {ScalarType::f16, CacheType::f16},
                                                    {ScalarType::bf16, CacheType::bf16},
                                                    {ScalarType::f16, CacheType::e4m3}};
  for (const auto& [scalar, cache] : types) {
    CaseSpec spec;
    spec.num_heads = 4;
    spec.num_kv_heads = 2;
    spec.head_size = 64;
    spec.block_size = 16;
    spec.scalar = scalar;
    spec.cache = cache;
    spec.seq_lens = {35, 0, 16, 49};
    spec.query_values.kind = spec.key_values.kind = "peaked";
    const DecodeProblem problem = build(spec);
    const DecodeOutputs contiguous = run(problem, {.logits = true});
    for (const NamedLayout& tried : kLayouts) {
      SCOPED_TRACE(std::string(name_of(scalar)) + ", cache " + std::string(name_of(cache)) + ", " +
                   tried.name);
      RunOptions options{.logits = true, .compare_inputs = true};
      options.layout = tried.layout;
      const DecodeOutputs outputs = run(problem, options);
      EXPECT_EQ(bit_difference(contiguous, outputs), "");
      for (const std::string& fault : kernel_->take_faults()) ADD_FAILURE() << fault;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Stages, StageLayoutTest, ::testing::ValuesIn(every_stage_kernel()),
                         [](const auto& tested) { return name_of(tested.param); });

// ---- kernels of other layouts -----------------------------------------------------------------
/// A case with tails, on 4 heads that share 2.
CaseSpec two_sequences() {
  CaseSpec spec;
  spec.num_heads = 4;
  spec.num_kv_heads = 2;
  spec.head_size = 64;
  spec.block_size = 16;
  spec.seq_lens = {35, 20};
  return spec;
}

/// What is passed to a kernel is checked in its own layout before it is called: here a query whose
/// rows begin 2 bytes past multiples of 16.
TEST(InputLayoutTest, ArgumentsAreCheckedInEveryLayout) {
  for (const auto layout : {PAGED_CLASSIC, PAGED_TOKENS_THEN_HEADS, PAGED_HEADS_THEN_TOKENS}) {
    Stage stage = find_stage("1", Backend::cpu);
    stage.cache_layout = layout;
    static int calls;
    calls = 0;
    stage.run = [](const paged_decode_args&) { ++calls; };
    const std::unique_ptr<Device> device = make_cpu_device();
    KernelUnderTest kernel(stage, *device);
    const DecodeProblem problem = build_case(two_sequences()).problem;
    kernel.run(problem);
    EXPECT_EQ(calls, 1) << layout;
    RunOptions misaligned;
    misaligned.layout.query_gap = 1;
    EXPECT_THROW(kernel.run(problem, misaligned), InputError) << layout;
    EXPECT_EQ(calls, 1) << layout;
  }
}

// ---- that gaps would be noticed ----------------------------------------------------------------
/// What the stage below adds to strides: a stage runs through a plain function pointer.
paged_decode_args wrong_by;

/// Stage 1 with wrong strides.
Stage spoilt_stage() {
  Stage stage = find_stage("1", Backend::cpu);
  stage.run = [](const paged_decode_args& args) {
    paged_decode_args spoilt = args;
    spoilt.query_stride += wrong_by.query_stride;
    spoilt.key_head_stride += wrong_by.key_head_stride;
    spoilt.key_block_stride += wrong_by.key_block_stride;
    spoilt.value_head_stride += wrong_by.value_head_stride;
    spoilt.value_block_stride += wrong_by.value_block_stride;
    find_stage("1", Backend::cpu).run(spoilt);
  };
  return stage;
}

void expect_finding(std::int64_t paged_decode_args::*stride, int error, const InputLayout& layout,
                    const std::string& buffer) {
  wrong_by = {};
  wrong_by.*stride = error;
  const Stage stage = spoilt_stage();
  const std::unique_ptr<Device> device = make_cpu_device();
  KernelUnderTest kernel(stage, *device);
  RunOptions options;
  options.layout = layout;
  kernel.run(build_case(two_sequences()).problem, options);
  const std::vector<std::string> faults = kernel.take_faults();
  ASSERT_FALSE(faults.empty()) << "a wrong stride of " << buffer << " was not noticed";
  EXPECT_NE(faults.front().find("'" + buffer + "'"), std::string::npos) << faults.front();
}

TEST(InputLayoutTest, GapsThatAreReadAreFound) {
  expect_finding(&paged_decode_args::key_head_stride, -16, {.key_gaps = {16, 0}}, "key_cache");
  expect_finding(&paged_decode_args::key_block_stride, -32, {.key_gaps = {0, 32}}, "key_cache");
  expect_finding(&paged_decode_args::value_block_stride, -32, {.value_gaps = {0, 32}},
                 "value_cache");
  expect_finding(&paged_decode_args::query_stride, -48, {.query_gap = 48}, "query");
  expect_finding(&paged_decode_args::value_head_stride, -16,
                 {.value_gaps = {16, 0}, .arrangement = CacheArrangement::interleaved}, "kv_cache");
}

}  // namespace
}  // namespace paged
