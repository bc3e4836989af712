#include "tests/harness/comparison.h"
#include "tests/harness/invariants/all.h"
#include "tests/harness/invariants/cases.h"
#include "tests/harness/invariants/worked_example.h"

#include <cmath>

namespace paged::parts_of_reference {
namespace {

std::vector<CaseSpec> cases(ScalarType scalar, std::uint64_t seed) {
  std::vector<CaseSpec> specs;
  const auto add = [&](CaseSizes sizes, std::vector<int> lengths, const std::string& family) {
    specs.push_back(make_case(scalar, sizes, std::move(lengths), family, seed + specs.size()));
    return &specs.back();
  };
  // Every length around one and two pages, in one batch each.
  for (int block_size : kBlockSizes) {
    add({1, 1, 64, block_size}, every_length(1, 2 * block_size + 2), "normal");
    add({2, 1, 64, block_size}, every_length(1, 2 * block_size + 2), "needle");
  }
  // Around a partition of 512 tokens, and twice it.
  add({1, 1, 32, 16}, every_length(509, 515), "peaked");
  add({1, 1, 32, 32}, {1023, 1024, 1025, 1100}, "peaked");
  // Every head size, with groups of 1, 2, 4, 5, 7 and all query heads.
  add({2, 2, 32, 16}, {35, 16}, "peaked");
  add({8, 2, 80, 16}, {35, 100}, "peaked");
  add({4, 2, 96, 8}, {41}, "normal");
  add({5, 1, 112, 32}, {77}, "peaked");
  add({7, 1, 120, 16}, {50}, "normal");
  add({8, 2, 128, 16}, {35, 1, 64}, "peaked");
  add({4, 4, 192, 8}, {30}, "peaked");
  add({4, 1, 256, 16}, {40}, "normal");
  // Values that name their place; logits far below zero; small values under flat attention.
  add({4, 2, 64, 16}, {33, 70, 5}, "coded");
  add({2, 1, 64, 16}, {9, 17, 30}, "negative-logits");
  add({2, 1, 64, 16}, {200}, "small");
  // ALiBi with a head count that is no power of two, block-sparse, and both fp8 caches with
  // different scales.
  CaseSpec* alibi = add({6, 3, 64, 16}, {45, 18}, "normal");
  alibi->name += " alibi";
  alibi->alibi_slopes = {0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125};
  CaseSpec* sparse = add({4, 2, 64, 8}, {250, 90}, "normal");
  sparse->name += " block-sparse";
  sparse->block_sparse = {2, 3, 16, 1, 0};
  for (CacheType cache : {CacheType::e4m3, CacheType::e5m2}) {
    CaseSpec* fp8 = add({4, 2, 64, 16}, {40, 17}, "peaked");
    fp8->name += " cache " + std::string(name_of(cache));
    fp8->cache = cache;
    fp8->k_scale = 0.25;
    fp8->v_scale = 0.7;  // values "added twice" have a factor of 2, and a scale left out has not
  }
  return specs;
}

Verdict check(KernelUnderTest& kernel, const Case& c, std::uint64_t) {
  const ReferenceAnswer answer = reference_answer(c.problem, kernel.stage().arithmetic);
  const Comparison comparison =
      compare(c.problem, kernel.run(c.problem, RunOptions::with_intermediates()), answer);
  return Verdict::of(comparison, c.problem);
}

std::string example(KernelUnderTest& kernel) {
  const DecodeProblem problem = example_problem();
  const ReferenceAnswer answer = reference_answer(problem, kernel.stage().arithmetic);
  const DecodeOutputs outputs = kernel.run(problem);
  std::string lines;
  for (const int dim : {0, 1}) {
    const double got = outputs.output.read(dim);
    const double exact = answer.attention[0].output[dim];
    lines += text("dimension %d: output %.7f, reference %.7f, off by %.2g; the bound is %.2g\n",
                  dim, got, exact, std::abs(got - exact), answer.bounds[0].output[dim]);
  }
  return lines + text("LSE %.7f, reference %.7f; the bound is %.2g\n", outputs.lse[0],
                      answer.attention[0].lse, answer.bounds[0].lse);
}

}  // namespace
}  // namespace paged::parts_of_reference

namespace paged {

Invariant reference() {
  using namespace parts_of_reference;
  return {
      "reference",
      "The output equals the double-precision reference within the bound derived for it.",
      "|o - o_ref| <= bound(data, declared arithmetic), for every element; likewise LSE, "
      "maximum and sum of the softmax, logits, and what partitions leave",
      "all head sizes, page sizes and head groupings; every length from 1 to 2B+2; around 512 "
      "and 1024; several input families",
      "everything coarse: a wrong page, head, scale, mask or sum",
      "A wrong element has its place, both values and how many times its bound it is off: the "
      "first, but of a sequence of 16 tokens or more if one is wrong. Then the recovered weights "
      "name the token that is most wrong, and the likely cause if one mistake explains them "
      "all.",
      cases,
      {},
      check,
      example};
}

}  // namespace paged
