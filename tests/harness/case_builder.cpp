#include "tests/harness/case_builder.h"

#include "reference/cache_layout.h"
#include "reference/input_error.h"
#include "tests/harness/npy.h"
#include "tests/harness/random.h"
#include "tests/harness/value_family.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace paged {
namespace {

using Rows = std::vector<std::vector<std::int32_t>>;

std::int64_t pages_of(const CaseSpec& spec) {
  std::int64_t pages = 0;
  for (int seq_len : spec.seq_lens) pages += num_pages(seq_len, spec.block_size);
  return pages;
}

/// Blocks 0 ... n-1 in the order that the kind asks for, dealt out to the sequences.
Rows deal_blocks(const CaseSpec& spec, TableKind kind, std::int64_t num_blocks) {
  std::vector<std::int32_t> order = Random(spec.key_values.seed * 3 + 11).permutation(num_blocks);
  if (kind != TableKind::random) std::iota(order.begin(), order.end(), 0);
  if (kind == TableKind::reversed) std::reverse(order.begin(), order.end());
  Rows rows;
  auto next = order.begin();
  for (int seq_len : spec.seq_lens) {
    const int pages = num_pages(seq_len, spec.block_size);
    rows.emplace_back(next, next + pages);
    next += pages;
  }
  return rows;
}

/// Free blocks beside the used ones, so that a wrong id lands in the cache and not outside.
constexpr std::int64_t kFreeBlocks = 3;

/// Elements of a generated cache; more would be a typing mistake rather than a test.
constexpr std::int64_t kMostElements = std::int64_t{1} << 31;

std::int64_t choose_num_blocks(const CaseSpec& spec) {
  if (const auto* rows = std::get_if<Rows>(&spec.block_tables)) {
    std::int64_t largest = -1;
    for (const auto& row : *rows)
      for (std::int32_t id : row) largest = std::max<std::int64_t>(largest, id);
    return spec.num_blocks.value_or(largest + 1 + kFreeBlocks);
  }
  const std::int64_t needed = pages_of(spec);
  const std::int64_t num_blocks = spec.num_blocks.value_or(needed + kFreeBlocks);
  if (num_blocks < needed)
    throw InputError("num_blocks is " + std::to_string(num_blocks) + ", but the sequences need " +
                     std::to_string(needed) + " blocks of " + std::to_string(spec.block_size) +
                     " tokens");
  return num_blocks;
}

void build_tables(const CaseSpec& spec, std::int64_t num_blocks, DecodeProblem& problem) {
  Rows rows;
  if (const auto* given = std::get_if<Rows>(&spec.block_tables))
    rows = *given;
  else
    rows = deal_blocks(spec, std::get<TableKind>(spec.block_tables), num_blocks);
  if (rows.size() != spec.seq_lens.size())
    throw InputError("block_tables has " + std::to_string(rows.size()) + " rows for " +
                     std::to_string(spec.seq_lens.size()) + " sequences");
  std::size_t width = 0;
  for (const auto& row : rows) width = std::max(width, row.size());
  problem.max_num_blocks_per_seq = spec.table_width.value_or(static_cast<int>(width));
  for (std::size_t seq = 0; seq < rows.size(); ++seq) {
    // A row that ends before its sequence does would be filled with padding, and padding read.
    const auto needed = static_cast<std::size_t>(num_pages(spec.seq_lens[seq], spec.block_size));
    if (rows[seq].size() < needed)
      throw InputError("sequence " + std::to_string(seq) + " has " +
                       std::to_string(spec.seq_lens[seq]) + " tokens and needs " +
                       std::to_string(needed) + " blocks, but its row of block_tables has " +
                       std::to_string(rows[seq].size()));
    if (rows[seq].size() > static_cast<std::size_t>(problem.max_num_blocks_per_seq))
      throw InputError("row " + std::to_string(seq) + " of block_tables has " +
                       std::to_string(rows[seq].size()) + " entries, but table_width is " +
                       std::to_string(problem.max_num_blocks_per_seq));
    rows[seq].resize(problem.max_num_blocks_per_seq, spec.table_padding);
    problem.block_tables.insert(problem.block_tables.end(), rows[seq].begin(), rows[seq].end());
  }
}

/// Copies the tokens of one text into a cache, divided by its scale: every sequence is a prefix of
/// it.
void place_tokens(const Tensor& tokens, const std::string& name, DecodeProblem& problem,
                  Tensor& cache, float scale,
                  std::int64_t (*index)(const DecodeProblem&, std::int64_t, int, int, int)) {
  const std::vector<std::int64_t> per_token = {problem.num_kv_heads, problem.head_size};
  if (tokens.shape().size() != 3 || tokens.shape()[1] != per_token[0] ||
      tokens.shape()[2] != per_token[1])
    throw InputError(name + " has shape " + to_string(tokens.shape()) + "; expected [num_tokens, " +
                     std::to_string(per_token[0]) + ", " + std::to_string(per_token[1]) + "]");
  for (int seq = 0; seq < problem.num_seqs(); ++seq) {
    if (problem.seq_lens[seq] > tokens.shape()[0])
      throw InputError("sequence " + std::to_string(seq) + " has " +
                       std::to_string(problem.seq_lens[seq]) + " tokens, but " + name + " has " +
                       std::to_string(tokens.shape()[0]));
    for (int token = 0; token < problem.seq_lens[seq]; ++token) {
      const std::int64_t block = problem.block_table(seq)[token / problem.block_size];
      for (int kv_head = 0; kv_head < problem.num_kv_heads; ++kv_head)
        for (int dim = 0; dim < problem.head_size; ++dim)
          cache.write(
              index(problem, block, kv_head, token % problem.block_size, dim),
              tokens.read((static_cast<std::int64_t>(token) * problem.num_kv_heads + kv_head) *
                              problem.head_size +
                          dim) /
                  scale);
    }
  }
}

Tensor converted_to(CacheType type, Tensor tensor) {
  if (tensor.type() == type) return tensor;
  Tensor converted(type, tensor.shape());
  for (std::int64_t i = 0; i < tensor.size(); ++i) converted.write(i, tensor.read(i));
  return converted;
}

void load_tensors(const CaseSpec& spec, DecodeProblem& problem) {
  const auto file = [&](const char* name) {
    const auto found = spec.tensors.find(name);
    return found == spec.tensors.end() ? nullptr : &found->second;
  };
  const CacheType cache = problem.cache();
  const CacheType scalar = same_as(problem.scalar);
  // A query of another float type is converted; a cache must be of its own type to the bit.
  if (const auto* path = file("query"))
    problem.query = converted_to(scalar, read_npy(*path, scalar));
  if (const auto* path = file("key_cache")) problem.key_cache = read_npy(*path, cache);
  if (const auto* path = file("value_cache")) problem.value_cache = read_npy(*path, cache);
  problem.validate();  // the shapes must fit before elements are addressed
  if (const auto* path = file("keys"))
    place_tokens(read_npy(*path, cache), "keys", problem, problem.key_cache, problem.k_scale,
                 key_index);
  if (const auto* path = file("values"))
    place_tokens(read_npy(*path, cache), "values", problem, problem.value_cache, problem.v_scale,
                 value_index);
}

DecodeProblem empty_problem(const CaseSpec& spec) {
  DecodeProblem problem;
  problem.num_heads = spec.num_heads;
  problem.num_kv_heads = spec.num_kv_heads;
  problem.head_size = spec.head_size;
  problem.block_size = spec.block_size;
  problem.scalar = spec.scalar;
  problem.scale =
      static_cast<float>(spec.scale.value_or(1 / std::sqrt(static_cast<double>(spec.head_size))));
  problem.k_scale = static_cast<float>(spec.k_scale);
  problem.v_scale = static_cast<float>(spec.v_scale);
  problem.seq_lens.assign(spec.seq_lens.begin(), spec.seq_lens.end());
  problem.alibi_slopes.assign(spec.alibi_slopes.begin(), spec.alibi_slopes.end());
  problem.sparsity = spec.block_sparse;
  problem.partition_size = spec.partition_size;
  problem.variant = spec.variant;
  return problem;
}

/// Entries of a block table; more would be a typing mistake, too.
constexpr std::int64_t kMostTableEntries = std::int64_t{1} << 26;

void check_table_size(const CaseSpec& spec) {
  const std::int64_t entries =
      static_cast<std::int64_t>(spec.table_width.value_or(0)) * spec.seq_lens.size();
  if (entries > kMostTableEntries)
    throw InputError("table_width is " + std::to_string(*spec.table_width) + " for " +
                     std::to_string(spec.seq_lens.size()) + " sequences; a table has at most " +
                     std::to_string(kMostTableEntries) + " entries");
}

void check_cache_size(const CaseSpec& spec, std::int64_t num_blocks) {
  const double elements = static_cast<double>(num_blocks) * spec.num_kv_heads *
                          static_cast<double>(spec.head_size) * spec.block_size;
  if (elements > static_cast<double>(kMostElements))
    throw InputError("the cache would have " +
                     std::to_string(static_cast<std::int64_t>(std::min(elements, 9e18))) +
                     " elements; at most " + std::to_string(kMostElements) + " are generated");
}

}  // namespace

