#include "tests/harness/case_builder.h"

#include "reference/cache_layout.h"
#include "reference/finite_answer.h"
#include "reference/input_error.h"
#include "reference/number_range.h"
#include "tests/harness/coordinates.h"
#include "tests/harness/counted_noun.h"
#include "tests/harness/npy.h"
#include "tests/harness/random.h"
#include "tests/harness/value_family.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

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

/// Elements of a query, a cache or an intermediate; more would be a typing mistake rather than a
/// test. In f32 this is 2 GiB, which a device holds a second time.
constexpr std::int64_t kMostElements = std::int64_t{1} << 29;
/// Entries of a block table; more would be a typing mistake, too.
constexpr std::int64_t kMostTableEntries = std::int64_t{1} << 26;

/// The largest block id of a table that a sequence uses, and where it stands.
struct LargestId {
  std::int64_t id = -1;
  std::size_t seq = 0, entry = 0;
};

/// Entries behind a sequence's last page are padding and ask for no block.
LargestId largest_id(const CaseSpec& spec, const Rows& rows) {
  LargestId largest;
  for (std::size_t seq = 0; seq < std::min(rows.size(), spec.seq_lens.size()); ++seq) {
    const auto pages = static_cast<std::size_t>(num_pages(spec.seq_lens[seq], spec.block_size));
    for (std::size_t entry = 0; entry < std::min(rows[seq].size(), pages); ++entry)
      if (rows[seq][entry] > largest.id) largest = {rows[seq][entry], seq, entry};
  }
  return largest;
}

/// `reason` begins the message: "num_blocks is 3".
void require_blocks(const CaseSpec& spec, std::int64_t num_blocks, const std::string& reason) {
  if (!std::holds_alternative<TableKind>(spec.block_tables)) return;  // their ids are checked
  const std::int64_t needed = pages_of(spec);
  if (num_blocks < needed)
    throw InputError(reason + ", but the sequences need " + counted(needed, "block") + " of " +
                     counted(spec.block_size, "token"));
}

std::int64_t choose_num_blocks(const CaseSpec& spec) {
  if (spec.num_blocks) {
    require_blocks(spec, *spec.num_blocks, "num_blocks is " + std::to_string(*spec.num_blocks));
    return *spec.num_blocks;
  }
  const auto* rows = std::get_if<Rows>(&spec.block_tables);
  return (rows ? largest_id(spec, *rows).id + 1 : pages_of(spec)) + kFreeBlocks;
}

/// Which part of a case asks for so many blocks.
std::string reason_for(std::int64_t num_blocks, const CaseSpec& spec) {
  if (spec.num_blocks) return "num_blocks is " + std::to_string(num_blocks);
  if (const auto* rows = std::get_if<Rows>(&spec.block_tables)) {
    const LargestId largest = largest_id(spec, *rows);
    return "sequence " + std::to_string(largest.seq) + ", entry " + std::to_string(largest.entry) +
           " of block_tables is block " + std::to_string(largest.id);
  }
  return "seq_lens asks for " + counted(num_blocks, "block");
}

void check_elements(const std::string& reason, const char* tensor,
                    std::initializer_list<std::int64_t> extents) {
  double elements = 1;
  for (std::int64_t extent : extents) elements *= static_cast<double>(extent);
  if (elements > static_cast<double>(kMostElements))
    throw InputError(reason + ": " + tensor + " would have " +
                     std::to_string(static_cast<std::int64_t>(std::min(elements, 9e18))) +
                     " elements; at most " + std::to_string(kMostElements) + " are allowed");
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
                     (spec.table_width
                          ? std::to_string(width)
                          : std::to_string(width) + (width == 1 ? " entry" : " entries")) +
                     " for " + counted(num_seqs, "sequence") + "; a table has at most " +
                     std::to_string(kMostTableEntries) + " entries");
}

void check_types(const CaseSpec& spec, CacheType cache) {
  const CacheType own = same_as(spec.scalar);
  if (cache != own && !is_fp8(cache))
    throw InputError("cache is " + std::string(name_of(cache)) + ": with scalar " +
                     std::string(name_of(own)) + " it must be " + std::string(name_of(own)) +
                     ", e4m3 or e5m2");
}

bool is_given(const CaseSpec& spec, const char* tensor) { return spec.tensors.contains(tensor); }

