#include "tests/harness/comparison.h"
#include "tests/harness/invariants/all.h"
#include "tests/harness/invariants/cases.h"
#include "tests/harness/invariants/worked_example.h"

#include <cmath>
#include <limits>

namespace paged::parts_of_head_isolation {
namespace {

std::vector<CaseSpec> cases(ScalarType scalar, std::uint64_t seed) {
  return {make_case(scalar, {4, 4, 64, 16}, {35, 20}, "peaked", seed),
          make_case(scalar, {8, 2, 64, 8}, {35, 20}, "peaked", seed),
          make_case(scalar, {10, 2, 64, 16}, {35}, "normal", seed),
          make_case(scalar, {14, 2, 128, 32}, {35}, "normal", seed)};
}

void poison_head(DecodeProblem& problem, int kv_head) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  for (std::int64_t block = 0; block < problem.num_blocks(); ++block)
    for (int offset = 0; offset < problem.block_size; ++offset)
      for (int dim = 0; dim < problem.head_size; ++dim) {
        problem.key_cache.write(key_index(problem, block, kv_head, offset, dim), kNan);
        problem.value_cache.write(value_index(problem, block, kv_head, offset, dim), kNan);
      }
}

std::string refuses(const DecodeProblem& problem) {
  return problem.num_kv_heads > 1 ? "" : "it has only one KV head";
}

Verdict check(KernelUnderTest& kernel, const Case& c, std::uint64_t) {
  const DecodeOutputs before = kernel.run(c.problem);
  const int group = c.problem.num_heads / c.problem.num_kv_heads;
  for (int kv_head = 0; kv_head < c.problem.num_kv_heads; ++kv_head) {
    DecodeProblem poisoned = c.problem;
    for (int other = 0; other < c.problem.num_kv_heads; ++other)
      if (other != kv_head) poison_head(poisoned, other);
    const DecodeOutputs after = kernel.run(poisoned);
    for (int seq = 0; seq < c.problem.num_seqs(); ++seq)
      for (int head = kv_head * group; head < (kv_head + 1) * group; ++head) {
        const std::string difference = bit_difference(before, seq, after, seq, {head});
        // The weights of the case itself show which KV head was read.
        if (!difference.empty())
          return Verdict::fail_at(
              "with NaN in every KV head but " + std::to_string(kv_head) + ", " + difference,
              c.problem, seq, head);
      }
  }
  return {};
}

std::string example(KernelUnderTest& kernel) {
  const DecodeProblem problem = example_problem({19}, {4, 2});
  DecodeProblem poisoned = problem;
  poison_head(poisoned, 1);
  const DecodeOutputs before = kernel.run(problem);
  const DecodeOutputs after = kernel.run(poisoned);
  std::string lines = "4 query heads, 2 KV heads, NaN in KV head 1\n";
  for (int head = 0; head < 4; ++head)
    lines += text("query head %d reads KV head %d: output[0] %.5f, now %s\n", head, head / 2,
                  before.output.read(head * 64),
                  std::isnan(after.output.read(head * 64))
                      ? "NaN"
                      : text("%.5f", after.output.read(head * 64)).c_str());
  return lines;
}

}  // namespace
}  // namespace paged::parts_of_head_isolation

namespace paged {

Invariant head_isolation() {
  using namespace parts_of_head_isolation;
  return {"head-isolation",
          "Query head h reads only KV head h / (num_heads / num_kv_heads).",
          "K, V of other KV heads are arbitrary  =>  o_h is the same, bit for bit",
          "for each KV head in turn, NaN in all others; groups of 1, 4, 5 and 7 query heads",
          "a wrong map from query heads to KV heads; a wrong head stride",
          "The query head named read another KV head's page: check the map h / (num_heads / "
          "num_kv_heads), then the head stride.",
          cases,
          refuses,
          check,
          example};
}

}  // namespace paged
