#include "tests/harness/replaced_values.h"

namespace paged {
namespace {

void fill(const DecodeProblem& problem, Tensor& cache,
          std::int64_t (*index)(const DecodeProblem&, std::int64_t, int, int, int),
          const ElementValue& value) {
  for (std::int64_t block = 0; block < problem.num_blocks(); ++block)
    for (int kv_head = 0; kv_head < problem.num_kv_heads; ++kv_head)
      for (int offset = 0; offset < problem.block_size; ++offset)
        for (int dim = 0; dim < problem.head_size; ++dim)
          cache.write(index(problem, block, kv_head, offset, dim),
                      value(block, kv_head, offset, dim));
}

}  // namespace

DecodeProblem with_values(const DecodeProblem& problem, const ElementValue& value) {
  DecodeProblem changed = problem;
  fill(problem, changed.value_cache, value_index, value);
  return changed;
}

DecodeProblem with_keys(const DecodeProblem& problem, const ElementValue& value) {
  DecodeProblem changed = problem;
  fill(problem, changed.key_cache, key_index, value);
  return changed;
}

DecodeProblem with_tokens_moved(const DecodeProblem& problem,
                                const std::vector<std::vector<std::int32_t>>& orders) {
  DecodeProblem moved = problem;
  for (int seq = 0; seq < problem.num_seqs(); ++seq)
    for (int token = 0; token < problem.seq_lens[seq]; ++token) {
      const int place = orders[seq][token];
      const std::int64_t from = problem.block_table(seq)[token / problem.block_size];
      const std::int64_t to = problem.block_table(seq)[place / problem.block_size];
      const int from_offset = token % problem.block_size;
      const int to_offset = place % problem.block_size;
      for (int kv_head = 0; kv_head < problem.num_kv_heads; ++kv_head)
        for (int dim = 0; dim < problem.head_size; ++dim) {
          moved.key_cache.copy_element(key_index(problem, to, kv_head, to_offset, dim),
                                       problem.key_cache,
                                       key_index(problem, from, kv_head, from_offset, dim));
          moved.value_cache.copy_element(value_index(problem, to, kv_head, to_offset, dim),
                                         problem.value_cache,
                                         value_index(problem, from, kv_head, from_offset, dim));
        }
    }
  return moved;
}

}  // namespace paged
