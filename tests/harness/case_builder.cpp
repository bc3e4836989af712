#include "tests/harness/case_builder.h"

#include "reference/cache_layout.h"
#include "reference/input_error.h"
#include "tests/harness/npy.h"
#include "tests/harness/random.h"
#include "tests/harness/value_family.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <numeric>
#include <string>

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

/// Elements of a query or of a cache; more would be a typing mistake rather than a test.
constexpr std::int64_t kMostElements = std::int64_t{1} << 31;
/// Entries of a block table; more would be a typing mistake, too.
constexpr std::int64_t kMostTableEntries = std::int64_t{1} << 26;

/// The largest block id of a table, and where it stands.
struct LargestId {
  std::int64_t id = -1;
  std::size_t seq = 0, entry = 0;
};

LargestId largest_id(const Rows& rows) {
  LargestId largest;
  for (std::size_t seq = 0; seq < rows.size(); ++seq)
    for (std::size_t entry = 0; entry < rows[seq].size(); ++entry)
      if (rows[seq][entry] > largest.id) largest = {rows[seq][entry], seq, entry};
  return largest;
}

std::int64_t choose_num_blocks(const CaseSpec& spec) {
  if (const auto* rows = std::get_if<Rows>(&spec.block_tables))
    return spec.num_blocks.value_or(largest_id(*rows).id + 1 + kFreeBlocks);
  const std::int64_t needed = pages_of(spec);
  const std::int64_t num_blocks = spec.num_blocks.value_or(needed + kFreeBlocks);
  if (num_blocks < needed)
    throw InputError("num_blocks is " + std::to_string(num_blocks) + ", but the sequences need " +
                     std::to_string(needed) + " blocks of " + std::to_string(spec.block_size) +
                     " tokens");
  return num_blocks;
}

/// Which part of a case asks for so many blocks.
std::string reason_for(std::int64_t num_blocks, const CaseSpec& spec) {
  if (spec.num_blocks) return "num_blocks is " + std::to_string(num_blocks);
  if (const auto* rows = std::get_if<Rows>(&spec.block_tables)) {
    const LargestId largest = largest_id(*rows);
    return "sequence " + std::to_string(largest.seq) + ", entry " + std::to_string(largest.entry) +
           " of block_tables is block " + std::to_string(largest.id);
  }
  return "seq_lens asks for " + std::to_string(num_blocks) + " blocks";
}

void check_elements(const std::string& reason, const char* tensor,
                    std::initializer_list<std::int64_t> extents) {
  double elements = 1;
  for (std::int64_t extent : extents) elements *= static_cast<double>(extent);
  if (elements > static_cast<double>(kMostElements))
    throw InputError(reason + ": the " + tensor + " would have " +
                     std::to_string(static_cast<std::int64_t>(std::min(elements, 9e18))) +
                     " elements; at most " + std::to_string(kMostElements) + " are generated");
}

/// Entries in a row of the table.
std::int64_t table_width(const CaseSpec& spec) {
  if (spec.table_width) return *spec.table_width;
  std::int64_t width = 0;
  if (const auto* rows = std::get_if<Rows>(&spec.block_tables))
    for (const auto& row : *rows) width = std::max(width, static_cast<std::int64_t>(row.size()));
  else
    for (int seq_len : spec.seq_lens)
      width = std::max<std::int64_t>(width, num_pages(seq_len, spec.block_size));
  return width;
}

void check_table_size(const CaseSpec& spec) {
  const std::int64_t width = table_width(spec);
  const auto num_seqs = static_cast<std::int64_t>(spec.seq_lens.size());
  if (num_seqs > 0 && width > kMostTableEntries / num_seqs)
    throw InputError((spec.table_width ? "table_width is " : "the longest row of the table has ") +
                     std::to_string(width) + (spec.table_width ? "" : " entries") + " for " +
                     std::to_string(num_seqs) + " sequences; a table has at most " +
                     std::to_string(kMostTableEntries) + " entries");
}

void check_types(const CaseSpec& spec, CacheType cache) {
  const CacheType own = same_as(spec.scalar);
  if (cache != own && !is_fp8(cache))
    throw InputError("cache is " + std::string(name_of(cache)) + ": with scalar " +
                     std::string(name_of(own)) + " it must be " + std::string(name_of(own)) +
                     ", e4m3 or e5m2");
}

