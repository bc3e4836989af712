#include "tests/harness/rearranged.h"

#include "reference/cache_layout.h"

#include <algorithm>
#include <cstring>

namespace paged {
namespace {

Tensor with_blocks_moved(const Tensor& cache, const std::vector<std::int32_t>& new_name) {
  Tensor moved(cache.type(), cache.shape());
  if (new_name.empty()) return moved;
  const std::size_t block_bytes = cache.size_in_bytes() / new_name.size();
  for (std::size_t block = 0; block < new_name.size(); ++block)
    std::memcpy(moved.data() + new_name[block] * block_bytes, cache.data() + block * block_bytes,
                block_bytes);
  return moved;
}

}  // namespace

DecodeProblem with_blocks_renamed(const DecodeProblem& problem,
                                  const std::vector<std::int32_t>& new_name) {
  DecodeProblem renamed = problem;
  renamed.key_cache = with_blocks_moved(problem.key_cache, new_name);
  renamed.value_cache = with_blocks_moved(problem.value_cache, new_name);
  for (int seq = 0; seq < problem.num_seqs(); ++seq)
    for (int page = 0; page < num_pages(problem.seq_lens[seq], problem.block_size); ++page) {
      const std::int64_t entry =
          static_cast<std::int64_t>(seq) * problem.max_num_blocks_per_seq + page;
      renamed.block_tables[entry] = new_name[problem.block_tables[entry]];
    }
  return renamed;
}

DecodeProblem with_table(const DecodeProblem& problem, int width,
                         const std::function<std::int32_t(int seq, int entry)>& padding) {
  DecodeProblem changed = problem;
  changed.max_num_blocks_per_seq = width;
  changed.block_tables.clear();
  for (int seq = 0; seq < problem.num_seqs(); ++seq) {
    const int valid = num_pages(problem.seq_lens[seq], problem.block_size);
    for (int entry = 0; entry < width; ++entry)
      changed.block_tables.push_back(entry < valid ? problem.block_table(seq)[entry]
                                                   : padding(seq, entry));
  }
  return changed;
}

DecodeProblem with_sequences(const DecodeProblem& problem, const std::vector<int>& sequences) {
  DecodeProblem batch = problem;
  const std::int64_t rows = static_cast<std::int64_t>(sequences.size());
  batch.query = Tensor(problem.query.type(), {rows, problem.num_heads, problem.head_size});
  batch.seq_lens.clear();
  batch.block_tables.clear();
  const std::size_t bytes = problem.num_heads * problem.head_size * size_in_bytes(problem.scalar);
  std::byte* query = batch.query.data();
  for (const int seq : sequences) {
    query = std::copy_n(problem.query.data() + seq * bytes, bytes, query);
    batch.seq_lens.push_back(problem.seq_lens[seq]);
    const std::int32_t* row = problem.block_table(seq);
    batch.block_tables.insert(batch.block_tables.end(), row, row + problem.max_num_blocks_per_seq);
  }
  return batch;
}

int widest_row(const DecodeProblem& problem) {
  int widest = 0;
  for (int seq_len : problem.seq_lens)
    widest = std::max(widest, num_pages(seq_len, problem.block_size));
  return widest;
}

}  // namespace paged
