// Builds decode problems from sequences in logical order, with an addressing of its own, so that
// tests know every stored value without asking the code under test.
#pragma once
#include "reference/decode_problem.h"

#include <cstdint>
#include <functional>
#include <random>
#include <vector>

namespace paged::testing {

/// Sizes and placement of a problem to build.
struct Layout {
  int num_heads = 4;
  int num_kv_heads = 2;
  int head_size = 16;
  int block_size = 8;
  ScalarType scalar = ScalarType::f32;
  CacheType cache = CacheType::f32;
  std::vector<int> seq_lens = {11};
  std::vector<std::vector<int>> tables = {{3, 1}};
  int num_blocks = 5;
  int table_width = 4;
  int table_padding = -1;
};

/// Row-major position in key [block][kv][d/x][B][x], spelled out dimension by dimension.
inline std::int64_t key_position(const DecodeProblem& p, std::int64_t block, int kv_head,
                                 int offset, int dim) {
  const auto x = static_cast<std::int64_t>(16 / size_in_bytes(p.key_cache.type()));
  std::int64_t position = block;
  position = position * p.num_kv_heads + kv_head;
  position = position * (p.head_size / x) + dim / x;
  position = position * p.block_size + offset;
  return position * x + dim % x;
}

/// Row-major position in value [block][kv][d][B].
inline std::int64_t value_position(const DecodeProblem& p, std::int64_t block, int kv_head,
                                   int offset, int dim) {
  std::int64_t position = block;
  position = position * p.num_kv_heads + kv_head;
  position = position * p.head_size + dim;
  return position * p.block_size + offset;
}

/// Positions of a logical token's elements in the caches.
inline std::int64_t key_of_token(const DecodeProblem& p, int seq, int token, int kv_head, int dim) {
  const std::int64_t block = p.block_tables[static_cast<std::size_t>(
      seq * p.max_num_blocks_per_seq + token / p.block_size)];
  return key_position(p, block, kv_head, token % p.block_size, dim);
}
inline std::int64_t value_of_token(const DecodeProblem& p, int seq, int token, int kv_head,
                                   int dim) {
  const std::int64_t block = p.block_tables[static_cast<std::size_t>(
      seq * p.max_num_blocks_per_seq + token / p.block_size)];
  return value_position(p, block, kv_head, token % p.block_size, dim);
}

/// A problem of the given sizes with every value zero.
inline DecodeProblem zero_problem(const Layout& layout) {
  DecodeProblem p;
  p.num_heads = layout.num_heads;
  p.num_kv_heads = layout.num_kv_heads;
  p.head_size = layout.head_size;
  p.block_size = layout.block_size;
  p.scalar = layout.scalar;
  const auto num_seqs = static_cast<std::int64_t>(layout.seq_lens.size());
  const auto x = static_cast<std::int64_t>(16 / size_in_bytes(layout.cache));
  p.query = Tensor(same_as(layout.scalar), {num_seqs, p.num_heads, p.head_size});
  p.key_cache =
      Tensor(layout.cache, {layout.num_blocks, p.num_kv_heads, p.head_size / x, p.block_size, x});
  p.value_cache =
      Tensor(layout.cache, {layout.num_blocks, p.num_kv_heads, p.head_size, p.block_size});
  p.max_num_blocks_per_seq = layout.table_width;
  p.seq_lens.assign(layout.seq_lens.begin(), layout.seq_lens.end());
  for (const std::vector<int>& row : layout.tables)
    for (int entry = 0; entry < layout.table_width; ++entry)
      p.block_tables.push_back(entry < static_cast<int>(row.size())
                                   ? row[static_cast<std::size_t>(entry)]
                                   : layout.table_padding);
  return p;
}

/// Calls visit(seq, token, kv_head, dim) for every stored element of every sequence.
inline void for_each_token_element(const DecodeProblem& p,
                                   const std::function<void(int, int, int, int)>& visit) {
  for (int seq = 0; seq < p.num_seqs(); ++seq)
    for (int token = 0; token < p.seq_lens[static_cast<std::size_t>(seq)]; ++token)
      for (int kv_head = 0; kv_head < p.num_kv_heads; ++kv_head)
        for (int dim = 0; dim < p.head_size; ++dim) visit(seq, token, kv_head, dim);
}

/// Random values that every element type holds exactly: k/4 with |k| <= 7, nothing else, so that
/// storing them is no rounding. Queries get the same, times query_gain (a power of two).
inline void fill_with_exact_values(DecodeProblem& p, unsigned seed, double query_gain = 1.0) {
  std::mt19937 random(seed);
  const auto next = [&] { return (static_cast<int>(random() % 15) - 7) / 4.0; };
  for (std::int64_t i = 0; i < p.query.size(); ++i) p.query.write(i, next() * query_gain);
  for_each_token_element(p, [&](int seq, int token, int kv_head, int dim) {
    p.key_cache.write(key_of_token(p, seq, token, kv_head, dim), next());
    p.value_cache.write(value_of_token(p, seq, token, kv_head, dim), next());
  });
}

}  // namespace paged::testing
