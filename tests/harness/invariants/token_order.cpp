#include "tests/harness/invariants/all.h"
#include "tests/harness/invariants/cases.h"
#include "tests/harness/invariants/moved_problem.h"
#include "tests/harness/invariants/worked_example.h"
#include "tests/harness/random.h"
#include "tests/harness/replaced_values.h"

#include <algorithm>
#include <numeric>

namespace paged::parts_of_token_order {
namespace {

std::vector<CaseSpec> cases(ScalarType scalar, std::uint64_t seed) {
  return {make_case(scalar, {4, 2, 64, 16}, {17, 40, 16}, "peaked", seed),
          make_case(scalar, {2, 1, 128, 16}, {100}, "normal", seed),
          make_case(scalar, {1, 1, 64, 16}, {530}, "needle", seed)};
}

std::string refuses(const DecodeProblem& problem) {
  if (!problem.alibi_slopes.empty()) return "it has ALiBi slopes, so that places matter";
  if (problem.sparsity.active()) return "it is block-sparse, so that places matter";
  const std::vector<int> seqs = all_seqs(problem);
  std::size_t owned = 0;
  for (const int seq : seqs) {
    const std::vector<bool> own = blocks_of(problem, {seq});
    owned += static_cast<std::size_t>(std::count(own.begin(), own.end(), true));
  }
  const std::vector<bool> together = blocks_of(problem, seqs);
  return owned > static_cast<std::size_t>(std::count(together.begin(), together.end(), true))
             ? "its sequences share blocks"
             : "";
}

Verdict check(KernelUnderTest& kernel, const Case& c, std::uint64_t seed) {
  Random random(seed * 5 + 3);
  return try_moved_problems(kernel, c.problem, 2, [&](int i) {
    const bool reversed = i == 0;
    std::vector<std::vector<std::int32_t>> orders;
    for (const int seq_len : c.problem.seq_lens) {
      orders.push_back(random.permutation(seq_len));
      if (reversed) std::iota(orders.back().rbegin(), orders.back().rend(), 0);
    }
    return MovedProblem{std::string("with the tokens ") +
                            (reversed ? "in reverse" : "in random order") +
                            " (the output in the old order stands for the reference)",
                        with_tokens_moved(c.problem, orders)};
  });
}

std::string example(KernelUnderTest& kernel) {
  const DecodeProblem problem = example_problem();
  std::vector<std::int32_t> reversed(19);
  std::iota(reversed.rbegin(), reversed.rend(), 0);
  const DecodeProblem moved = with_tokens_moved(problem, {reversed});
  const auto line = [&](const char* order, const DecodeProblem& p) {
    const DecodeOutputs outputs = kernel.run(p, {.logits = true});
    return text("%s: logits %.3f, %.3f, ... %.3f; output[0] %.6f\n", order, outputs.logits[0],
                outputs.logits[1], outputs.logits[18], outputs.output.read(0));
  };
  return line("as they come", problem) + line("in reverse  ", moved);
}

}  // namespace
}  // namespace paged::parts_of_token_order

namespace paged {

Invariant token_order() {
  using namespace parts_of_token_order;
  return {"token-order",
          "Without position terms, the order of the tokens doesn't matter.",
          "K'[pi(t)] = K[t], V'[pi(t)] = V[t] for t < L: |o' - o| <= bound' + bound",
          "tokens, keys and values together, in reverse and in random order",
          "addresses or weights that depend on the position: a bias nobody asked for, boundary "
          "tokens lost, a tail taken for tokens",
          "A token's place decides what it weighs. The weights that the report names belong to the "
          "moved order; look at places near page and partition edges first.",
          cases,
          refuses,
          check,
          example};
}

}  // namespace paged