std::vector<int> all_seqs(const DecodeProblem& problem) {
  std::vector<int> seqs(problem.num_seqs());
  std::iota(seqs.begin(), seqs.end(), 0);
  return seqs;
}

std::vector<bool> slots_of(const DecodeProblem& problem, const std::vector<int>& seqs) {
  std::vector<bool> used(problem.num_blocks() * problem.block_size, false);
  for (int seq : seqs)
    for (int token = 0; token < problem.seq_lens[seq]; ++token) {
      const std::int64_t block = problem.block_table(seq)[token / problem.block_size];
      used[block * problem.block_size + token % problem.block_size] = true;
    }
  return used;
}

std::vector<bool> blocks_of(const DecodeProblem& problem, const std::vector<int>& seqs) {
  std::vector<bool> owned(problem.num_blocks(), false);
  for (int seq : seqs)
    for (int page = 0; page < num_pages(problem.seq_lens[seq], problem.block_size); ++page)
      owned[problem.block_table(seq)[page]] = true;
  return owned;
}

void poison_slot(DecodeProblem& problem, std::int64_t slot, double value, PoisonedCache caches) {
  const std::int64_t block = slot / problem.block_size;
  const int offset = static_cast<int>(slot % problem.block_size);
  for (int kv_head = 0; kv_head < problem.num_kv_heads; ++kv_head)
    for (int dim = 0; dim < problem.head_size; ++dim) {
      if (caches != PoisonedCache::values)
        problem.key_cache.write(key_index(problem, block, kv_head, offset, dim), value);
      if (caches != PoisonedCache::keys)
        problem.value_cache.write(value_index(problem, block, kv_head, offset, dim), value);
    }
}

