// Short ways to describe the cases that invariants are tried on.
#pragma once
#include "stages/instance_lists.h"
#include "tests/harness/case_spec.h"

#include <cstdint>
#include <string>
#include <vector>

namespace paged {

/// Sizes of a generated case. Heads are written as query heads, KV heads.
struct CaseSizes {
  int num_heads = 2;
  int num_kv_heads = 1;
  int head_size = 64;
  int block_size = 16;
};

/// A case with random tables and a name that tells what it is:
/// "f16 4/2 heads d64 B16 L17,35 peaked".
CaseSpec make_case(ScalarType scalar, CaseSizes sizes, std::vector<int> seq_lens,
                   const std::string& family, std::uint64_t seed);

/// first, first + 1, ... last
std::vector<int> every_length(int first, int last);

}  // namespace paged
