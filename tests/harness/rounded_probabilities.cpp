#include "tests/harness/rounded_probabilities.h"

#include "reference/cache_layout.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace paged {
namespace {

/// What 1 becomes in the values, so that a difference is no subnormal of f16.
constexpr double kUnit = 1024;

/// A token whose probability is neither near a number of the type, so that rounding changes it, nor
/// near the middle between two, so that a last bit of the logit decides which one it becomes.
struct TellingToken {
  int token;
  double rounded;  ///< its probability
};

std::vector<TellingToken> telling_tokens(const Evidence& e, ScalarType type) {
  const int mantissa_bits = type == ScalarType::f16 ? 10 : 7;
  std::vector<TellingToken> tokens;
  Tensor stored(same_as(type), {1});
  for (int token = 0; token < e.seq_len(); ++token) {
    const double p = std::exp(e.attention.logits[token] - e.attention.maximum);
    if (!(p >= 0x1p-14) || p == 1 || static_cast<int>(tokens.size()) == e.problem.head_size)
      continue;
    const double half_spacing = std::ldexp(1.0, std::ilogb(p) - mantissa_bits - 1);
    stored.write(0, p);
    const double rounded = stored.read(0);
    const double off = std::abs(p - rounded) / half_spacing;
    const bool vanishes = kUnit * std::abs(p - rounded) / e.attention.sum < 0x1p-20;
    if (off > 0.2 && off < 0.8 && !vanishes) tokens.push_back({token, rounded});
  }
  return tokens;
}

std::int64_t value_place(const Evidence& e, int token, int dim) {
  const DecodeProblem& p = e.problem;
  return value_index(p, p.block_table(e.recovered.seq)[token / p.block_size], e.kv_head(),
                     token % p.block_size, dim);
}

/// Whether the values cancel for all telling tokens after the heaviest one, or for all before it:
/// an online softmax that comes to it later had a smaller maximum before.
bool do_cancel(KernelUnderTest& kernel, const Evidence& e, ScalarType type) {
  const std::vector<TellingToken> tokens = telling_tokens(e, type);
  Eigen::Index heaviest = 0;
  e.attention.logits.maxCoeff(&heaviest);
  DecodeProblem changed = e.problem;
  changed.value_cache = Tensor(changed.cache(), changed.value_cache.shape());
  for (int dim = 0; dim < static_cast<int>(tokens.size()); ++dim) {
    changed.value_cache.write(value_place(e, tokens[dim].token, dim), kUnit);
    changed.value_cache.write(value_place(e, static_cast<int>(heaviest), dim),
                              -kUnit * tokens[dim].rounded);
  }
  constexpr int kEnough = 3;
  if (tokens.size() < kEnough) return false;
  const DecodeOutputs outputs = kernel.run(changed);
  const std::int64_t row = std::int64_t{e.recovered.seq} * e.problem.num_heads + e.recovered.head;
  int cancelled[2] = {0, 0}, tried[2] = {0, 0};
  for (int dim = 0; dim < static_cast<int>(tokens.size()); ++dim) {
    const int side = tokens[dim].token > heaviest ? 1 : 0;
    ++tried[side];
    cancelled[side] += outputs.output.read(row * e.problem.head_size + dim) == 0 ? 1 : 0;
  }
  return (tried[0] >= kEnough && cancelled[0] == tried[0]) ||
         (tried[1] >= kEnough && cancelled[1] == tried[1]);
}

}  // namespace

LikelyCause cause_of_rounded_probabilities(KernelUnderTest& kernel, const Evidence& e) {
  const StageArithmetic& declared = kernel.stage().arithmetic;
  if (declared.rounds_probabilities_to_scalar || declared.probabilities != ScalarType::f32 ||
      e.problem.probabilities != ScalarType::f32 ||
      e.problem.cache() != same_as(e.problem.scalar) || !(e.attention.sum > 0))
    return {};
  for (const ScalarType type : {ScalarType::f16, ScalarType::bf16}) {
    // Values of 16 bits hold the rounded probabilities of their own type alone.
    const bool is_own = e.problem.scalar == type;
    if ((e.problem.scalar != ScalarType::f32 && !is_own) || !do_cancel(kernel, e, type)) continue;
    std::string sentence = "the probabilities are rounded to " + std::string(name_of(type)) +
                           " before they multiply values";
    if (is_own && !e.kernel.has_warps)
      sentence +=
          " (where that is meant, declare rounds_probabilities in the description's arithmetic)";
    return {"probabilities-rounded", sentence};
  }
  return {};
}

}  // namespace paged
