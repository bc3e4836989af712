#include "tests/harness/comparison.h"
#include "tests/harness/invariants/all.h"
#include "tests/harness/invariants/cases.h"
#include "tests/harness/invariants/worked_example.h"
#include "tests/harness/rearranged.h"

#include <algorithm>
#include <numeric>

namespace paged::parts_of_batch_independence {
namespace {

std::vector<CaseSpec> cases(ScalarType scalar, std::uint64_t seed) {
  // Neighbours that are far longer, that need more partitions, and that are empty.
  return {make_case(scalar, {2, 1, 64, 16}, {17, 700, 0, 1, 33}, "peaked", seed),
          make_case(scalar, {2, 1, 64, 16}, {600, 1100}, "normal", seed),
          make_case(scalar, {4, 2, 128, 16}, {100, 3, 64}, "normal", seed),
          make_case(scalar, {2, 2, 64, 16}, {40, 513}, "negative-logits", seed)};
}

std::string refuses(const DecodeProblem& problem) {
  return problem.num_seqs() < 2 ? "one sequence is alone already" : "";
}

/// "" or which sequence of `batch` differs between `problem`'s outputs and those of the batch.
std::string difference_in(KernelUnderTest& kernel, const DecodeProblem& problem,
                          const DecodeOutputs& outputs, const std::vector<int>& batch,
                          const std::string& how) {
  const DecodeOutputs others = kernel.run(with_sequences(problem, batch));
  for (std::size_t row = 0; row < batch.size(); ++row) {
    const std::string difference =
        bit_difference(outputs, batch[row], others, static_cast<int>(row));
    if (!difference.empty())
      return "sequence " + std::to_string(batch[row]) + " " + how + ": " + difference;
  }
  return "";
}

Verdict check(KernelUnderTest& kernel, const Case& c, std::uint64_t) {
  std::vector<KernelVariant> variants = {KernelVariant::v1};
  if (kernel.stage().arithmetic.partitions) variants.push_back(KernelVariant::v2);
  for (const KernelVariant variant : variants) {
    DecodeProblem problem = c.problem;
    problem.variant = variant;
    const DecodeOutputs outputs = kernel.run(problem);
    std::vector<int> reversed(problem.num_seqs());
    std::iota(reversed.rbegin(), reversed.rend(), 0);
    std::string difference =
        difference_in(kernel, problem, outputs, reversed, "in the batch reversed");
    for (int seq = 0; seq < problem.num_seqs() && difference.empty(); ++seq) {
      difference = difference_in(kernel, problem, outputs, {seq}, "alone");
      if (difference.empty())
        difference = difference_in(kernel, problem, outputs, {seq, seq}, "beside itself");
    }
    if (!difference.empty()) return Verdict::fail(difference);
  }
  return {};
}

std::string example(KernelUnderTest& kernel) {
  const DecodeProblem problem = example_problem({19, 100});
  std::string lines;
  for (const std::vector<int>& batch : {std::vector<int>{0}, {0, 1}, {1, 0}}) {
    const DecodeOutputs outputs = kernel.run(with_sequences(problem, batch));
    const auto row = std::find(batch.begin(), batch.end(), 0) - batch.begin();
    lines += text("sequence 0 at row %d of %zu: output[0] ", static_cast<int>(row), batch.size()) +
             bits_of(outputs.output, row * 64) + "\n";
  }
  return lines;
}

}  // namespace
}  // namespace paged::parts_of_batch_independence

namespace paged {

Invariant batch_independence() {
  using namespace parts_of_batch_independence;
  return {
      "batch-independence",
      "A sequence alone gives the same bits as in any batch, at any row, beside any lengths.",
      "o_s and LSE_s depend on q_s, seq_len_s and the pages of s only",
      "each sequence alone, beside itself, and the batch in reversed order; V1 and V2 each (the "
      "automatic choice between them looks at the whole batch and promises no bits)",
      "an order of adding that depends on the longest sequence or the number of sequences; a "
      "neighbour's row; a workspace indexed by the wrong stride",
      "The neighbours named changed the order of adding, or a row: look for max_seq_len, "
      "num_seqs and grid sizes in what a block computes.",
      cases,
      refuses,
      check,
      example};
}

}  // namespace paged
