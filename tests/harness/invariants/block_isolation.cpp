#include "tests/harness/comparison.h"
#include "tests/harness/invariants/all.h"
#include "tests/harness/invariants/cases.h"
#include "tests/harness/invariants/worked_example.h"

#include <cmath>
#include <limits>

namespace paged::parts_of_block_isolation {
namespace {

std::vector<CaseSpec> cases(ScalarType scalar, std::uint64_t seed) {
  std::vector<CaseSpec> specs;
  for (int block_size : kBlockSizes)
    specs.push_back(make_case(scalar, {2, 1, 64, block_size}, {35, 64, 1, 17}, "peaked", seed));
  specs.push_back(make_case(scalar, {4, 2, 128, 16}, {100, 33}, "normal", seed));
  return specs;
}

std::string refuses(const DecodeProblem& problem) {
  for (int seq = 0; seq < problem.num_seqs(); ++seq)
    for (const bool owned : blocks_of(problem, {seq}))
      if (!owned) return "";
  return "every block belongs to every sequence";
}

Verdict check(KernelUnderTest& kernel, const Case& c, std::uint64_t) {
  const DecodeOutputs before = kernel.run(c.problem);
  for (int seq = 0; seq < c.problem.num_seqs(); ++seq) {
    DecodeProblem poisoned = c.problem;
    poison_blocks(poisoned, blocks_of(poisoned, {seq}), std::numeric_limits<double>::quiet_NaN());
    const std::string difference = bit_difference(before, seq, kernel.run(poisoned), seq);
    if (!difference.empty())
      return Verdict::fail("with NaN in every block that sequence " + std::to_string(seq) +
                           " doesn't own, " + difference);
  }
  return {};
}

std::string example(KernelUnderTest& kernel) {
  const DecodeProblem problem = example_problem({19, 33});
  DecodeProblem poisoned = problem;
  poison_blocks(poisoned, blocks_of(problem, {0}), std::numeric_limits<double>::quiet_NaN());
  const DecodeOutputs after = kernel.run(poisoned);
  return "sequence 0 owns blocks " + row_text(problem, 0) + ", sequence 1 " + row_text(problem, 1) +
         "\nwith NaN in all blocks but sequence 0's: its output[0] is " + bits_of(after.output, 0) +
         ", before " + bits_of(kernel.run(problem).output, 0) +
         text("; sequence 1's is %s, as it should\n",
              std::isnan(after.output.read(64)) ? "NaN" : "a number");
}

}  // namespace
}  // namespace paged::parts_of_block_isolation

namespace paged {

Invariant block_isolation() {
  using namespace parts_of_block_isolation;
  return {"block-isolation",
          "Blocks that a sequence doesn't own don't matter to it.",
          "K, V in blocks outside table[s][0 ... ceil(L/B)-1] are arbitrary  =>  o_s is the same, "
          "bit for bit",
          "for each sequence in turn, NaN in all blocks but its own",
          "a wrong row of the table; a neighbour's pages; physical ids computed, not looked up",
          "The sequence named read a block that isn't its own: look at the row of the table "
          "that it takes, and at ids that are computed.",
          cases,
          refuses,
          check,
          example};
}

}  // namespace paged
