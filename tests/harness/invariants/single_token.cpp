#include "tests/harness/comparison.h"
#include "tests/harness/invariants/all.h"
#include "tests/harness/invariants/cases.h"
#include "tests/harness/invariants/worked_example.h"

#include <algorithm>
#include <cmath>

namespace paged::parts_of_single_token {
namespace {

std::vector<CaseSpec> cases(ScalarType scalar, std::uint64_t seed) {
  std::vector<CaseSpec> specs;
  for (int block_size : kBlockSizes)
    specs.push_back(make_case(scalar, {4, 2, 64, block_size}, {1, 1, 1}, "normal", seed));
  specs.push_back(make_case(scalar, {8, 2, 128, 16}, {1}, "coded", seed));
  return specs;
}

/// The closed form v_0 / (1 + 1e-6), without the reference.
std::string first_difference(const DecodeProblem& problem, const DecodeOutputs& outputs,
                             const ReferenceAnswer& answer, Verdict& verdict) {
  for (int seq = 0; seq < problem.num_seqs(); ++seq)
    for (int head = 0; head < problem.num_heads; ++head)
      for (int dim = 0; dim < problem.head_size; ++dim) {
        const int i = seq * problem.num_heads + head;
        const int kv_head = head / (problem.num_heads / problem.num_kv_heads);
        const double value =
            problem.v_scale * problem.value_cache.read(value_index(
                                  problem, problem.block_table(seq)[0], kv_head, 0, dim));
        const double expected = value / (1 + kDenominatorGuard);
        const double got =
            outputs.output.read(static_cast<std::int64_t>(i) * problem.head_size + dim);
        const double error = std::abs(got - expected);
        verdict.max_abs_error = std::max(verdict.max_abs_error, error);
        const bool both_nan = std::isnan(got) && std::isnan(expected);
        if (!both_nan && !(error <= answer.bounds[i].output[dim])) {
          verdict.wrong_number = WrongNumber{got};
          return "sequence " + std::to_string(seq) + ", head " + std::to_string(head) +
                 ", dimension " + std::to_string(dim) + " is " +
                 (std::isnan(got) ? "NaN" : std::to_string(got)) +
                 "; the value of its only token is " + std::to_string(value);
        }
        if (error > 0)
          verdict.bound_used = std::max(verdict.bound_used, error / answer.bounds[i].output[dim]);
      }
  return "";
}

std::string refuses(const DecodeProblem& problem) {
  for (int seq_len : problem.seq_lens)
    if (seq_len != 1)
      return "its sequences must all have 1 token, and one has " + std::to_string(seq_len);
  return "";
}

Verdict check(KernelUnderTest& kernel, const Case& c, std::uint64_t) {
  const ReferenceAnswer answer = reference_answer(c.problem, kernel.stage().arithmetic);
  Verdict verdict;
  verdict.message = first_difference(c.problem, kernel.run(c.problem), answer, verdict);
  verdict.held = verdict.message.empty();
  return verdict;
}

std::string example(KernelUnderTest& kernel) {
  const DecodeProblem problem = example_problem({1});
  const double value =
      problem.value_cache.read(value_index(problem, problem.block_table(0)[0], 0, 0, 0));
  return text("value of the only token, dimension 0: %.6f\n", value) +
         text("divided by 1 + 1e-6: %.9f; output: %.6f\n", value / (1 + kDenominatorGuard),
              kernel.run(problem).output.read(0));
}

}  // namespace
}  // namespace paged::parts_of_single_token

namespace paged {

Invariant single_token() {
  using namespace parts_of_single_token;
  return {"single-token",
          "With one token, the output is that token's value.",
          "L = 1: o = v_0 / (1 + 1e-6)",
          "batches of one-token sequences; the expected value is the closed form",
          "edges of loops; reading offset 1 for 0; a wrong KV head",
          "The output should be the token's value: another token's or head's value tells what "
          "was read instead, 0 or NaN that the loop ran over nothing.",
          cases,
          refuses,
          check,
          example};
}

}  // namespace paged
