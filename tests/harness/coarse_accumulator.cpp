#include "tests/harness/coarse_accumulator.h"

#include "reference/cache_layout.h"

#include <algorithm>
#include <cmath>

namespace paged {
namespace {

constexpr double kLarge = 1024;
/// Beside 1024, numbers of f16 are 1 apart, and those of bf16 8. A dimension of each in turn.
constexpr double kLostInF16 = 0.25, kLostInBf16 = 2;

double little_in(int dim) { return dim % 2 == 0 ? kLostInF16 : kLostInBf16; }

/// The values of one token, in every dimension.
template <typename ValueOf>
void write_values(DecodeProblem& p, const Evidence& e, int token, ValueOf value_of) {
  const std::int64_t block = p.block_table(e.recovered.seq)[token / p.block_size];
  for (int dim = 0; dim < p.head_size; ++dim)
    p.value_cache.write(value_index(p, block, e.kv_head(), token % p.block_size, dim),
                        value_of(dim));
}

}  // namespace

LikelyCause cause_of_coarse_accumulator(KernelUnderTest& kernel, const Evidence& e) {
  const StageArithmetic& declared = kernel.stage().arithmetic;
  const int tokens = std::min(e.seq_len(), e.problem.partition_size);  // those added up at once
  if (tokens < 3 || e.problem.cache() != same_as(e.problem.scalar) ||
      declared.products != ScalarType::f32 || e.problem.probabilities != ScalarType::f32 ||
      e.problem.sparsity.active())
    return {};
  DecodeProblem changed = e.problem;
  changed.query.fill(0);
  changed.alibi_slopes.clear();
  changed.value_cache = Tensor(changed.cache(), changed.value_cache.shape());
  write_values(changed, e, 0, [](int) { return kLarge; });
  write_values(changed, e, 1, little_in);
  write_values(changed, e, tokens - 1, [](int) { return -kLarge; });
  const DecodeOutputs outputs = kernel.run(changed);
  const std::int64_t row = std::int64_t{e.recovered.seq} * e.problem.num_heads + e.recovered.head;
  int lost[2] = {0, 0}, kept[2] = {0, 0};
  for (int dim = 0; dim < e.problem.head_size; ++dim) {
    const double got = outputs.output.read(row * e.problem.head_size + dim);
    const double expected = little_in(dim) / e.seq_len();
    if (got == 0) ++lost[dim % 2];
    if (std::abs(got - expected) < expected / 16) ++kept[dim % 2];
  }
  const int half = e.problem.head_size / 2;
  if (lost[0] != half || (lost[1] != half && kept[1] != half)) return {};
  return {"coarse-accumulator", std::string("the weighted sum of values is kept in ") +
                                    (lost[1] == half ? "bf16" : "f16") + ", not in f32"};
}

}  // namespace paged
