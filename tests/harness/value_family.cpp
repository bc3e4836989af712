#include "tests/harness/value_family.h"

#include "reference/input_error.h"
#include "reference/number_range.h"
#include "tests/harness/case_builder.h"
#include "tests/harness/coordinates.h"
#include "tests/harness/counted_noun.h"
#include "tests/harness/normal_numbers.h"
#include "tests/harness/random.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

namespace paged {
namespace {

/// A direction of length 1 that all query heads of a KV head's group lean to, so that a key along
/// it gets a large logit from each of them.
std::vector<double> unit_direction(int head_size, int kv_head) {
  Random random(0x6469720000ULL + static_cast<std::uint64_t>(kv_head));
  std::vector<double> direction(head_size);
  double square = 0;
  for (double& x : direction) {
    x = random.normal();
    square += x * x;
  }
  for (double& x : direction) x /= std::sqrt(square);
  return direction;
}

/// Of all KV heads. [num_kv_heads][head_size]
std::vector<std::vector<double>> unit_directions(const DecodeProblem& problem) {
  std::vector<std::vector<double>> directions;
  for (int kv_head = 0; kv_head < problem.num_kv_heads; ++kv_head)
    directions.push_back(unit_direction(problem.head_size, kv_head));
  return directions;
}

bool leans(const std::string& kind) {
  return kind == "peaked" || kind == "needle" || kind == "large-logits" ||
         kind == "negative-logits";
}

/// Length of the query's share along its direction. With scale 1/sqrt(d), a key of length a along
/// the direction then has logit a * kLean / sqrt(d).
double lean_length(int head_size) { return std::sqrt(static_cast<double>(head_size)); }

/// What a message about a value that does not fit tells to change.
std::string knob_of(const ValueFamily& family) {
  if (family.kind == "constant") return "value";
  return family.kind == "negative-logits" ? "logit" : "std";
}

/// Writes generated values, of which none may turn into an infinity, nor all of them into zeros:
/// what is infinite or zero everywhere equals itself, and a comparison shows nothing.
class Writer {
 public:
  /// Whether fp8 may cut values to its greatest number, as writing a cache does.
  enum class Fp8 { refuses, saturates };

  Writer(Tensor& tensor, const char* name, const ValueFamily& family, Fp8 fp8 = Fp8::refuses)
      : tensor_(tensor),
        name_(name),
        family_(family),
        threshold_(is_fp8(tensor.type()) && fp8 == Fp8::saturates
                       ? std::numeric_limits<double>::infinity()
                       : overflow_threshold(tensor.type())) {}

  void write(ElementRuns elements, std::span<const double> values) {
    for (const double value : values) {
      if (std::isfinite(value) && std::abs(value) >= threshold_) refuse_large(value);
      largest_ = std::max(largest_, std::abs(value));
    }
    tensor_.write(elements, values);
  }

  /// Called when everything is written.
  void check_not_all_lost() const {
    if (largest_ > 0 && largest_ <= underflow_threshold(tensor_.type()))
      refuse("values up to " + number(largest_) + ", which are all 0 in " +
                 std::string(name_of(tensor_.type())),
             "larger", "smaller");
  }

 private:
  [[noreturn]] void refuse_large(double value) const {
    refuse("a value of " + number(value) + ", which does not fit " + with_article(tensor_.type()) +
               " (at most " + number(greatest_number(tensor_.type())) + ")",
           "smaller", "larger");
  }
  [[noreturn]] void refuse(const std::string& what, const char* change,
                           const char* change_of_scale) const {
    throw InputError(
        "values: the family " + family_.kind + " gives " + name_ + " " + what + ": make its \"" +
        knob_of(family_) + "\" " + change +
        (is_fp8(tensor_.type()) ? std::string(", or the cache's scale ") + change_of_scale : ""));
  }

