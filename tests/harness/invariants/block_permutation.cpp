#include "tests/harness/comparison.h"
#include "tests/harness/invariants/all.h"
#include "tests/harness/invariants/cases.h"
#include "tests/harness/invariants/worked_example.h"
#include "tests/harness/random.h"
#include "tests/harness/rearranged.h"

#include <algorithm>

namespace paged::parts_of_block_permutation {
namespace {

std::vector<CaseSpec> cases(ScalarType scalar, std::uint64_t seed) {
  std::vector<CaseSpec> specs;
  for (int block_size : kBlockSizes)
    specs.push_back(make_case(scalar, {4, 2, 64, block_size}, {70, 17, 33}, "peaked", seed));
  specs.push_back(make_case(scalar, {2, 2, 128, 16}, {150}, "coded", seed));
  return specs;
}

/// Reversed, then three random orders.
std::vector<std::vector<std::int32_t>> orders(std::int64_t num_blocks, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::int32_t> reversed(num_blocks);
  for (std::int64_t block = 0; block < num_blocks; ++block)
    reversed[block] = static_cast<std::int32_t>(num_blocks - 1 - block);
  return {reversed, random.permutation(num_blocks), random.permutation(num_blocks),
          random.permutation(num_blocks)};
}

Verdict check(KernelUnderTest& kernel, const Case& c, std::uint64_t seed) {
  const DecodeOutputs before = kernel.run(c.problem);
  int number = 0;
  for (const auto& order : orders(c.problem.num_blocks(), seed)) {
    const DecodeOutputs after = kernel.run(with_blocks_renamed(c.problem, order));
    const std::string difference = bit_difference(before, after);
    if (!difference.empty())
      return Verdict::fail(
          "after " +
          (number == 0 ? "reversing the blocks" : "random renaming " + std::to_string(number)) +
          ", " + difference);
    ++number;
  }
  return {};
}

std::string example(KernelUnderTest& kernel) {
  const DecodeProblem problem = example_problem();
  const DecodeProblem renamed =
      with_blocks_renamed(problem, orders(problem.num_blocks(), 1).front());
  std::string lines;
  for (const DecodeProblem* p : {&problem, &renamed})
    lines += "row of the table " + row_text(*p, 0) + ": output[0] " +
             bits_of(kernel.run(*p).output, 0) + "\n";
  return lines;
}

}  // namespace
}  // namespace paged::parts_of_block_permutation

namespace paged {

Invariant block_permutation() {
  using namespace parts_of_block_permutation;
  return {"block-permutation",
          "Renaming the physical blocks, and the table with them, changes nothing.",
          "K'[pi(b)] = K[b], V'[pi(b)] = V[b], table' = pi(table)  =>  o' = o, bit for bit",
          "reversed and three random renamings of all blocks",
          "physical and logical indices mixed up; an order of tokens taken from addresses",
          "A difference of any size is a defect: somewhere a physical block is used where the "
          "logical one is meant, or the other way round, or addresses decide the order of "
          "adding.",
          cases,
          {},
          check,
          example};
}

}  // namespace paged
