#include "tests/harness/comparison.h"
#include "tests/harness/invariants/all.h"
#include "tests/harness/invariants/cases.h"
#include "tests/harness/invariants/worked_example.h"
#include "tests/harness/rearranged.h"

#include <limits>

namespace paged::parts_of_table_padding {
namespace {

std::vector<CaseSpec> cases(ScalarType scalar, std::uint64_t seed) {
  std::vector<CaseSpec> specs;
  // Lengths of exactly one and two pages: where L/B+1 pages would be one too many.
  for (int block_size : kBlockSizes)
    specs.push_back(make_case(scalar, {2, 1, 64, block_size},
                              {block_size, 2 * block_size, 2 * block_size + 1, 1}, "peaked", seed));
  return specs;
}

Verdict check(KernelUnderTest& kernel, const Case& c, std::uint64_t) {
  const DecodeProblem& problem = c.problem;
  const int width = widest_row(problem);
  // Another sequence's first block: a valid id that belongs to somebody else.
  const auto foreign = [&](int seq, int) {
    for (int other = 0; other < problem.num_seqs(); ++other)
      if (other != seq && problem.seq_lens[other] > 0) return problem.block_table(other)[0];
    return static_cast<std::int32_t>(problem.num_blocks() - 1);
  };
  struct Variant {
    std::string what;
    int width;
    std::function<std::int32_t(int, int)> padding;
  };
  const Variant variants[] = {
      {"-1", width, [](int, int) { return -1; }},
      {"INT_MAX", width, [](int, int) { return std::numeric_limits<std::int32_t>::max(); }},
      {"another sequence's block", width, foreign},
      {"-1 in rows one entry wider", width + 1, [](int, int) { return -1; }},
      {"another sequence's block in rows seven entries wider", width + 7, foreign},
      {"the first id past the cache, in rows seven entries wider", width + 7,
       [&](int, int) { return static_cast<std::int32_t>(problem.num_blocks()); }}};
  const DecodeOutputs before = kernel.run(problem);
  for (const Variant& variant : variants) {
    const DecodeOutputs after = kernel.run(with_table(problem, variant.width, variant.padding));
    const std::string difference = bit_difference(before, after);
    if (!difference.empty())
      return Verdict::fail("with table padding of " + variant.what + ", " + difference);
  }
  return {};
}

std::string example(KernelUnderTest& kernel) {
  const DecodeProblem problem = example_problem();
  std::string lines;
  for (const std::int32_t padding : {-1, std::numeric_limits<std::int32_t>::max()}) {
    const DecodeProblem padded = with_table(problem, 4, [&](int, int) { return padding; });
    lines += "row [" + std::to_string(padded.block_table(0)[0]) + ", " +
             std::to_string(padded.block_table(0)[1]) + ", " + std::to_string(padding) + ", " +
             std::to_string(padding) + "] for 19 tokens in pages of 16: output[0] " +
             bits_of(kernel.run(padded).output, 0) + "\n";
  }
  return lines;
}

}  // namespace
}  // namespace paged::parts_of_table_padding

namespace paged {

Invariant table_padding() {
  using namespace parts_of_table_padding;
  return {"table-padding",
          "Block-table entries past a sequence's last page are never read.",
          "entries >= ceil(L / B) of a row are arbitrary  =>  o is the same, bit for bit",
          "padding of -1, INT_MAX, other sequences' blocks, ids past the cache; wider rows",
          "reading whole rows; an off-by-one count of pages",
          "If -1 or INT_MAX makes it fail, an entry behind the last page is followed; if only "
          "wider rows do, the row's width is taken from elsewhere than max_num_blocks_per_seq.",
          cases,
          {},
          check,
          example};
}

}  // namespace paged