/// Sizes of what is generated, and of what a run hands out.
void check_sizes(const CaseSpec& spec, const DecodeShape& shape) {
  if (!is_given(spec, "key_cache") || !is_given(spec, "value_cache"))
    check_elements(reason_for(shape.num_blocks, spec), "the cache",
                   {shape.num_blocks, shape.num_kv_heads, shape.head_size, shape.block_size});
  check_elements("num_heads is " + std::to_string(shape.num_heads), "the query",
                 {shape.num_seqs, shape.num_heads, shape.head_size});
  const std::string longest = "the longest of " + counted(shape.num_seqs, "sequence") + " has " +
                              counted(shape.max_seq_len, "token");
  check_elements(longest, "the table of all logits",
                 {shape.num_seqs, shape.num_heads, shape.max_seq_len});
  const std::int64_t partitions =
      shape.max_seq_len / shape.partition_size + (shape.max_seq_len % shape.partition_size != 0);
  check_elements(longest + " and partition_size is " + std::to_string(shape.partition_size),
                 "what partitions leave",
                 {shape.num_seqs, shape.num_heads, partitions, shape.head_size});
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
  check_table_size(spec);
  check_sizes(spec, shape);
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
    throw InputError("block_tables has " + counted(rows.size(), "row") + " for " +
                     counted(spec.seq_lens.size(), "sequence"));
  problem.max_num_blocks_per_seq = shape.max_num_blocks_per_seq;
  for (std::size_t seq = 0; seq < rows.size(); ++seq) {
    // A row that ends before its sequence does would be filled with padding, and padding read.
    const auto needed = static_cast<std::size_t>(num_pages(spec.seq_lens[seq], spec.block_size));
    if (rows[seq].size() < needed)
      throw InputError("sequence " + std::to_string(seq) + " has " +
                       counted(spec.seq_lens[seq], "token") + " and needs " +
                       counted(needed, "block") + ", but its row of block_tables has " +
                       std::to_string(rows[seq].size()));
    if (rows[seq].size() > static_cast<std::size_t>(problem.max_num_blocks_per_seq))
      throw InputError("row " + std::to_string(seq) + " of block_tables has " +
                       std::to_string(rows[seq].size()) + " entries, but table_width is " +
                       std::to_string(problem.max_num_blocks_per_seq));
    rows[seq].resize(problem.max_num_blocks_per_seq, spec.table_padding);
    problem.block_tables.insert(problem.block_tables.end(), rows[seq].begin(), rows[seq].end());
  }
}

/// Tensors that a case takes from files, of the right types and shapes.
struct GivenTensors {
  std::optional<Tensor> query, key_cache, value_cache, keys, values;
};

/// "keys from 'k.npy'"
std::string from_file(const CaseSpec& spec, const std::string& name) {
  return name + " from '" + spec.tensors.at(name).string() + "'";
}

/// Sees that numbers from a file fit the type that they are converted to, and that some of them are
/// left. Messages begin with `name`.
class Conversion {
 public:
  Conversion(CacheType type, std::string name) : type_(type), name_(std::move(name)) {}

  /// Element i of the file.
  double checked(double value, std::int64_t i) {
    if (std::isfinite(value) && std::abs(value) >= overflow_threshold(type_))
      throw InputError(name_ + ": element " + std::to_string(i) + " becomes " + number(value) +
                       ", which does not fit " + with_article(type_) + ": at most " +
                       number(greatest_number(type_)));
    largest_ = std::max(largest_, std::abs(value));
    return value;
  }
  void check_not_all_lost() const {
    if (largest_ > 0 && largest_ <= underflow_threshold(type_))
      throw InputError(name_ + ": all elements become 0 in " + std::string(name_of(type_)) +
                       "; the largest is " + number(largest_));
  }

 private:
  CacheType type_;
  std::string name_;
  double largest_ = 0;  // magnitude
};

Tensor converted_to(CacheType type, Tensor tensor, const std::string& name) {
  if (tensor.type() == type) return tensor;
  Tensor converted(type, tensor.shape());
  Conversion conversion(type, name);
  for (std::int64_t i = 0; i < tensor.size(); ++i)
    converted.write(i, conversion.checked(tensor.read(i), i));
  conversion.check_not_all_lost();
  return converted;
}

void check_shape_of(const CaseSpec& spec, const char* name, const Tensor& tensor,
                    const std::vector<std::int64_t>& expected) {
  if (tensor.shape() != expected)
    throw InputError(from_file(spec, name) + " has shape " + to_string(tensor.shape()) +
                     ": expected " + to_string(expected));
}

std::optional<Tensor> read_query(const CaseSpec& spec, const DecodeShape& shape) {
  if (!is_given(spec, "query")) return std::nullopt;
  const CacheType type = same_as(shape.scalar);
  // A query of another float type is converted; a cache must be of its own type to the bit.
  Tensor query = read_npy(spec.tensors.at("query"), type);
  check_shape_of(spec, "query", query, {shape.num_seqs, shape.num_heads, shape.head_size});
  return converted_to(type, std::move(query), from_file(spec, "query"));
}