  Tensor& tensor_;
  const char* name_;
  const ValueFamily& family_;
  double threshold_;
  double largest_ = 0;  ///< magnitude
};

void write_query(DecodeProblem& problem, const ValueFamily& family) {
  Writer query(problem.query, "query", family);
  Random random(family.seed * 3 + 1);
  const int group = problem.num_heads / problem.num_kv_heads;
  const auto directions = unit_directions(problem);
  std::vector<double> row(problem.head_size);
  std::int64_t first = 0;
  for (int seq = 0; seq < problem.num_seqs(); ++seq)
    for (int head = 0; head < problem.num_heads; ++head, first += problem.head_size) {
      const std::vector<double>& direction = directions[head / group];
      for (int dim = 0; dim < problem.head_size; ++dim) {
        double value = family.standard_deviation * random.normal();
        if (family.kind == "constant") value = family.value;
        if (family.kind == "small") value *= 0.01;
        // Little noise beside the direction: every head of the group must see the same picture.
        if (leans(family.kind))
          value = 0.1 * value + lean_length(problem.head_size) * direction[dim];
        row[dim] = value;
      }
      query.write({first, problem.head_size, 0}, row);
    }
  query.check_not_all_lost();
}

/// One of the two caches of a problem.
struct CacheOf {
  const DecodeProblem& problem;
  Tensor& tensor;
  const char* name;
  double scale;
  ElementRuns (*elements)(const DecodeProblem&, std::int64_t, int, int);
  std::uint64_t stream;  ///< of random numbers
};

CacheOf keys_of(DecodeProblem& problem) {
  return {problem, problem.key_cache, "key_cache", problem.k_scale, key_elements, 2};
}

CacheOf values_of(DecodeProblem& problem) {
  return {problem, problem.value_cache, "value_cache", problem.v_scale, value_elements, 3};
}

/// One token's key or value of one KV head: its place, and how many elements of the whole cache
/// come before it if tokens lie one after the other.
struct TokenRow {
  std::int64_t block;
  int kv_head;
  int offset;
  std::int64_t position;
};

/// fill(row, values) gives the values of each token's row. [head_size]
template <typename Fill>
void fill_block(const CacheOf& cache, Writer& writer, std::int64_t block, Fill fill) {
  const DecodeProblem& problem = cache.problem;
  std::vector<double> values(problem.head_size);
  std::int64_t position =
      block * problem.num_kv_heads * problem.block_size * std::int64_t{problem.head_size};
  for (int kv_head = 0; kv_head < problem.num_kv_heads; ++kv_head)
    for (int offset = 0; offset < problem.block_size; ++offset, position += problem.head_size) {
      fill(TokenRow{block, kv_head, offset, position}, std::span(values));
      for (double& value : values) value /= cache.scale;
      writer.write(cache.elements(problem, block, kv_head, offset), values);
    }
}

/// Numbers in (-1, 1) that tell where an element lives. Every fourth dimension tells the block, the
/// next the KV head, then the offset, then the dimension, each in steps of 1/128 that every type
/// but e5m2 keeps apart; below these steps, f32 also holds the element's position (modulo 65536).
void code_row(const TokenRow& row, std::span<double> values) {
  const auto step = [](std::int64_t code) { return static_cast<double>(code % 255 - 127); };
  double steps[] = {step(row.block), step(row.kv_head), step(row.offset), 0};
  for (std::size_t dim = 0; dim < values.size(); ++dim) {
    steps[3] = step(static_cast<std::int64_t>(dim) / 4);
    const std::int64_t position = row.position + static_cast<std::int64_t>(dim);
    values[dim] = (steps[dim % 4] + static_cast<double>(position % 65536) / 65536) / 128;
  }
}

/// Blocks that no sequence uses and that get values of their own. Drawing a number takes longer
/// than anything else here, and nobody looks at thousands of blocks that nobody uses.
constexpr std::size_t kDrawnFreeBlocks = 1024;

/// For each block, itself, or the earlier one that it repeats. [num_blocks]
std::vector<std::int64_t> sources_of_blocks(const DecodeProblem& problem) {
  const std::vector<bool> used = blocks_of(problem, all_seqs(problem));
  std::vector<std::int64_t> sources(used.size());
  std::vector<std::int64_t> drawn;
  std::size_t repeated = 0;
  for (std::size_t block = 0; block < used.size(); ++block) {
    sources[block] = static_cast<std::int64_t>(block);
    if (used[block]) continue;
    if (drawn.size() < kDrawnFreeBlocks)
      drawn.push_back(sources[block]);
    else
      sources[block] = drawn[repeated++ % kDrawnFreeBlocks];
  }
  return sources;
}

void fill_background(const CacheOf& cache, const ValueFamily& family) {
  Writer writer(cache.tensor, cache.name, family);
  const DecodeProblem& problem = cache.problem;
  const double width = family.standard_deviation * (family.kind == "small" ? 0.01 : 1.0);
  const std::vector<std::int64_t> sources = sources_of_blocks(problem);
  const NormalNumbers normals(family.seed * 3 + cache.stream);
  for (std::int64_t block = 0; block < problem.num_blocks(); ++block) {
    if (family.kind == "coded") {
      fill_block(cache, writer, block, code_row);
    } else if (sources[block] != block) {
      copy_block(cache.tensor, sources[block], block);
    } else if (family.kind == "constant") {
      fill_block(cache, writer, block, [&](const TokenRow&, std::span<double> values) {
        std::fill(values.begin(), values.end(), family.value);
      });
    } else {
      fill_block(cache, writer, block, [&](const TokenRow& row, std::span<double> values) {
        normals.copy(row.position, values);
        for (double& value : values) value *= width;
      });
    }
  }
  writer.check_not_all_lost();
}

/// Sets one token's key so that its logit is about `logit` for every query head of the group.
void lean_key(const DecodeProblem& problem, const std::vector<std::vector<double>>& directions,
              Writer& keys, int seq, int token, double logit, Random& random) {
  const std::int64_t block = problem.block_table(seq)[token / problem.block_size];
  const int offset = token % problem.block_size;
  const double length = logit / (problem.scale * lean_length(problem.head_size));
  std::vector<double> key(problem.head_size);
  for (int kv_head = 0; kv_head < problem.num_kv_heads; ++kv_head) {
    for (int dim = 0; dim < problem.head_size; ++dim)
      key[dim] = (length * directions[kv_head][dim] + 0.1 * random.normal()) / problem.k_scale;
    keys.write(key_elements(problem, block, kv_head, offset), key);
  }
}

void lean_keys(DecodeProblem& problem, const ValueFamily& family) {
  // A key's length is its logit divided by the scale.
  if (!std::isfinite(1e6 / double{problem.scale}))
    throw InputError("values: the family " + family.kind +
                     " shapes logits through the keys, which a scale of " + number(problem.scale) +
                     " does not allow: take another scale, or the family normal");
  Writer keys(problem.key_cache, "key_cache", family, Writer::Fp8::saturates);
  const auto directions = unit_directions(problem);
  Random random(family.seed * 7 + 5);
  for (int seq = 0; seq < problem.num_seqs(); ++seq) {
    const int seq_len = problem.seq_lens[seq];
    if (seq_len == 0) continue;
    const int needle = family.token >= 0 ? static_cast<int>(family.token)
                                         : static_cast<int>(random.below(seq_len));
    if (needle >= seq_len)
      throw InputError("the needle is token " + std::to_string(needle) + ", but sequence " +
                       std::to_string(seq) + " has " + counted(seq_len, "token"));
    for (int token = 0; token < seq_len; ++token) {
      double logit = random.normal();
      // A few heavy tokens among light ones; the last one always, where page edges are.
      if (family.kind == "peaked")
        logit = random.below(16) == 0 || token == seq_len - 1 ? 5 + logit : logit;
      if (family.kind == "needle") logit = token == needle ? 12 : logit;
      if (family.kind == "large-logits")
        logit = token == needle ? 1e4 : (token % 2 == 0 ? -1e4 : 5e3) + 10 * logit;
      if (family.kind == "negative-logits") logit = family.logit + logit;
      lean_key(problem, directions, keys, seq, token, logit, random);
    }
  }
}

}  // namespace

const std::vector<ValueFamilyInfo>& value_families() {
  static const std::vector<ValueFamilyInfo> families = {
      {"normal", "independent normal numbers of standard deviation \"std\""},
      {"peaked", "a few tokens, the last among them, carry most of the weight"},
      {"needle", "one token (\"token\", or drawn) carries nearly all the weight"},
      {"large-logits", "logits up to 1e4 and down to -1e4: softmax must subtract its maximum"},
      {"negative-logits",
       "all logits near \"logit\", -20: a masked logit of 0 would outweigh them"},
      {"small", "normal numbers of 0.01 times \"std\""},
      {"constant", "every element is \"value\""},
      {"coded", "an element's value tells its block, KV head, offset and dimension"},
  };
  return families;
}

void check_family_kind(const std::string& kind) {
  std::string kinds;
  for (const ValueFamilyInfo& info : value_families()) {
    if (info.kind == kind) return;
    kinds += (kinds.empty() ? "" : ", ") + info.kind;
  }
  throw InputError("is \"" + kind + "\"; known kinds are " + kinds);
}

void fill_query(DecodeProblem& problem, const ValueFamily& family) {
  check_family_kind(family.kind);
  write_query(problem, family);
}

void fill_keys(DecodeProblem& problem, const ValueFamily& family) {
  check_family_kind(family.kind);
  fill_background(keys_of(problem), family);
  if (leans(family.kind)) lean_keys(problem, family);
}

void fill_values(DecodeProblem& problem, const ValueFamily& family) {
  check_family_kind(family.kind);
  fill_background(values_of(problem), family);
}

void copy_block(Tensor& cache, std::int64_t from, std::int64_t to) {
  const std::size_t bytes = cache.size_in_bytes() / static_cast<std::size_t>(cache.shape()[0]);
  std::memcpy(cache.data() + to * bytes, cache.data() + from * bytes, bytes);
}

}  // namespace paged
