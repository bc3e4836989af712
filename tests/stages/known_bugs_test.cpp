// Small inputs that broke real attention kernels, each with its whole kind.
//
// | the mistake                                                    | its tests
// | -------------------------------------------------------------- |
// -------------------------------
// |  1 NaN in values past the end: 0 * NaN                         | Line01
// |  2 a loop over the tail that runs one too far                  | Line02
// |  3 stale finite values past the end                            | Line03
// |  4 NaN in keys past the end                                    | Line04
// |  5 a 32-bit product for an address                             | Line05
// |  6 L/B + 1 pages read                                          | Line06
// |  7 padding lanes counted in the softmax                        | Line07
// |  8 a sequence shorter than a page                              | Line08
// |  9 masked logits of 0 that outweigh the rest                   | Line09
// | 10 tests that step over the failing lengths                    | Line10
// | 11 the merge of partitions                                     | Line11
// | 12 a partition without a token: (-inf) - (-inf)                | Line12
// | 13 an empty sequence                                           | Line13
// | 14 a finite "minus infinity"                                   | Line14
// | 15 5 or 7 query heads per KV head                              | Line15
// | 16 heads that do not divide                                    | KnownBugs.Line16
// | 17 rows of odd head sizes never written                        | Line17; stage_covering_test.cpp
// |    ... in every head size, whatever was built                  |
// | 18 shared memory beyond 48 KB, beyond the device               | Line18
// | 19 one fp8 scale for both caches                               | Line19; in cache writes:
// |                                                                | cache_operations_test.cpp,
// |                                                                | Bugs19...
// | 20 ALiBi offset by one                                         | Line20; that outputs can't show
// |                                                                | it: harness_tests/
// |                                                                | alibi_offset_test.cpp
// | 21 a block id outside the cache                                | KnownBugs.Line21
// | 22 padding slots of a cache write                              | cache_operations_test.cpp,
// |                                                                | Bugs22...
// | 23 a result that depends on the batch                          | Line23
// | 24 a result that depends on where pages lie                    | Line24
// | 25 fp8 keys indexed with the x of the scalar type              | Line25; in cache writes:
// |                                                                | cache_operations_test.cpp,
// |                                                                | Bugs25...
#include "tests/stages/known_bugs.h"

#include "reference/cache_layout.h"
#include "reference/input_error.h"
#include "tests/harness/case_builder.h"
#include "tests/harness/random.h"
#include "tests/harness/rearranged.h"
#include "tests/reference/error_message.h"
#include "tests/stages/stage_kernels.h"

#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace paged {
namespace {

using known_bugs::kInfinity;
using known_bugs::kNan;
using known_bugs::kTypes;
using known_bugs::step;
using known_bugs::Types;
using testing::input_error_of;
using testing::mentions;

bool all_finite(const Tensor& tensor) {
  for (std::int64_t i = 0; i < tensor.size(); ++i)
    if (!std::isfinite(tensor.read(i))) return false;
  return true;
}

class KnownBugsTest : public StageKernelTest {
 protected:
  bool breaks(const std::string& invariant) const {
    return std::any_of(stage().breaks.begin(), stage().breaks.end(),
                       [&](const BrokenPromise& broken) { return broken.invariant == invariant; });
  }
  bool is_built_for(const CaseSpec& spec) const { return kernel_->supports(build(spec)); }

  void expect_right(const DecodeProblem& problem) {
    EXPECT_EQ(difference_from_reference(problem), "");
  }