DecodeShape checked_shape(const CaseSpec& spec) {
  if (spec.num_heads % spec.num_kv_heads != 0)
    throw InputError("num_heads is " + std::to_string(spec.num_heads) +
                     ": it must be a multiple of num_kv_heads, " +
                     std::to_string(spec.num_kv_heads));
  DecodeShape shape;
  shape.num_seqs = static_cast<int>(spec.seq_lens.size());
  shape.num_heads = spec.num_heads;
  shape.num_kv_heads = spec.num_kv_heads;
  shape.head_size = spec.head_size;
  shape.block_size = spec.block_size;
  shape.num_blocks = choose_num_blocks(spec);
  shape.scalar = spec.scalar;
  shape.cache = spec.cache.value_or(same_as(spec.scalar));
  shape.probabilities = spec.probabilities;
  shape.partition_size = spec.partition_size;
  shape.variant = spec.variant;
  for (int seq_len : spec.seq_lens) shape.max_seq_len = std::max(shape.max_seq_len, seq_len);
  check_types(spec, shape.cache);
  check_probabilities(shape.probabilities, shape.scalar, shape.cache);
  check_elements(reason_for(shape.num_blocks, spec), "cache",
                 {shape.num_blocks, shape.num_kv_heads, shape.head_size, shape.block_size});
  check_elements("num_heads is " + std::to_string(shape.num_heads), "query",
                 {shape.num_seqs, shape.num_heads, shape.head_size});
  check_table_size(spec);
  shape.max_num_blocks_per_seq = static_cast<int>(table_width(spec));
  // Throws for a head size that a cache of this type cannot have.
  key_cache_shape(shape.cache, shape.num_blocks, shape.num_kv_heads, shape.head_size,
                  shape.block_size);
  return shape;
}

void build_tables(const CaseSpec& spec, const DecodeShape& shape, DecodeProblem& problem) {
  Rows rows;
  if (const auto* given = std::get_if<Rows>(&spec.block_tables))
    rows = *given;
  else
    rows = deal_blocks(spec, std::get<TableKind>(spec.block_tables), shape.num_blocks);
  if (rows.size() != spec.seq_lens.size())
    throw InputError("block_tables has " + std::to_string(rows.size()) + " rows for " +
                     std::to_string(spec.seq_lens.size()) + " sequences");
  problem.max_num_blocks_per_seq = shape.max_num_blocks_per_seq;
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

Tensor read_cache(const std::filesystem::path& file, CacheType type) {
  Tensor cache = read_npy(file, type);
  if (cache.type() != type)
    throw InputError("'" + file.string() + "' holds " + std::string(name_of(cache.type())) +
                     ", but the case's cache is " + std::string(name_of(type)));
  return cache;
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
  if (const auto* path = file("key_cache")) problem.key_cache = read_cache(*path, cache);
  if (const auto* path = file("value_cache")) problem.value_cache = read_cache(*path, cache);
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
  problem.probabilities = spec.probabilities;
  problem.partition_size = spec.partition_size;
  problem.variant = spec.variant;
  return problem;
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
  const DecodeShape shape = checked_shape(spec);
  DecodeProblem problem = empty_problem(spec);
  problem.query = Tensor(same_as(spec.scalar), {shape.num_seqs, shape.num_heads, shape.head_size});
  problem.key_cache = make_key_cache(shape.cache, shape.num_blocks, shape.num_kv_heads,
                                     shape.head_size, shape.block_size);
  problem.value_cache = make_value_cache(shape.cache, shape.num_blocks, shape.num_kv_heads,
                                         shape.head_size, shape.block_size);
  build_tables(spec, shape, problem);
  problem.validate();

  fill_values(problem, spec.query_values, spec.key_values, spec.value_values);
  load_tensors(spec, problem);
  if (spec.poison.free_blocks)
    poison_blocks(problem, blocks_of(problem, all_seqs(problem)), *spec.poison.free_blocks);
  if (spec.poison.tail) poison_tails(problem, *spec.poison.tail);
  problem.validate();
  return problem;
}

/// What an action returns; its errors begin with the name of the case.
template <typename Action>
auto named(const CaseSpec& spec, Action action) {
  try {
    return action(spec);
  } catch (const InputError& error) {
    throw InputError(spec.name + ": " + error.what());
  }
}

}  // namespace

DecodeShape shape_of_case(const CaseSpec& spec) { return named(spec, checked_shape); }

Case build_case(const CaseSpec& spec) { return {spec.name, named(spec, build_problem)}; }

}  // namespace paged
