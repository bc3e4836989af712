#include "tests/harness/value_family.h"

#include "reference/cache_layout.h"
#include "reference/input_error.h"
#include "tests/harness/random.h"

#include <algorithm>
#include <cmath>

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

bool leans(const std::string& kind) {
  return kind == "peaked" || kind == "needle" || kind == "large-logits" ||
         kind == "negative-logits";
}

/// Length of the query's share along its direction. With scale 1/sqrt(d), a key of length a along
/// the direction then has logit a * kLean / sqrt(d).
double lean_length(int head_size) { return std::sqrt(static_cast<double>(head_size)); }

void fill_query(DecodeProblem& problem, const ValueFamily& family) {
  Random random(family.seed * 3 + 1);
  const int group = problem.num_heads / problem.num_kv_heads;
  std::int64_t i = 0;
  for (int seq = 0; seq < problem.num_seqs(); ++seq)
    for (int head = 0; head < problem.num_heads; ++head) {
      const std::vector<double> direction = unit_direction(problem.head_size, head / group);
      for (int dim = 0; dim < problem.head_size; ++dim, ++i) {
        double value = family.standard_deviation * random.normal();
        if (family.kind == "constant") value = family.value;
        if (family.kind == "small") value *= 0.01;
        // Little noise beside the direction: every head of the group must see the same picture.
        if (leans(family.kind))
          value = 0.1 * value + lean_length(problem.head_size) * direction[dim];
        problem.query.write(i, value);
      }
    }
}

/// A number in (-1, 1) that tells where an element lives. Every fourth dimension tells the block,
/// the next the KV head, then the offset, then the dimension, each in steps of 1/128 that every
/// type but e5m2 keeps apart; below these steps, f32 also holds the element's position (modulo
/// 65536).
double coded(const DecodeProblem& problem, std::int64_t block, int kv_head, int offset, int dim) {
  const std::int64_t codes[] = {block, kv_head, offset, dim / 4};
  const std::int64_t position =
      ((block * problem.num_kv_heads + kv_head) * problem.block_size + offset) * problem.head_size +
      dim;
  const auto step = static_cast<double>(codes[dim % 4] % 255 - 127);
  return (step + static_cast<double>(position % 65536) / 65536) / 128;
}

template <typename Value>
void fill_cache(DecodeProblem& problem, Tensor& cache,
                std::int64_t (*index)(const DecodeProblem&, std::int64_t, int, int, int),
                Value value) {
  for (std::int64_t block = 0; block < problem.num_blocks(); ++block)
    for (int kv_head = 0; kv_head < problem.num_kv_heads; ++kv_head)
      for (int offset = 0; offset < problem.block_size; ++offset)
        for (int dim = 0; dim < problem.head_size; ++dim)
          cache.write(index(problem, block, kv_head, offset, dim),
                      value(block, kv_head, offset, dim));
}

void fill_background(DecodeProblem& problem, Tensor& cache, double scale,
                     std::int64_t (*index)(const DecodeProblem&, std::int64_t, int, int, int),
                     const ValueFamily& family, std::uint64_t stream) {
  Random random(family.seed * 3 + stream);
  const double width = family.standard_deviation * (family.kind == "small" ? 0.01 : 1.0) / scale;
  if (family.kind == "constant")
    fill_cache(problem, cache, index, [&](auto...) { return family.value / scale; });
  else if (family.kind == "coded")
    fill_cache(problem, cache, index,
               [&](auto... where) { return coded(problem, where...) / scale; });
  else
    fill_cache(problem, cache, index, [&](auto...) { return width * random.normal(); });
}

/// Sets one token's key so that its logit is about `logit` for every query head of the group.
void lean_key(DecodeProblem& problem, int seq, int token, double logit, Random& random) {
  const std::int64_t block = problem.block_table(seq)[token / problem.block_size];
  const int offset = token % problem.block_size;
  const double length = logit / (problem.scale * lean_length(problem.head_size));
  for (int kv_head = 0; kv_head < problem.num_kv_heads; ++kv_head) {
    const std::vector<double> direction = unit_direction(problem.head_size, kv_head);
    for (int dim = 0; dim < problem.head_size; ++dim)
      problem.key_cache.write(key_index(problem, block, kv_head, offset, dim),
                              (length * direction[dim] + 0.1 * random.normal()) / problem.k_scale);
  }
}

void lean_keys(DecodeProblem& problem, const ValueFamily& family) {
  Random random(family.seed * 7 + 5);
  for (int seq = 0; seq < problem.num_seqs(); ++seq) {
    const int seq_len = problem.seq_lens[seq];
    if (seq_len == 0) continue;
    const int needle = family.token >= 0 ? static_cast<int>(family.token)
                                         : static_cast<int>(random.below(seq_len));
    if (needle >= seq_len)
      throw InputError("the needle is token " + std::to_string(needle) + ", but sequence " +
                       std::to_string(seq) + " has " + std::to_string(seq_len) + " tokens");
    for (int token = 0; token < seq_len; ++token) {
      double logit = random.normal();
      // A few heavy tokens among light ones; the last one always, where page edges are.
      if (family.kind == "peaked")
        logit = random.below(16) == 0 || token == seq_len - 1 ? 5 + logit : logit;
      if (family.kind == "needle") logit = token == needle ? 12 : logit;
      if (family.kind == "large-logits")
        logit = token == needle ? 1e4 : (token % 2 == 0 ? -1e4 : 5e3) + 10 * logit;
      if (family.kind == "negative-logits") logit = family.logit + logit;
      lean_key(problem, seq, token, logit, random);
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

void fill_values(DecodeProblem& problem, const ValueFamily& query, const ValueFamily& keys,
                 const ValueFamily& values) {
  for (const ValueFamily* family : {&query, &keys, &values}) check_family_kind(family->kind);
  fill_query(problem, query);
  fill_background(problem, problem.key_cache, problem.k_scale, key_index, keys, 2);
  fill_background(problem, problem.value_cache, problem.v_scale, value_index, values, 3);
  if (leans(keys.kind)) lean_keys(problem, keys);
}

}  // namespace paged