  /// Any of `values` past the ends of sequences changes no bit.
  void expect_tail_ignored(const std::vector<double>& values, PoisonedCache caches) {
    for (const Types& types : kTypes)
      for (const int block_size : kBlockSizes) {
        const CaseSpec spec = step(types, known_bugs::lengths_of_a_page(block_size), "peaked",
                                   {1, 1, 64, block_size});
        if (!is_built_for(spec)) continue;
        SCOPED_TRACE(known_bugs::name_of(types) + ", block size " + std::to_string(block_size));
        DecodeProblem problem = build(spec);
        poison_tails(problem, 0.0);
        const DecodeOutputs clean = run(problem);
        for (const double value : values) {
          SCOPED_TRACE(value);
          poison_tails(problem, value, caches);
          const DecodeOutputs outputs = run(problem);
          EXPECT_EQ(bit_difference(clean, outputs), "");
          EXPECT_TRUE(all_finite(outputs.output));
        }
        expect_right(problem);
      }
  }
};

TEST_P(KnownBugsTest, Line01_NotFiniteValuesPastTheEnd) {
  expect_tail_ignored(known_bugs::kNotFinite, PoisonedCache::values);
}

// The loop over a register vector itself is tried between guards in tests/simt/vector_test.cpp.
// Here: nothing beside the tail, in memory or in a neighbouring row, changes the result.
TEST_P(KnownBugsTest, Line02_NoWriteBesideTheTail) {
  for (const Types& types : kTypes) {
    SCOPED_TRACE(known_bugs::name_of(types));
    DecodeProblem problem = build(step(types, every_length(9, 15), "peaked"));
    poison_tails(problem, 0.0);
    const DecodeOutputs clean = run(problem);
    poison_tails(problem, kNan);
    RunOptions options{.compare_inputs = true};
    options.layout.key_gaps = options.layout.value_gaps = {16, 16};
    EXPECT_EQ(bit_difference(clean, run(problem, options)), "");
    expect_right(problem);
  }
}

TEST_P(KnownBugsTest, Line03_StaleNumbersPastTheEnd) {
  expect_tail_ignored(known_bugs::kStaleNumbers, PoisonedCache::values);
}

TEST_P(KnownBugsTest, Line04_NotFiniteKeysPastTheEnd) {
  expect_tail_ignored(known_bugs::kNotFinite, PoisonedCache::keys);
}

// Blocks from the first whose elements a signed 32-bit index can't reach on, and, in bytes of fp8,
// an unsigned one.
TEST_P(KnownBugsTest, Line05_AddressesBeyond32Bits) {
  struct Distance {
    Types types;
    std::int64_t elements;
  };
  for (const Distance& far :
       {Distance{{ScalarType::f16, CacheType::f16}, std::int64_t{1} << 31},
        Distance{{ScalarType::f16, CacheType::e4m3}, std::int64_t{1} << 32}}) {
    SCOPED_TRACE(known_bugs::name_of(far.types));
    const DecodeProblem problem = build(step(far.types, {35, 16}, "peaked"));
    const DecodeOutputs near = run(problem);
    const auto resident_kilobytes = [] {
      rusage usage{};
      getrusage(RUSAGE_SELF, &usage);
      return usage.ru_maxrss;
    };
    const long before = resident_kilobytes();
    RunOptions options;
    options.layout.blocks_before = far.elements / (64 * 16);
    EXPECT_EQ(bit_difference(near, run(problem, options)), "");
    // The CPU machine and its checker take memory for what is touched, not for 4 GiB.
    if (device_->backend() == Backend::cpu) {
      EXPECT_LT(resident_kilobytes() - before, 64 * 1024);
    }
  }
}

TEST_P(KnownBugsTest, Line06_RowsOfExactlyTheirPages) {
  for (const Types& types : kTypes)
    for (const int block_size : kBlockSizes)
      for (int pages = 1; pages <= 4; ++pages) {
        // The last row ends where the table ends.
        CaseSpec spec = step(types, {1, pages * block_size}, "peaked", {1, 1, 64, block_size});
        spec.table_width = pages;
        if (!is_built_for(spec)) continue;
        SCOPED_TRACE(known_bugs::name_of(types) + ", " + std::to_string(pages) + " pages of " +
                     std::to_string(block_size));
        expect_right(build(spec));
      }
}

TEST_P(KnownBugsTest, Line07_AZeroQueryGivesTheMeanOfTheValues) {
  std::vector<int> lengths = every_length(1, 34);
  lengths.push_back(64);
  for (const Types& types : kTypes) {
    SCOPED_TRACE(known_bugs::name_of(types));
    DecodeProblem problem = build(step(types, lengths, "normal"));
    problem.query.fill(0);
    expect_right(problem);
    // ... and that is what the reference says, too.
    const std::vector<HeadAttention> attention = decode_attention(problem);
    for (int seq = 0; seq < problem.num_seqs(); ++seq)
      EXPECT_LT(
          (attention[seq].output - gather(problem, seq, 0).values.colwise().mean().transpose())
              .cwiseAbs()
              .maxCoeff(),
          1e-5);
  }
}

TEST_P(KnownBugsTest, Line08_ShorterThanAPage) {
  for (const Types& types : kTypes)
    for (const int block_size : kBlockSizes) {
      const CaseSpec spec =
          step(types, every_length(1, block_size - 1), "peaked", {1, 1, 64, block_size});
      if (!is_built_for(spec)) continue;
      SCOPED_TRACE(known_bugs::name_of(types) + ", block size " + std::to_string(block_size));
      expect_right(build(spec));
    }
}

TEST_P(KnownBugsTest, Line09_AllLogitsFarBelowZero) {
  for (const Types& types : kTypes) {
    SCOPED_TRACE(known_bugs::name_of(types));
    DecodeProblem problem = build(step(types, every_length(1, 34), "negative-logits"));
    poison_tails(problem, 0.0);  // keys of zero have logits of zero
    expect_right(problem);
  }
}

TEST_P(KnownBugsTest, Line10_EveryLengthAroundPagesAndAPartition) {
  std::vector<int> lengths = every_length(1, 34);
  for (int length = 509; length <= 515; ++length) lengths.push_back(length);
  for (const Types& types : kTypes) {
    SCOPED_TRACE(known_bugs::name_of(types));
    expect_right(build(step(types, lengths, "peaked")));
  }
}

TEST_P(KnownBugsTest, Line11_PartitionsGiveWhatNoneGive) {
  DecodeProblem problem = build(step(kTypes[1], {511, 512, 513, 1024, 1025}, "peaked"));
  expect_right(problem);
  if (GetParam().variant != KernelVariant::v2) return;
  const DecodeOutputs partitioned = run(problem);
  problem.variant = KernelVariant::v1;
  const DecodeOutputs whole = run(problem);
  const ReferenceAnswer answer = reference_answer(problem, stage().arithmetic);
  for (std::int64_t i = 0; i < whole.output.size(); ++i) {
    const double bound = answer.bounds[i / 64].output[i % 64];
    ASSERT_NEAR(partitioned.output.read(i), whole.output.read(i), 2 * bound) << "element " << i;
  }
}

TEST_P(KnownBugsTest, Line12_PartitionsWithoutAToken) {
  for (const known_bugs::SparseStep& sparse : known_bugs::kSparseSteps)
    for (const Types& types : {kTypes[0], kTypes[1]}) {
      SCOPED_TRACE(known_bugs::name_of(types) + ", " + sparse.what);
      CaseSpec spec = step(types, {sparse.seq_len}, "normal", {2, 1, 64, 16});
      spec.block_sparse = sparse.sparsity;
      const DecodeProblem problem = build(spec);
      expect_right(problem);
      // That the case is what it says: a partition of 512 tokens without one that takes part.
      bool some_is_empty = false;
      for (const HeadAttention& head : decode_attention(problem))
        for (int first = 0; first < sparse.seq_len; first += 512)
          some_is_empty =
              some_is_empty ||
              head.weights.segment(first, std::min(512, sparse.seq_len - first)).maxCoeff() == 0;
      EXPECT_TRUE(some_is_empty);
    }
}

TEST_P(KnownBugsTest, Line13_EmptySequences) {
  for (const std::vector<int>& lengths : known_bugs::kBatchesWithEmpty)
    for (const Types& types : kTypes) {
      SCOPED_TRACE(known_bugs::name_of(types) + ", first length " +
                   std::to_string(lengths.front()));
      CaseSpec spec = step(types, lengths, "normal");
      const bool no_token = *std::max_element(lengths.begin(), lengths.end()) == 0;
      if (no_token) spec.num_blocks = 0;  // not even a cache
      DecodeProblem problem = build(spec);
      // Rows of -1 in a table two entries wider than needed; queries that must not be used.
      problem = with_table(problem, widest_row(problem) + 2, [](int, int) { return -1; });
      for (int seq = 0; seq < problem.num_seqs(); ++seq)
        for (int dim = 0; dim < 64 && lengths[seq] == 0; ++dim)
          problem.query.write(seq * 64 + dim, kNan);
      const DecodeOutputs outputs = run(problem);
      EXPECT_EQ(compare(problem, outputs, reference_answer(problem, stage().arithmetic)).message,
                "");
      for (int seq = 0; seq < problem.num_seqs(); ++seq) {
        if (lengths[seq] > 0) continue;
        EXPECT_EQ(outputs.lse[seq], -INFINITY) << "sequence " << seq;
        for (int dim = 0; dim < 64; ++dim)
          ASSERT_EQ(outputs.output.read(seq * 64 + dim), 0) << "sequence " << seq;
      }
    }
}

/// Logits, exact in f32 in whatever order they are summed: `shift` for all, and 0 to 3 by token.
DecodeProblem with_exact_logits(DecodeProblem problem, double shift) {
  problem.scale = 1;
  problem.query.fill(0);
  for (int seq = 0; seq < problem.num_seqs(); ++seq) {
    problem.query.write(seq * 64, 256);
    problem.query.write(seq * 64 + 1, 1);
    for (int token = 0; token < problem.seq_lens[seq]; ++token) {
      const std::int64_t block = problem.block_table(seq)[token / problem.block_size];
      const int offset = token % problem.block_size;
      problem.key_cache.write(key_index(problem, block, 0, offset, 0), shift / 256);
      problem.key_cache.write(key_index(problem, block, 0, offset, 1), token * 7 % 4);
    }
  }
  return problem;
}

// Promised from stage 3 on; stages 1 and 2 state that they fail, and must.
TEST_P(KnownBugsTest, Line14_AllLogitsFarFromZero) {
  for (const Types& types : kTypes) {
    const DecodeProblem problem = build(step(types, {1, 9, 17, 33, 100}, "normal"));
    const DecodeOutputs near_zero = run(with_exact_logits(problem, 0));
    for (const double shift : {-61440.0, -10240.0, 10240.0, 61440.0}) {
      SCOPED_TRACE(known_bugs::name_of(types) + ", all logits near " + std::to_string(shift));
      const DecodeProblem shifted = with_exact_logits(problem, shift);
      const std::string difference = difference_from_reference(shifted);
      if (breaks("large-logits")) {
        EXPECT_NE(difference, "") << "stated to be broken, but right";
        continue;
      }
      EXPECT_EQ(difference, "");
      // The same weights, to the bit: what is subtracted is exact.
      const DecodeOutputs outputs = run(shifted);
      EXPECT_EQ(std::memcmp(near_zero.output.data(), outputs.output.data(),
                            outputs.output.size_in_bytes()),
                0);
    }
  }
}

TEST_P(KnownBugsTest, Line15_AnyNumberOfQueryHeadsPerKvHead) {
  for (const int group : known_bugs::kGroups)
    for (const int num_kv_heads : {1, 3}) {
      SCOPED_TRACE(std::to_string(group) + " query heads for each of " +
                   std::to_string(num_kv_heads) + " KV heads");
      CaseSpec spec = step(kTypes[1], {19}, "peaked", {group * num_kv_heads, num_kv_heads, 64, 16});
      spec.value_values.kind = "coded";
      expect_right(build(spec));
    }
}

TEST_P(KnownBugsTest, Line17_EveryElementIsWrittenInEveryHeadSize) {
  for (const Types& types : kTypes)
    for (const int head_size : kHeadSizes)
      for (const int block_size : kBlockSizes) {
        if (!can_exist(types.scalar, types.cache, head_size)) continue;
        const CaseSpec spec = step(types, {17}, "normal", {1, 1, head_size, block_size});
        if (!is_built_for(spec)) continue;
        SCOPED_TRACE(known_bugs::name_of(types) + ", head size " + std::to_string(head_size) +
                     ", block size " + std::to_string(block_size));
        const DecodeProblem problem = build(spec);
        const DecodeOutputs over_nan = run(problem, {.output_fill = 0xFF});
        EXPECT_TRUE(all_finite(over_nan.output));
        EXPECT_EQ(bit_difference(over_nan, run(problem, {.output_fill = 0x3C})), "");
      }
}

TEST_P(KnownBugsTest, Line18_SharedMemoryBeyond48KiB) {
  const std::size_t kWithoutOptIn = 48 << 10;
  // In partitions shared memory depends on their size, else on the longest sequence.
  const bool partitioned = GetParam().variant == KernelVariant::v2;
  CaseSpec spec = step(kTypes[1], {12305}, "normal");
  DecodeProblem problem = build(spec);
  if (partitioned) problem.partition_size = 12304;
  EXPECT_GT(stage().plan(problem.shape()).shared_bytes, kWithoutOptIn);
  expect_right(problem);

  DecodeShape shape = problem.shape();
  const std::size_t limit = device_->limits().shared_bytes_per_block;
  shape.max_seq_len = static_cast<int>(limit / 4 / 16 * 16 + 16);
  shape.max_num_blocks_per_seq = shape.max_seq_len / 16;
  if (partitioned) shape.partition_size = shape.max_seq_len;
  const auto message = input_error_of([&] { check_supported(stage(), shape, device_->limits()); });
  ASSERT_TRUE(message) << "accepted";
  EXPECT_TRUE(mentions(*message, std::to_string(limit))) << *message;
  EXPECT_TRUE(mentions(*message, std::to_string(shape.max_seq_len))) << *message;
}

TEST_P(KnownBugsTest, Line19_Fp8KeysAndValuesHaveScalesOfTheirOwn) {
  for (const CacheType cache : {CacheType::e4m3, CacheType::e5m2})
    for (const auto& [k_scale, v_scale] : {std::pair{0.25, 0.5}, {0.5, 0.25}, {3.0, 1.0}}) {
      CaseSpec spec = step({ScalarType::f16, cache}, {17, 40}, "normal");
      spec.k_scale = k_scale;
      spec.v_scale = v_scale;
      if (!is_built_for(spec)) {
        EXPECT_EQ(cache, CacheType::e5m2) << "no list lacks e4m3";
        continue;
      }
      SCOPED_TRACE(known_bugs::name_of({ScalarType::f16, cache}) + ", scales " +
                   std::to_string(k_scale) + " and " + std::to_string(v_scale));
      expect_right(build(spec));
    }
}

TEST_P(KnownBugsTest, Line20_AlibiIsZeroAtTheLastToken) {
  for (const Types& types : kTypes) {
    SCOPED_TRACE(known_bugs::name_of(types));
    DecodeProblem problem = build(step(types, {1, 16, 17, 35}, "normal", {3, 1, 64, 16}));
    const DecodeOutputs without = run(problem, {.logits = true});
    problem.alibi_slopes = {0.25F, 0.0625F, 0.5F};
    expect_right(problem);  // logits and LSE among others
    const DecodeOutputs with = run(problem, {.logits = true});
    for (int seq = 0; seq < problem.num_seqs(); ++seq)
      for (int head = 0; head < 3; ++head) {
        const std::size_t last = (seq * 3 + head) * 35 + problem.seq_lens[seq] - 1;
        EXPECT_EQ(with.logits[last], without.logits[last]) << "sequence " << seq;
        if (problem.seq_lens[seq] == 1) continue;
        EXPECT_LT(with.logits[last - 1], without.logits[last - 1]) << "sequence " << seq;
      }
  }
}

TEST_P(KnownBugsTest, Line23_ASequenceAloneAndInABatch) {
  for (const Types& types : kTypes) {
    SCOPED_TRACE(known_bugs::name_of(types));
    const DecodeProblem batch =
        build(step(types, {33, 0, 16, 1, 520, 5}, "peaked", {2, 1, 64, 16}));
    const DecodeOutputs together = run(batch);
    for (int seq = 0; seq < batch.num_seqs(); ++seq)
      EXPECT_EQ(bit_difference(together, seq, run(with_sequences(batch, {seq})), 0), "");
    // Other neighbours: the order turned round, without the longest, and twice the same.
    const std::vector<int> others = {5, 3, 3, 2, 1, 0};
    const DecodeOutputs apart = run(with_sequences(batch, others));
    for (std::size_t i = 0; i < others.size(); ++i)
      EXPECT_EQ(bit_difference(together, others[i], apart, static_cast<int>(i)), "");
  }
}

TEST_P(KnownBugsTest, Line24_PagesPermuted) {
  for (const Types& types : kTypes) {
    SCOPED_TRACE(known_bugs::name_of(types));
    const DecodeProblem problem = build(step(types, {100, 35, 16}, "peaked", {2, 1, 64, 16}));
    const DecodeOutputs before = run(problem);
    std::vector<std::int32_t> turned_round(problem.num_blocks());
    std::iota(turned_round.rbegin(), turned_round.rend(), 0);
    EXPECT_EQ(bit_difference(before, run(with_blocks_renamed(problem, turned_round))), "");
    for (const std::uint64_t seed : {1, 2, 3})
      EXPECT_EQ(
          bit_difference(before, run(with_blocks_renamed(
                                     problem, Random(seed).permutation(problem.num_blocks())))),
          "");
  }
}

// Query head h is 1 in dimension h and 0 elsewhere, so that its logits are the keys' element h.
TEST_P(KnownBugsTest, Line25_EveryDimensionOfAKeyIsItsOwn) {
  std::vector<Types> all(std::begin(kTypes), std::end(kTypes));
  all.push_back({ScalarType::f16, CacheType::e5m2});
  for (const Types& types : all) {
    CaseSpec spec = step(types, {17}, "normal", {64, 1, 64, 16});
    spec.scale = 1;
    if (is_fp8(types.cache)) spec.k_scale = 0.25;
    if (!is_built_for(spec)) continue;
    SCOPED_TRACE(known_bugs::name_of(types));
    DecodeProblem problem = build(spec);
    problem.query.fill(0);
    for (int head = 0; head < 64; ++head) problem.query.write(head * 64 + head, 1);
    expect_right(problem);
    const DecodeOutputs outputs = run(problem, {.logits = true});
    const GatheredKv kv = gather(problem, 0, 0);
    for (int head = 0; head < 64; ++head)
      for (int token = 0; token < 17; ++token)
        ASSERT_EQ(outputs.logits[head * 17 + token], kv.keys(token, head))
            << "token " << token << ", dimension " << head;
  }
}

INSTANTIATE_TEST_SUITE_P(Stages, KnownBugsTest, ::testing::ValuesIn(every_stage_kernel()),
                         [](const auto& tested) { return name_of(tested.param); });

// ---- what is refused before any stage runs -----------------------------------------------------
TEST(KnownBugs, Line16_HeadsThatDoNotDivideAreRefusedByBothNumbers) {
  for (int num_heads = 1; num_heads <= 16; ++num_heads)
    for (int num_kv_heads = 1; num_kv_heads <= 16; ++num_kv_heads) {
      const CaseSpec spec = step(kTypes[1], {3}, "normal", {num_heads, num_kv_heads, 64, 16});
      const bool divides = num_heads % num_kv_heads == 0;
      const auto of_case = input_error_of([&] { build_case(spec); });
      EXPECT_EQ(of_case.has_value(), !divides) << num_heads << " and " << num_kv_heads;
      if (divides) continue;
      // A problem that was built in another way, and the arguments of a stage.
      DecodeProblem problem =
          build_case(step(kTypes[1], {3}, "normal", {num_heads, 1, 64, 16})).problem;
      problem.num_kv_heads = num_kv_heads;
      paged_decode_args args{};
      alignas(16) static char memory[16];
      args.version = PAGED_DECODE_VERSION;
      args.scalar = args.cache = PAGED_F16;
      args.num_heads = num_heads;
      args.num_kv_heads = num_kv_heads;
      args.query = args.key_cache = args.value_cache = args.output = memory;
      args.block_tables = args.seq_lens = reinterpret_cast<const std::int32_t*>(memory);
      for (const auto& message : {of_case, input_error_of([&] { problem.validate(); }),
                                  input_error_of([&] { check_arguments(args); })}) {
        ASSERT_TRUE(message) << num_heads << " and " << num_kv_heads;
        EXPECT_TRUE(mentions(*message, std::to_string(num_heads)) &&
                    mentions(*message, std::to_string(num_kv_heads)))
            << *message;
      }
    }
}

TEST(KnownBugs, Line21_BlockIdsOutsideTheCacheAreNamedWithTheirPlace) {
  CaseSpec spec = step(kTypes[1], {35, 0, 16}, "normal");
  spec.table_width = 5;
  spec.num_blocks = 11;
  const DecodeProblem right = build_case(spec).problem;
  for (int seq = 0; seq < right.num_seqs(); ++seq)
    for (int entry = 0; entry < 5; ++entry)
      for (const std::int32_t id : {11, -1, 2147483647, -2147483647 - 1}) {
        SCOPED_TRACE("sequence " + std::to_string(seq) + ", entry " + std::to_string(entry));
        DecodeProblem problem = right;
        problem.block_tables[seq * 5 + entry] = id;
        const auto message = input_error_of([&] { problem.validate(); });
        const bool is_valid = entry < num_pages(right.seq_lens[seq], 16);
        ASSERT_EQ(message.has_value(), is_valid) << "padding may hold anything";
        if (!is_valid) continue;
        for (const std::string& named :
             {"sequence " + std::to_string(seq), "entry " + std::to_string(entry),
              "block " + std::to_string(id), std::string("11 blocks (0 to 10)")})
          EXPECT_NE(message->find(named), std::string::npos) << *message;
      }
}

}  // namespace
}  // namespace paged
