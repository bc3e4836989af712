// The inputs of known_bugs_test.cpp: small decode steps that broke real kernels, and their kin.
#pragma once
#include "stages/instance_lists.h"
#include "tests/harness/case_spec.h"
#include "tests/harness/invariants/cases.h"

#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace paged::known_bugs {

struct Types {
  ScalarType scalar;
  CacheType cache;
};

/// Types that every build has kernels for.
inline constexpr Types kTypes[] = {{ScalarType::f32, CacheType::f32},
                                   {ScalarType::f16, CacheType::f16},
                                   {ScalarType::bf16, CacheType::bf16},
                                   {ScalarType::f16, CacheType::e4m3}};

inline std::string name_of(const Types& types) {
  return std::string(paged::name_of(types.scalar)) + " with cache " +
         std::string(paged::name_of(types.cache));
}

/// One KV head of 64 dimensions in blocks of 16 tokens, unless the sizes say otherwise.
inline CaseSpec step(const Types& types, std::vector<int> seq_lens, const std::string& family,
                     CaseSizes sizes = {1, 1, 64, 16}) {
  CaseSpec spec = make_case(types.scalar, sizes, std::move(seq_lens), family, 7);
  spec.cache = types.cache;
  return spec;
}

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// ---- stale content past a sequence's end: lines 1 to 4 -----------------------------------------
inline const std::vector<double> kNotFinite = {kNan, kInfinity, -kInfinity};
inline const std::vector<double> kStaleNumbers = {1e4, -65504};

/// Every number of unused slots in the first page, and B-1 and B-2 of them in the second.
inline std::vector<int> lengths_of_a_page(int block_size) {
  return every_length(1, block_size + 2);
}

// ---- block sparsity that leaves a whole partition of 512 tokens without a token: line 12 -------
struct SparseStep {
  const char* what;
  int seq_len;
  BlockSparsity sparsity;  // local_blocks, vert_stride, block_size, head_sliding_step
};
inline constexpr SparseStep kSparseSteps[] = {
    {"only sparse block 15, of partition 1, and the last one", 1100, {1, 16, 64, 0}},
    {"head 0 looks at sparse block 16 of partition 2, head 1 at block 1 of partition 0",
     1100,
     {0, 17, 64, 15}},
    {"only the last sparse block", 1100, {1, 100, 64, 0}},
    {"no token at all", 40, {0, 16, 64, 0}},
    {"no token at all in three partitions", 1100, {0, 100, 64, 0}},
};

// ---- batches with empty sequences: line 13 -----------------------------------------------------
inline const std::vector<std::vector<int>> kBatchesWithEmpty = {
    {0}, {0, 0, 0}, {33, 0, 0}, {0, 33, 0}, {0, 0, 33}, {16, 0, 513}};

// ---- query heads per KV head: line 15 ----------------------------------------------------------
inline constexpr int kGroups[] = {1, 2, 3, 4, 5, 6, 7, 8, 12};

}  // namespace paged::known_bugs