std::optional<Tensor> read_cache(const CaseSpec& spec, const DecodeShape& shape, const char* name) {
  if (!is_given(spec, name)) return std::nullopt;
  Tensor cache = read_npy(spec.tensors.at(name), shape.cache);
  if (cache.type() != shape.cache)
    throw InputError(from_file(spec, name) + " holds " + std::string(name_of(cache.type())) +
                     ", but the case's cache is " + std::string(name_of(shape.cache)));
  // The file itself says how many blocks there are, unless the case does.
  const std::int64_t own_blocks = cache.shape().empty() ? 0 : cache.shape()[0];
  const std::int64_t num_blocks = spec.num_blocks.value_or(own_blocks);
  const bool is_keys = std::string(name) == "key_cache";
  check_shape_of(spec, name, cache,
                 is_keys ? key_cache_shape(shape.cache, num_blocks, shape.num_kv_heads,
                                           shape.head_size, shape.block_size)
                         : value_cache_shape(num_blocks, shape.num_kv_heads, shape.head_size,
                                             shape.block_size));
  return cache;
}

std::optional<Tensor> read_tokens(const CaseSpec& spec, const DecodeShape& shape,
                                  const char* name) {
  if (!is_given(spec, name)) return std::nullopt;
  Tensor tokens = read_npy(spec.tensors.at(name), shape.cache);
  if (tokens.shape().size() != 3 || tokens.shape()[1] != shape.num_kv_heads ||
      tokens.shape()[2] != shape.head_size)
    throw InputError(from_file(spec, name) + " has shape " + to_string(tokens.shape()) +
                     "; expected [num_tokens, " + std::to_string(shape.num_kv_heads) + ", " +
                     std::to_string(shape.head_size) + "]");
  for (std::size_t seq = 0; seq < spec.seq_lens.size(); ++seq)
    if (spec.seq_lens[seq] > tokens.shape()[0])
      throw InputError("sequence " + std::to_string(seq) + " has " +
                       counted(spec.seq_lens[seq], "token") + ", but " + from_file(spec, name) +
                       " has " + std::to_string(tokens.shape()[0]));
  return tokens;
}

void refuse_both(const CaseSpec& spec, const char* tokens, const char* cache) {
  if (is_given(spec, tokens) && is_given(spec, cache))
    throw InputError(std::string(tokens) + " and " + cache + " are both given ('" +
                     spec.tensors.at(tokens).string() + "' and '" +
                     spec.tensors.at(cache).string() + "'), but either fills the cache: keep one");
}

GivenTensors read_given(const CaseSpec& spec, const DecodeShape& shape) {
  refuse_both(spec, "keys", "key_cache");
  refuse_both(spec, "values", "value_cache");
  GivenTensors given{read_query(spec, shape), read_cache(spec, shape, "key_cache"),
                     read_cache(spec, shape, "value_cache"), read_tokens(spec, shape, "keys"),
                     read_tokens(spec, shape, "values")};
  if (given.key_cache && given.value_cache &&
      given.key_cache->shape()[0] != given.value_cache->shape()[0])
    throw InputError(from_file(spec, "key_cache") + " has " +
                     std::to_string(given.key_cache->shape()[0]) + " blocks, but " +
                     from_file(spec, "value_cache") + " has " +
                     std::to_string(given.value_cache->shape()[0]));
  return given;
}

/// The blocks of caches from files, in place of those that would be generated.
void take_num_blocks(const CaseSpec& spec, const GivenTensors& given, DecodeShape& shape) {
  if (!given.key_cache && !given.value_cache) return;
  const Tensor& cache = given.key_cache ? *given.key_cache : *given.value_cache;
  shape.num_blocks = cache.shape()[0];
  require_blocks(spec, shape.num_blocks,
                 from_file(spec, given.key_cache ? "key_cache" : "value_cache") + " has " +
                     counted(shape.num_blocks, "block"));
}

/// With tokens of one text, whose prefixes the sequences are, a block that stands at two places
/// would have to hold two pages of the text.
void check_one_page_a_block(const DecodeProblem& problem) {
  struct Place {
    int seq = -1, entry = 0;
  };
  std::vector<Place> places(problem.num_blocks());
  for (int seq = 0; seq < problem.num_seqs(); ++seq)
    for (int entry = 0; entry < num_pages(problem.seq_lens[seq], problem.block_size); ++entry) {
      const std::int32_t block = problem.block_table(seq)[entry];
      Place& first = places[block];
      if (first.seq < 0) first = {seq, entry};
      if (first.entry != entry)
        throw InputError("block_tables: block " + std::to_string(block) + " is entry " +
                         std::to_string(first.entry) + " of sequence " + std::to_string(first.seq) +
                         " and entry " + std::to_string(entry) + " of sequence " +
                         std::to_string(seq) +
                         "; with keys or values of one text, a block can hold only one page of it");
    }
}

