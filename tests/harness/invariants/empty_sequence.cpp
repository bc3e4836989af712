#include "tests/harness/comparison.h"
#include "tests/harness/coordinates.h"
#include "tests/harness/invariants/all.h"
#include "tests/harness/invariants/cases.h"
#include "tests/harness/invariants/worked_example.h"
#include "tests/harness/rearranged.h"

#include <cmath>

namespace paged::parts_of_empty_sequence {
namespace {

std::vector<CaseSpec> cases(ScalarType scalar, std::uint64_t seed) {
  CaseSpec alone = make_case(scalar, {2, 1, 64, 16}, {0}, "normal", seed);
  alone.table_width = 2;
  return {alone, make_case(scalar, {2, 1, 64, 16}, {33, 0, 0}, "normal", seed),
          make_case(scalar, {4, 2, 128, 8}, {0, 9, 0}, "normal", seed)};
}

Verdict failure_with(const std::string& message, double got) {
  Verdict verdict = Verdict::fail(message);
  verdict.wrong_number = WrongNumber{got};
  return verdict;
}

Verdict verdict_on_empty(const DecodeOutputs& outputs, int seq) {
  const std::int64_t num_heads = outputs.output.shape()[1];
  const std::int64_t row = num_heads * outputs.output.shape()[2];
  const std::size_t width = size_in_bytes(outputs.output.type());
  const std::string where = "sequence " + std::to_string(seq) + " has no token, but ";
  for (std::size_t byte = seq * row * width; byte < (seq + 1) * row * width; ++byte)
    if (outputs.output.data()[byte] != std::byte{0}) {
      const double got = outputs.output.read(static_cast<std::int64_t>(byte / width));
      return failure_with(where + "element " + std::to_string(byte / width - seq * row) +
                              " of its output is " + number(got) + ", not +0",
                          got);
    }
  for (std::int64_t head = 0; head < num_heads && !outputs.lse.empty(); ++head)
    if (const double got = outputs.lse[seq * num_heads + head]; got != -INFINITY)
      return failure_with(where + "its LSE is " + number(got) + ", not -infinity", got);
  return {};
}

std::string refuses(const DecodeProblem& problem) {
  for (int seq_len : problem.seq_lens)
    if (seq_len == 0) return "";
  return "none of its sequences is empty";
}

Verdict check(KernelUnderTest& kernel, const Case& c, std::uint64_t) {
  // Rows of empty sequences hold nothing but -1.
  const DecodeProblem problem =
      with_table(c.problem, c.problem.max_num_blocks_per_seq, [](int, int) { return -1; });
  const ReferenceAnswer answer = reference_answer(problem, kernel.stage().arithmetic);
  const DecodeOutputs outputs = kernel.run(problem);
  for (int seq = 0; seq < problem.num_seqs(); ++seq) {
    if (problem.seq_lens[seq] > 0) continue;
    if (Verdict verdict = verdict_on_empty(outputs, seq); !verdict.held) return verdict;
  }
  const Comparison comparison = compare(problem, outputs, answer);
  return Verdict::of(comparison, problem);
}

std::string example(KernelUnderTest& kernel) {
  const DecodeProblem problem = example_problem({19, 0});
  const DecodeOutputs outputs = kernel.run(problem);
  return text("sequence 0, 19 tokens: output[0] %.5f, LSE %.4f\n", outputs.output.read(0),
              outputs.lse[0]) +
         text("sequence 1, no token:  output[0] %g, LSE %g; before the run it held NaN\n",
              outputs.output.read(64), outputs.lse[1]);
}

}  // namespace
}  // namespace paged::parts_of_empty_sequence

namespace paged {

Invariant empty_sequence() {
  using namespace parts_of_empty_sequence;
  return {"empty-sequence",
          "A sequence without tokens gets zeros, and nothing is read for it.",
          "L = 0: o = +0, LSE = -infinity",
          "alone and beside others, with table rows of -1",
          "division by a sum of zero; NaN; output left from before",
          "NaN is a division by a sum of 0; a number is output left from before, or a read of a "
          "page that isn't there.",
          cases,
          refuses,
          check,
          example};
}

}  // namespace paged