void poison_tails(DecodeProblem& problem, double value, PoisonedCache caches) {
  const std::vector<bool> owned = blocks_of(problem, all_seqs(problem));
  const std::vector<bool> used = slots_of(problem, all_seqs(problem));
  for (std::size_t slot = 0; slot < used.size(); ++slot)
    if (owned[slot / problem.block_size] && !used[slot])
      poison_slot(problem, static_cast<std::int64_t>(slot), value, caches);
}

void poison_blocks(DecodeProblem& problem, const std::vector<bool>& owned, double value) {
  for (std::int64_t slot = 0; slot < problem.num_blocks() * problem.block_size; ++slot)
    if (!owned[slot / problem.block_size]) poison_slot(problem, slot, value);
}

namespace {

DecodeProblem build_problem(const CaseSpec& spec) {
  const CacheType cache = spec.cache.value_or(same_as(spec.scalar));
  const std::int64_t num_blocks = choose_num_blocks(spec);
  check_cache_size(spec, num_blocks);
  check_table_size(spec);
  DecodeProblem problem = empty_problem(spec);
  problem.query = Tensor(same_as(spec.scalar), {static_cast<std::int64_t>(spec.seq_lens.size()),
                                                spec.num_heads, spec.head_size});
  // What a cache of this type and head size cannot be, its constructor says.
  problem.key_cache =
      make_key_cache(cache, num_blocks, spec.num_kv_heads, spec.head_size, spec.block_size);
  problem.value_cache =
      make_value_cache(cache, num_blocks, spec.num_kv_heads, spec.head_size, spec.block_size);
  build_tables(spec, num_blocks, problem);
  problem.validate();

  fill_values(problem, spec.query_values, spec.key_values, spec.value_values);
  load_tensors(spec, problem);
  if (spec.poison.free_blocks)
    poison_blocks(problem, blocks_of(problem, all_seqs(problem)), *spec.poison.free_blocks);
  if (spec.poison.tail) poison_tails(problem, *spec.poison.tail);
  problem.validate();
  return problem;
}

}  // namespace

Case build_case(const CaseSpec& spec) {
  try {
    return {spec.name, build_problem(spec)};
  } catch (const InputError& error) {
    throw InputError(spec.name + ": " + error.what());
  }
}

}  // namespace paged
