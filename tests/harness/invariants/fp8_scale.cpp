#include "reference/cache_layout.h"
#include "tests/harness/comparison.h"
#include "tests/harness/invariants/all.h"
#include "tests/harness/invariants/cases.h"
#include "tests/harness/invariants/worked_example.h"
#include "tests/harness/random.h"
#include "tests/harness/replaced_values.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace paged::parts_of_fp8_scale {
namespace {

std::vector<CaseSpec> cases(ScalarType scalar, std::uint64_t seed) {
  std::vector<CaseSpec> specs;
  for (const CacheType cache : {CacheType::e4m3, CacheType::e5m2})
    for (const int head_size : {64, 128}) {
      specs.push_back(make_case(scalar, {4, 2, head_size, 16}, {40, 17}, "normal", seed));
      specs.back().name += " cache " + std::string(name_of(cache));
      specs.back().cache = cache;
      specs.back().k_scale = 0.25;
      specs.back().v_scale = 0.5;
    }
  return specs;
}

std::string refuses(const DecodeProblem& problem) {
  return is_fp8(problem.cache()) ? "" : "its cache is not fp8";
}

/// Stored numbers 1/4 ... 3.5, of which 4 times and 1/4 are exact too.
DecodeProblem with_middling_numbers(const DecodeProblem& problem, std::uint64_t seed) {
  Random random(seed * 3 + 29);
  const auto draw = [&](auto...) {
    const double mantissa = 1 + 0.25 * static_cast<double>(random.below(4));
    const double magnitude = std::ldexp(mantissa, static_cast<int>(random.below(4)) - 2);
    return random.below(2) == 0 ? magnitude : -magnitude;
  };
  return with_keys(with_values(problem, draw), draw);
}

/// Stored keys times `keys`, stored values times `values`, scales by the inverse.
DecodeProblem rescaled(const DecodeProblem& problem, double keys, double values) {
  DecodeProblem changed = problem;
  for (std::int64_t i = 0; i < problem.key_cache.size(); ++i) {
    changed.key_cache.write(i, keys * problem.key_cache.read(i));
    changed.value_cache.write(i, values * problem.value_cache.read(i));
  }
  changed.k_scale = static_cast<float>(problem.k_scale / keys);
  changed.v_scale = static_cast<float>(problem.v_scale / values);
  return changed;
}

constexpr double kFactors[][2] = {{2, 1}, {0.5, 1}, {1, 4}, {1, 0.25}, {4, 0.5}};

Verdict check_scaling(KernelUnderTest& kernel, const DecodeProblem& given, std::uint64_t seed) {
  const DecodeProblem problem = with_middling_numbers(given, seed);
  const DecodeOutputs before = kernel.run(problem);
  for (const auto& [keys, values] : kFactors) {
    const std::string difference =
        bit_difference(before, kernel.run(rescaled(problem, keys, values)));
    if (!difference.empty())
      return Verdict::fail("with stored keys times " + text("%g", keys) + ", values times " +
                           text("%g", values) + " and the scales by the inverse, " + difference);
  }
  return {};
}

/// 256 sequences of one token.
DecodeProblem one_token_each(const DecodeProblem& given) {
  CaseSpec spec;
  spec.num_heads = spec.num_kv_heads = 1;
  spec.head_size = given.head_size;
  spec.block_size = given.block_size;
  spec.scalar = given.scalar;
  spec.cache = given.cache();
  spec.k_scale = given.k_scale;
  spec.v_scale = given.v_scale;
  // The greatest code's logit stays within the range of exp(), which is another invariant's matter.
  const double greatest = (spec.cache == CacheType::e4m3 ? 448 : 57344) * spec.k_scale;
  spec.scale = std::exp2(std::floor(std::log2(64 / greatest)));
  spec.seq_lens.assign(256, 1);
  spec.query_values.kind = spec.key_values.kind = spec.value_values.kind = "constant";
  spec.query_values.value = spec.key_values.value = spec.value_values.value = 0;
  return build_case(spec).problem;
}

/// Sequence s has code s as its only token's key, in dimension 0, where the query is 1: its logit,
/// and so its LSE, is the number that the code stands for, times k_scale and scale. Infinities are
/// left out: a sequence that has only such logits has no softmax.
DecodeProblem codes_as_keys(DecodeProblem problem) {
  for (int seq = 0; seq < problem.num_seqs(); ++seq) {
    problem.query.write(std::int64_t{seq} * problem.head_size, 1);
    const std::int64_t key = key_index(problem, problem.block_table(seq)[0], 0, 0, 0);
    problem.key_cache.data()[key] = static_cast<std::byte>(seq);
    if (std::isinf(problem.key_cache.read(key))) problem.key_cache.write(key, 0);
  }
  return problem;
}

/// Dimension 0 of sequence s has code s as its value: the output is the number it stands for, times
/// v_scale.
DecodeProblem codes_as_values(DecodeProblem problem) {
  for (int seq = 0; seq < problem.num_seqs(); ++seq)
    problem.value_cache.data()[value_index(problem, problem.block_table(seq)[0], 0, 0, 0)] =
        static_cast<std::byte>(seq);
  return problem;
}

/// What a wrong sequence's code is, where it is no number: "; code 127 of e4m3 is NaN ..."; else
/// "".
std::string about_code(const DecodeProblem& problem, int seq, bool is_key) {
  if (seq < 0) return "";
  Tensor code(problem.cache(), {1});
  code.data()[0] = static_cast<std::byte>(seq);
  if (!std::isnan(code.read(0))) return "";
  return "; code " + std::to_string(seq) + " of " + std::string(name_of(problem.cache())) +
         " is NaN" +
         (is_key
              ? ", and so is its logit: a maximum that is searched with > or fmaxf skips it, and "
                "NaN must reach the output"
              : ", and must reach the output");
}

Verdict check_codes(KernelUnderTest& kernel, const DecodeProblem& given) {
  const DecodeProblem each = one_token_each(given);
  Verdict worst;
  for (const bool as_keys : {true, false}) {
    const DecodeProblem problem = as_keys ? codes_as_keys(each) : codes_as_values(each);
    const Comparison comparison = compare(problem, kernel.run(problem, {.logits = true}),
                                          reference_answer(problem, kernel.stage().arithmetic));
    worst.bound_used = std::max(worst.bound_used, comparison.bound_used);
    worst.max_abs_error = std::max(worst.max_abs_error, comparison.max_abs_error);
    if (comparison.passed) continue;
    worst.held = false;
    worst.message = "where sequence s has code s as its only " +
                    std::string(as_keys ? "key" : "value") + ", " + comparison.message +
                    about_code(problem, comparison.seq, as_keys);
    return worst;
  }
  return worst;
}

Verdict check(KernelUnderTest& kernel, const Case& c, std::uint64_t seed) {
  const Verdict scaling = check_scaling(kernel, c.problem, seed);
  return scaling.held ? check_codes(kernel, c.problem) : scaling;
}

std::string example(KernelUnderTest& kernel) {
  CaseSpec spec = make_case(ScalarType::f16, {1, 1}, {19}, "normal", 7);
  spec.cache = CacheType::e4m3;
  spec.k_scale = 0.25;
  spec.v_scale = 0.5;
  const DecodeProblem problem = with_middling_numbers(build_case(spec).problem, 1);
  const DecodeProblem changed = rescaled(problem, 2, 1);
  const std::int64_t key = key_index(problem, problem.block_table(0)[0], 0, 0, 0);
  std::string lines;
  for (const DecodeProblem* p : {&problem, &changed})
    lines += text("stored key %g, k_scale %g: key %g; output[0] %s\n", p->key_cache.read(key),
                  p->k_scale, p->key_cache.read(key) * p->k_scale,
                  bits_of(kernel.run(*p).output, 0).c_str());
  Tensor codes(CacheType::e4m3, {2});
  codes.data()[0] = std::byte{0x7E};
  codes.data()[1] = std::byte{0x7F};
  return lines + text("codes of e4m3: 0x7E is %g, the greatest number; 0x7F is %s, not 480\n",
                      codes.read(0), std::isnan(codes.read(1)) ? "NaN" : "a number");
}

}  // namespace
}  // namespace paged::parts_of_fp8_scale

namespace paged {

Invariant fp8_scale() {
  using namespace parts_of_fp8_scale;
  return {
      "fp8-scale",
      "Scaling the stored cache by a power of two and its scale by the inverse changes nothing, "
      "and all 256 codes convert right.",
      "K' = a K, k_scale' = k_scale / a, V' = b V, v_scale' = v_scale / b  =>  o' = o, bit for "
      "bit; logit = scale * k_scale * key code, o = v_scale * value code, for every code",
      "factors of 2, 4 and their inverses for keys and values apart; 256 sequences of one token, "
      "each with one code",
      "a scale dropped, used for the wrong cache or on the wrong side; NaN codes taken for "
      "numbers; the wrong one of the two formats",
      "The factors tell whose scale is wrong: if only the keys' factor changes something, it is "
      "k_scale. In the second part the sequence's number is the code. Codes 127 and 255 of e4m3 "
      "are "
      "NaN, and a maximum that is searched with > skips them.",
      cases,
      refuses,
      check,
      example};
}

}  // namespace paged
