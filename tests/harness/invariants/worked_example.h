// What the worked examples of invariants are made of.
#pragma once
#include "tests/harness/case_builder.h"
#include "tests/harness/invariants/cases.h"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace paged {

/// Text as printf makes it, at most 400 characters.
template <typename... Values>
std::string text(const char* format, Values... values) {
  char buffer[401];
  std::snprintf(buffer, sizeof buffer, format, values...);
  return buffer;
}

/// Sequences small enough to be looked at: by default one of 19 tokens, in two pages of 16.
inline DecodeProblem example_problem(std::vector<int> seq_lens = {19}, CaseSizes sizes = {1, 1},
                                     const std::string& family = "peaked") {
  return build_case(make_case(ScalarType::f16, sizes, std::move(seq_lens), family, 7)).problem;
}

/// The bits of an f16, as "0x3C00".
inline std::string bits_of(const Tensor& tensor, std::int64_t i) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, tensor.data() + i * 2, 2);
  return text("0x%04X", bits);
}

/// "[3, 1]": the valid entries of a row.
inline std::string row_text(const DecodeProblem& problem, int seq) {
  std::string row;
  for (int page = 0; page * problem.block_size < problem.seq_lens[seq]; ++page)
    row += (page == 0 ? "" : ", ") + std::to_string(problem.block_table(seq)[page]);
  return "[" + row + "]";
}

}  // namespace paged