/// Copies the tokens of one text into a cache, divided by its scale.
void place_tokens(const Tensor& tokens, const std::string& name, const DecodeProblem& problem,
                  Tensor& cache, float scale,
                  std::int64_t (*index)(const DecodeProblem&, std::int64_t, int, int, int)) {
  Conversion conversion(cache.type(), name);
  for (int seq = 0; seq < problem.num_seqs(); ++seq)
    for (int token = 0; token < problem.seq_lens[seq]; ++token) {
      const std::int64_t block = problem.block_table(seq)[token / problem.block_size];
      std::int64_t i = static_cast<std::int64_t>(token) * problem.num_kv_heads * problem.head_size;
      for (int kv_head = 0; kv_head < problem.num_kv_heads; ++kv_head)
        for (int dim = 0; dim < problem.head_size; ++dim, ++i)
          cache.write(index(problem, block, kv_head, token % problem.block_size, dim),
                      conversion.checked(tokens.read(i) / scale, i));
    }
  conversion.check_not_all_lost();
}

void place_given_tokens(const CaseSpec& spec, const GivenTensors& given, DecodeProblem& problem) {
  if (given.keys || given.values) check_one_page_a_block(problem);
  if (given.keys)
    place_tokens(*given.keys, from_file(spec, "keys"), problem, problem.key_cache, problem.k_scale,
                 key_index);
  if (given.values)
    place_tokens(*given.values, from_file(spec, "values"), problem, problem.value_cache,
                 problem.v_scale, value_index);
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
  const std::vector<double> row(problem.head_size, value);
  for (int kv_head = 0; kv_head < problem.num_kv_heads; ++kv_head) {
    if (caches != PoisonedCache::values)
      problem.key_cache.write(key_elements(problem, block, kv_head, offset), row);
    if (caches != PoisonedCache::keys)
      problem.value_cache.write(value_elements(problem, block, kv_head, offset), row);
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
  std::int64_t poisoned = -1;
  for (std::int64_t block = 0; block < problem.num_blocks(); ++block) {
    if (owned[block]) continue;
    if (poisoned >= 0) {  // every element is the same
      copy_block(problem.key_cache, poisoned, block);
      copy_block(problem.value_cache, poisoned, block);
      continue;
    }
    for (int offset = 0; offset < problem.block_size; ++offset)
      poison_slot(problem, block * problem.block_size + offset, value);
    poisoned = block;
  }
}

namespace {

void check_poison(const char* key, const std::optional<double>& value, CacheType cache) {
  if (value && std::isfinite(*value) && std::abs(*value) >= overflow_threshold(cache))
    throw InputError("poison." + std::string(key) + " is " + number(*value) +
                     ", which does not fit " + with_article(cache) + " cache: at most " +
                     number(greatest_number(cache)));
}

DecodeProblem build_problem(const CaseSpec& spec) {
  DecodeShape shape = checked_shape(spec);
  check_poison("tail", spec.poison.tail, shape.cache);
  check_poison("free_blocks", spec.poison.free_blocks, shape.cache);
  GivenTensors given = read_given(spec, shape);
  take_num_blocks(spec, given, shape);
  DecodeProblem problem = empty_problem(spec);
  problem.query = given.query ? std::move(*given.query)
                              : Tensor(same_as(spec.scalar),
                                       {shape.num_seqs, shape.num_heads, shape.head_size});
  problem.key_cache = given.key_cache
                          ? std::move(*given.key_cache)
                          : make_key_cache(shape.cache, shape.num_blocks, shape.num_kv_heads,
                                           shape.head_size, shape.block_size);
  problem.value_cache = given.value_cache
                            ? std::move(*given.value_cache)
                            : make_value_cache(shape.cache, shape.num_blocks, shape.num_kv_heads,
                                               shape.head_size, shape.block_size);
  build_tables(spec, shape, problem);
  problem.validate();

  if (!given.query) fill_query(problem, spec.query_values);
  if (!given.key_cache) fill_keys(problem, spec.key_values);
  if (!given.value_cache) fill_values(problem, spec.value_values);
  place_given_tokens(spec, given, problem);
  if (spec.poison.free_blocks)
    poison_blocks(problem, blocks_of(problem, all_seqs(problem)), *spec.poison.free_blocks);
  if (spec.poison.tail) poison_tails(problem, *spec.poison.tail);
  problem.validate();
  check_finite_answer(problem);
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
