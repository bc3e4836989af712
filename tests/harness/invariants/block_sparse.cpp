#include "reference/cache_layout.h"
#include "tests/harness/coordinates.h"
#include "tests/harness/invariants/all.h"
#include "tests/harness/invariants/cases.h"
#include "tests/harness/invariants/worked_example.h"

#include <cmath>
#include <limits>

namespace paged::parts_of_block_sparse {
namespace {

/// Every value of every parameter, and heads and lengths beside them.
std::vector<CaseSpec> cases(ScalarType scalar, std::uint64_t seed) {
  struct Parameters {
    BlockSparsity sparsity;
    CaseSizes sizes;
    std::vector<int> seq_lens;
  };
  const Parameters all[] = {{{1, 2, 16, 0, 0}, {2, 1, 64, 16}, {1, 16, 17, 100}},
                            {{0, 3, 32, 1, 0}, {4, 2, 64, 16}, {130, 33}},
                            {{2, 3, 16, -1, 1}, {4, 2, 64, 16}, {130}},
                            {{1, 4, 64, 2, 1}, {4, 2, 128, 16}, {300}},
                            {{16, 8, 64, 0, 0}, {2, 1, 64, 16}, {1200}},
                            // Small pages: a page, its tokens and a sparse block are far apart.
                            {{1, 3, 16, 1, 0}, {4, 2, 64, 8}, {250, 33}}};
  std::vector<CaseSpec> specs;
  for (const Parameters& parameters : all) {
    specs.push_back(make_case(scalar, parameters.sizes, parameters.seq_lens, "normal", seed));
    specs.back().block_sparse = parameters.sparsity;
    const BlockSparsity& s = parameters.sparsity;
    specs.back().name += " sparse " + std::to_string(s.local_blocks) + "/" +
                         std::to_string(s.vert_stride) + "/" + std::to_string(s.block_size) + "/" +
                         std::to_string(s.head_sliding_step) + "/" +
                         std::to_string(s.tensor_parallel_rank);
  }
  return specs;
}

std::string refuses(const DecodeProblem& problem) {
  return problem.sparsity.active() ? "" : "it is not block-sparse";
}

/// NaN in every page that no query head of its KV head chooses: it must weigh nothing at all.
DecodeProblem with_left_out_poisoned(const DecodeProblem& problem) {
  DecodeProblem poisoned = problem;
  const int group = problem.num_heads / problem.num_kv_heads;
  for (int seq = 0; seq < problem.num_seqs(); ++seq)
    for (int page = 0; page < num_pages(problem.seq_lens[seq], problem.block_size); ++page)
      for (int kv_head = 0; kv_head < problem.num_kv_heads; ++kv_head) {
        bool chosen = false;
        for (int head = kv_head * group; head < (kv_head + 1) * group; ++head)
          chosen = chosen || problem.sparsity.takes_part(
                                 page, problem.seq_lens[seq], problem.block_size,
                                 problem.sparsity.stripe_offset(head, problem.num_heads, kv_head,
                                                                problem.num_kv_heads));
        const std::int64_t block = problem.block_table(seq)[page];
        for (int offset = 0; offset < problem.block_size && !chosen; ++offset)
          for (int dim = 0; dim < problem.head_size; ++dim) {
            constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
            poisoned.key_cache.write(key_index(problem, block, kv_head, offset, dim), kNan);
            poisoned.value_cache.write(value_index(problem, block, kv_head, offset, dim), kNan);
          }
      }
  return poisoned;
}

Verdict check(KernelUnderTest& kernel, const Case& c, std::uint64_t) {
  const DecodeOutputs outputs = kernel.run(c.problem, RunOptions::with_intermediates());
  const ReferenceAnswer answer = reference_answer(c.problem, kernel.stage().arithmetic);
  Verdict verdict = Verdict::of(compare(c.problem, outputs, answer), c.problem);
  if (!verdict.held) return verdict;
  const DecodeProblem poisoned = with_left_out_poisoned(c.problem);
  const Verdict with_nan = Verdict::of(compare(c.problem, kernel.run(poisoned), answer), c.problem);
  if (!with_nan.held) {
    verdict = with_nan;
    verdict.message = "with NaN in the pages that no head chooses, " + verdict.message;
  }
  return verdict;
}

std::string example(KernelUnderTest& kernel) {
  DecodeProblem problem = example_problem({130}, {2, 1}, "normal");
  problem.sparsity = {1, 3, 16, 1, 0};
  const DecodeOutputs outputs = kernel.run(problem, {.logits = true});
  std::string lines =
      "130 tokens, sparse blocks of 16; the last one and every third one take part, "
      "shifted by one from head to head\n";
  for (int head = 0; head < 2; ++head) {
    std::string pages;
    for (int page = 0; page < 9; ++page)
      if (outputs.logits[head * 130 + page * 16] != -INFINITY) pages += text(" %d", page);
    lines += text("head %d: pages%s of 0 to 8 have logits, output[0] %.5f\n", head, pages.c_str(),
                  outputs.output.read(head * 64));
  }
  return lines;
}

}  // namespace
}  // namespace paged::parts_of_block_sparse

namespace paged {

Invariant block_sparse() {
  using namespace parts_of_block_sparse;
  return {"block-sparse",
          "Only the blocks that block-sparse attention chooses weigh.",
          "o_h = attention over the pages with (sparse_block + offset_h) mod vert_stride = 0 or "
          "among the last local_blocks; others have logit -infinity and may hold NaN",
          "all parameters of vLLM's block-sparse attention, pages nobody chooses full of NaN",
          "a mask on the wrong index: the physical block, the KV head's stripe, the cache's block "
          "for the sparse one; local blocks counted from the wrong end",
          "Compare the logits with -infinity: which pages a head has, and which it should have. A "
          "NaN means that a page left out was weighed with 0, not skipped.",
          cases,
          refuses,
          check,
          example,
          /*needs_watching=*/false,
          &StageFeatures::block_sparse};
}

}  // namespace paged
