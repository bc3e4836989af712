#include "tests/harness/comparison.h"
#include "tests/harness/invariants/all.h"
#include "tests/harness/invariants/cases.h"
#include "tests/harness/invariants/worked_example.h"

#include <cmath>
#include <limits>

namespace paged::parts_of_tail_isolation {
namespace {

std::vector<CaseSpec> cases(ScalarType scalar, std::uint64_t seed) {
  std::vector<CaseSpec> specs;
  for (int block_size : kBlockSizes)
    specs.push_back(make_case(scalar, {2, 1, 64, block_size},
                              {1, block_size - 1, block_size + 1, 3 * block_size + 3}, "peaked",
                              seed));
  specs.push_back(make_case(scalar, {1, 1, 64, 16}, every_length(9, 15), "negative-logits", seed));
  // In fp8, tails are zeroed four elements at a time.
  CaseSpec fp8 = make_case(scalar, {1, 1, 64, 16}, every_length(1, 17), "peaked", seed);
  fp8.name += " cache e4m3";
  fp8.cache = CacheType::e4m3;
  specs.push_back(fp8);
  return specs;
}

std::string refuses(const DecodeProblem& problem) {
  const std::vector<bool> owned = blocks_of(problem, all_seqs(problem));
  const std::vector<bool> used = slots_of(problem, all_seqs(problem));
  for (std::size_t slot = 0; slot < used.size(); ++slot)
    if (owned[slot / problem.block_size] && !used[slot]) return "";
  return "its sequences leave no slot of their last pages unused";
}

Verdict check(KernelUnderTest& kernel, const Case& c, std::uint64_t) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  struct Stale {
    const char* name;
    double value;
  };
  const Stale stales[] = {{"NaN", std::numeric_limits<double>::quiet_NaN()},
                          {"+infinity", kInfinity},
                          {"-infinity", -kInfinity},
                          {"65504", 65504},
                          {"stale values of 1e4", 1e4}};
  DecodeProblem clean = c.problem;
  poison_tails(clean, 0.0);
  const DecodeOutputs before = kernel.run(clean);
  for (const Stale& stale : stales)
    for (const PoisonedCache caches : {PoisonedCache::keys, PoisonedCache::values}) {
      DecodeProblem poisoned = clean;
      poison_tails(poisoned, stale.value, caches);
      const std::string difference = bit_difference(before, kernel.run(poisoned));
      if (difference.empty()) continue;
      Verdict verdict = Verdict::fail(std::string("with ") + stale.name + " in the unused " +
                                      (caches == PoisonedCache::keys ? "key" : "value") +
                                      " slots of last pages, " + difference);
      verdict.poisoned = caches;
      return verdict;
    }
  return {};
}

std::string example(KernelUnderTest& kernel) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  DecodeProblem problem = example_problem();
  std::string lines = "19 tokens in pages of 16: slots 19 to 31 are unused\n";
  for (const double stale : {0.0, kNan}) {
    poison_tails(problem, stale);
    lines += text("with %s in them: output[0] ", stale == 0 ? "0  " : "NaN") +
             bits_of(kernel.run(problem).output, 0) + "\n";
  }
  return lines + text("a weight of 0 does not help: 0 * NaN is %s\n",
                      std::isnan(0 * kNan) ? "NaN" : "a number");
}

}  // namespace
}  // namespace paged::parts_of_tail_isolation

namespace paged {

Invariant tail_isolation() {
  using namespace parts_of_tail_isolation;
  return {"tail-isolation",
          "The unused slots of a sequence's last page don't matter.",
          "K, V at tokens L ... ceil(L/B)*B - 1 are arbitrary  =>  o is the same, bit for bit",
          "NaN, +infinity, -infinity, 65504 and 1e4, in keys and in values, each alone",
          "a missing tail mask; 0 * NaN in the weighted sum; masked logits of 0 in the softmax",
          "Keys alone: masked logits enter the maximum or the sum. Values alone: the weighted "
          "sum runs over the whole page, and 0 * NaN is NaN.",
          cases,
          refuses,
          check,
          example};
}

}  // namespace paged
