#include "tests/harness_tests/plain_stage.h"

#include "reference/block_sparsity.h"
#include "reference/element_types.h"
#include "stages/partition_workspace.h"
#include "tests/harness/invariant.h"
#include "tests/harness_tests/plain_device.h"
#include "tests/reference/not_finite.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

namespace paged::testing {
namespace {

using testing::kFloatInfinity;

/// An element of any type, from a byte address.
template <typename Element>
float load(const void* base, std::int64_t i) {
  Element element;
  std::memcpy(&element, static_cast<const std::byte*>(base) + i * sizeof element, sizeof element);
  return static_cast<float>(to_double(element));
}

float load(int type, const void* base, std::int64_t i) {
  switch (type) {
    case PAGED_F32:
      return load<float>(base, i);
    case PAGED_F16:
      return load<f16>(base, i);
    case PAGED_BF16:
      return load<bf16>(base, i);
    case PAGED_E4M3:
      return load<e4m3>(base, i);
    default:
      return load<e5m2>(base, i);
  }
}

template <typename Element>
void store(void* base, std::int64_t i, float value) {
  const auto element = round_to<Element>(value);
  std::memcpy(static_cast<std::byte*>(base) + i * sizeof element, &element, sizeof element);
}

void store(int type, void* base, std::int64_t i, float value) {
  if (type == PAGED_F32) return store<float>(base, i, value);
  if (type == PAGED_F16) return store<f16>(base, i, value);
  store<bf16>(base, i, value);
}

int bytes_of(int type) { return type == PAGED_F32 ? 4 : type <= PAGED_BF16 ? 2 : 1; }

/// One token that a (sequence, head) looks at.
struct Token {
  std::int64_t block;
  int offset;
  int position;   ///< in the sequence
  bool is_valid;  ///< false: in the tail of the last page
  float weight = 0;
};

class PlainAttention {
 public:
  PlainAttention(const paged_decode_args& args, Mistake mistake) : a_(args), mistake_(mistake) {
    sparsity_ = {a_.sparse_local_blocks, a_.sparse_vert_stride, a_.sparse_block_size,
                 a_.sparse_head_sliding_step, a_.tensor_parallel_rank};
  }

  void run() const {
    for (int seq = 0; seq < a_.num_seqs; ++seq)
      for (int head = 0; head < a_.num_heads; ++head) one_head(seq, head);
    const std::int64_t end = std::int64_t{a_.num_seqs} * a_.num_heads * a_.head_size;
    if (has(Mistake::written_past_output)) store(a_.scalar, a_.output, end, 0);
  }

 private:
  bool has(Mistake mistake) const { return mistake_ == mistake; }

  int length_of(int seq) const {
    const int length = has(Mistake::longest_length_for_all) ? a_.max_seq_len : a_.seq_lens[seq];
    return has(Mistake::last_token_dropped) ? std::max(length - 1, 0) : length;
  }

  int pages_of(int length) const {
    if (has(Mistake::page_too_many_attended) && length > 0)
      return (length + a_.block_size - 1) / a_.block_size + 1;
    if (has(Mistake::one_page_too_many)) return length / a_.block_size + 1;
    if (has(Mistake::whole_table_row)) return a_.max_num_blocks_per_seq;
    if (has(Mistake::last_page_dropped)) return length / a_.block_size;
    return (length + a_.block_size - 1) / a_.block_size;
  }

  std::int64_t block_of(int seq, int page) const {
    if (has(Mistake::table_ignored)) return page;
    if (has(Mistake::row_of_next_sequence)) seq = (seq + 1) % a_.num_seqs;
    const int width = has(Mistake::row_of_longest_sequence)
                          ? (a_.max_seq_len + a_.block_size - 1) / a_.block_size
                          : a_.max_num_blocks_per_seq;
    const std::int64_t entry = std::int64_t{seq} * width + page;
    if (entry >= std::int64_t{a_.num_seqs} * a_.max_num_blocks_per_seq) {
      PlainDevice::report_read_outside("read of the block table");
      return 0;
    }
    return a_.block_tables[entry];
  }

  /// All tokens that the head looks at, in the order in which it adds them up.
  std::vector<Token> tokens_of(int seq, int head, int kv_head) const {
    const int length = length_of(seq);
    const int pages = pages_of(length);
    std::vector<std::int64_t> blocks(pages);
    for (int page = 0; page < pages; ++page) blocks[page] = block_of(seq, page);
    if (has(Mistake::tokens_in_address_order)) std::sort(blocks.begin(), blocks.end());
    std::vector<int> order(pages);
    std::iota(order.begin(), order.end(), 0);
    if (has(Mistake::sum_in_address_order))
      std::sort(order.begin(), order.end(), [&](int p, int q) { return blocks[p] < blocks[q]; });
    if (has(Mistake::sum_in_changing_order) && pages > 0) {
      static int runs = 0;
      std::rotate(order.begin(), order.begin() + runs++ % pages, order.end());
    }
    if (has(Mistake::sum_order_of_longest) && pages > 0)
      std::rotate(order.begin(), order.begin() + a_.max_seq_len / a_.block_size % pages,
                  order.end());
    const int stripe = stripe_of(head, kv_head);
    std::vector<Token> tokens;
    for (int page : order) {
      if (!has(Mistake::sparsity_ignored) && length > 0 &&
          !sparsity_.takes_part(page, length, a_.block_size, stripe))
        continue;
      for (int offset = 0; offset < a_.block_size; ++offset) {
        const int position = page * a_.block_size + offset;
        if (has(Mistake::token_512_dropped) && position == 512) continue;
        const bool is_valid = position < length || has(Mistake::tail_not_masked) ||
                              has(Mistake::page_too_many_attended);
        tokens.push_back({blocks[page], offset, position, is_valid});
      }
    }
    return tokens;
  }

  int stripe_of(int head, int kv_head) const {
    const int of_head = has(Mistake::stripe_by_kv_head) ? kv_head : head;
    return sparsity_.stripe_offset(of_head, a_.num_heads, kv_head, a_.num_kv_heads);
  }

  /// An element of a cache; outside it, a report and a zero.
  float cached(const void* cache, std::int64_t block, std::int64_t block_stride,
               std::int64_t in_block) const {
    std::int64_t i = block * block_stride + in_block;
    if (has(Mistake::address_in_32_bits)) i = static_cast<std::int32_t>(i);
    if (i < 0 || i >= a_.num_blocks * block_stride) {
      PlainDevice::report_read_outside("read of a cache");
      return 0;
    }
    if (has(Mistake::nan_code_as_number) && a_.cache == PAGED_E4M3) {
      const auto code = static_cast<const std::uint8_t*>(cache)[i];
      if ((code & 0x7F) == 0x7F) return code == 0x7F ? 480 : -480;
    }
    return load(a_.cache, cache, i);
  }

  std::int64_t head_start(int kv_head, std::int64_t head_stride) const {
    if (has(Mistake::head_stride_of_16)) head_stride = std::int64_t{a_.head_size} * 16;
    return kv_head * head_stride;
  }

  float key(const Token& token, int kv_head, int dim) const {
    const std::int64_t block =
        has(Mistake::table_ignored_for_keys) ? token.position / a_.block_size : token.block;
    const int x = 16 / bytes_of(has(Mistake::x_of_scalar_type) ? a_.scalar : a_.cache);
    const int in_page = (dim / x * a_.block_size + token.offset) * x + dim % x;
    return cached(a_.key_cache, block, a_.key_block_stride,
                  head_start(kv_head, a_.key_head_stride) + in_page);
  }

  std::int64_t value_block_stride() const {
    if (has(Mistake::block_stride_from_sizes)) return a_.num_kv_heads * a_.value_head_stride;
    return has(Mistake::value_strides_of_keys) ? a_.key_block_stride : a_.value_block_stride;
  }

  std::int64_t value_in_block(const Token& token, int kv_head, int dim) const {
    return head_start(kv_head, has(Mistake::value_strides_of_keys) ? a_.key_head_stride
                                                                   : a_.value_head_stride) +
           dim * a_.block_size + token.offset;
  }

  std::vector<float> query_of(int seq, int head) const {
    const int query_seq = has(Mistake::query_of_sequence_0) ? 0 : seq;
    const std::int64_t stride = has(Mistake::query_stride_from_sizes)
                                    ? std::int64_t{a_.num_heads} * a_.head_size
                                    : a_.query_stride;
    const std::int64_t first = query_seq * stride + std::int64_t{head} * a_.head_size;
    std::vector<float> query(a_.head_size);
    for (int dim = 0; dim < a_.head_size; ++dim)
      query[dim] = load(a_.scalar, a_.query, first + dim);
    return query;
  }

  /// Lanes of a thread group take vectors in turn, together 16 bytes of query.
  bool is_of_lane_0(int dim) const {
    const int lanes = 32 / a_.block_size;
    return dim / (16 / (lanes * bytes_of(a_.scalar))) % lanes == 0;
  }

  float dot_product(const Token& token, const std::vector<float>& query, int kv_head) const {
    float dot = 0;
    for (int dim = 0; dim < a_.head_size; ++dim)
      if (!has(Mistake::dot_of_lane_0) || is_of_lane_0(dim))
        dot += query[dim] * key(token, kv_head, dim);
    return dot;
  }

  float sum_over_page(Token token, const std::vector<float>& query, int kv_head) const {
    float sum = 0;
    for (token.offset = 0; token.offset < a_.block_size; ++token.offset)
      sum += dot_product(token, query, kv_head);
    return sum;
  }

  float logit_of(const Token& token, const std::vector<float>& query, int seq, int head,
                 int kv_head) const {
    float dot = dot_product(token, query, kv_head);
    if (has(Mistake::dot_of_page)) dot = sum_over_page(token, query, kv_head);
    if (has(Mistake::keys_ignored)) dot = 0;
    const float k_scale = has(Mistake::k_scale_dropped) ? 1.0F : a_.k_scale;
    float logit = (has(Mistake::no_scale) ? 1.0F : a_.scale) * (k_scale * dot);
    if (has(Mistake::position_bias_unasked))
      logit += 0.01F * static_cast<float>(token.position - a_.seq_lens[seq]);
    if (a_.alibi_slopes != nullptr && !has(Mistake::alibi_ignored)) {
      const int last = a_.seq_lens[seq] - (has(Mistake::alibi_off_by_one) ? 0 : 1);
      const float bias = a_.alibi_slopes[head] * static_cast<float>(token.position - last);
      logit += has(Mistake::alibi_sign) ? -bias : bias;
    }
    if (has(Mistake::logits_in_f16)) logit = static_cast<float>(to_double(round_to<f16>(logit)));
    return logit;
  }

  /// Turns the tokens' weights from logits into exponentials; returns their sum.
  float exponentiate(std::vector<Token>& tokens, float maximum) const {
    if (has(Mistake::sum_not_rescaled)) return exponentiate_online(tokens, maximum);
    float sum = 0;
    for (Token& token : tokens) {
      token.weight = token.is_valid ? std::exp(token.weight - maximum) : 0.0F;
      if (!has(Mistake::sum_of_lane_0) || token.position % 32 == 0) sum += token.weight;
      if (!token.is_valid && has(Mistake::tail_weighs_exp_of_zero)) sum += std::exp(-maximum);
    }
    return sum;
  }

  /// As an online softmax that forgets to rescale what it has summed when the maximum rises.
  static float exponentiate_online(std::vector<Token>& tokens, float maximum) {
    float sum = 0;
    float running = -kFloatInfinity;
    for (Token& token : tokens) {
      if (token.is_valid) running = std::max(running, token.weight);
      sum += token.is_valid ? std::exp(token.weight - running) : 0.0F;
      token.weight = token.is_valid ? std::exp(token.weight - maximum) : 0.0F;
    }
    return sum;
  }

  /// Each partition's exponentials of its own maximum, added up as if it were everybody's.
  float exponentiate_by_partition(std::vector<Token>& tokens) const {
    float sum = 0;
    std::vector<float> maxima(num_partitions(a_.max_seq_len, a_.partition_size), -kFloatInfinity);
    for (const Token& token : tokens)
      if (token.is_valid) {
        float& maximum = maxima[token.position / a_.partition_size];
        maximum = std::max(maximum, token.weight);
      }
    for (Token& token : tokens) {
      token.weight = token.is_valid
                         ? std::exp(token.weight - maxima[token.position / a_.partition_size])
                         : 0.0F;
      sum += token.weight;
    }
    return sum;
  }

  float maximum_of(const std::vector<Token>& tokens) const {
    if (has(Mistake::no_maximum)) return 0;
    float maximum = has(Mistake::maximum_starts_at_zero)        ? 0
                    : has(Mistake::maximum_starts_at_minus_1e4) ? -1e4F
                                                                : -kFloatInfinity;
    for (const Token& token : tokens)
      if (token.is_valid) maximum = std::max(maximum, token.weight);
    return maximum;
  }

  void one_head(int seq, int head) const {
    const int group = a_.num_heads / a_.num_kv_heads;
    const int kv_head = has(Mistake::kv_head_modulo) ? head % a_.num_kv_heads : head / group;
    const int row = seq * a_.num_heads + head;
    const std::vector<float> query = query_of(seq, head);
    std::vector<Token> tokens = tokens_of(seq, head, kv_head);
    bool any = false;
    for (Token& token : tokens) {
      token.weight = logit_of(token, query, seq, head, kv_head);
      any = any || token.is_valid;
      const bool in_row = a_.logits != nullptr && token.position < a_.seq_lens[seq];
      if (in_row) a_.logits[row * a_.logits_stride + token.position] = token.weight;
    }
    if (a_.logits != nullptr) mark_left_out(tokens, seq, row);
    if (a_.workspace != nullptr) write_partitions(tokens, seq, row, kv_head);
    if (!any && !has(Mistake::empty_sequence_divided)) return write_empty(row);

    const float maximum = any ? maximum_of(tokens) : 0;
    const bool by_partition = has(Mistake::partitions_not_rescaled) && a_.workspace != nullptr;
    const float sum =
        by_partition ? exponentiate_by_partition(tokens) : exponentiate(tokens, maximum);
    write_statistics(row, maximum, sum);
    const bool unguarded = has(Mistake::empty_sequence_divided);
    const float divisor = has(Mistake::sum_not_divided) ? 1.0F : sum + (unguarded ? 0 : 1e-6F);
    for (int dim = 0; dim < a_.head_size; ++dim)
      write(row, dim, weighted_sum(tokens, kv_head, dim) / divisor);
  }

  /// Logits of the pages that block-sparse attention leaves out.
  void mark_left_out(const std::vector<Token>& tokens, int seq, int row) const {
    std::vector<bool> seen(a_.seq_lens[seq], false);
    for (const Token& token : tokens)
      if (token.position < a_.seq_lens[seq]) seen[token.position] = true;
    for (int t = 0; t < a_.seq_lens[seq]; ++t)
      if (!seen[t]) a_.logits[row * a_.logits_stride + t] = -kFloatInfinity;
  }

  /// What partitions leave for the reduction. tokens: their weights are still logits.
  void write_partitions(const std::vector<Token>& tokens, int seq, int row, int kv_head) const {
    const PartitionWorkspace workspace(a_.workspace, a_.num_seqs, a_.num_heads,
                                       num_partitions(a_.max_seq_len, a_.partition_size));
    float greatest = -kFloatInfinity;  // of the partitions so far
    for (int j = 0; j < num_partitions(a_.seq_lens[seq], a_.partition_size); ++j) {
      std::vector<Token> own;
      for (const Token& token : tokens)
        if (token.position / a_.partition_size == j) own.push_back(token);
      if (own.empty() && has(Mistake::left_out_partition_unwritten)) continue;
      const float maximum = maximum_of(own);
      const float sum = exponentiate(own, maximum == -kFloatInfinity ? 0 : maximum);
      greatest = std::max(greatest, maximum);
      const auto tail =
          std::count_if(own.begin(), own.end(), [](const Token& token) { return !token.is_valid; });
      const std::int64_t slot = std::int64_t{row} * workspace.partitions + j;
      workspace.maxima[slot] = has(Mistake::partition_maximum_running) ? greatest : maximum;
      workspace.sums[slot] = sum;
      if (tail > 0 && has(Mistake::partition_sum_counts_tail))
        workspace.sums[slot] += static_cast<float>(tail) * std::exp(-maximum);
      const float divisor = has(Mistake::partition_output_not_divided) ? 1 : sum + 1e-6F;
      for (int dim = 0; dim < a_.head_size; ++dim)
        workspace.outputs[slot * a_.head_size + dim] = weighted_sum(own, kv_head, dim) / divisor;
    }
  }

  float weighted_sum(const std::vector<Token>& tokens, int kv_head, int dim) const {
    const float scale = has(Mistake::v_scale_dropped)      ? 1.0F
                        : has(Mistake::k_scale_for_values) ? a_.k_scale
                                                           : a_.v_scale;
    float sum = 0;
    for (const Token& token : tokens) {
      const std::int64_t i = value_in_block(token, kv_head, dim);
      if (!token.is_valid && has(Mistake::tail_cleared_in_cache))
        std::memset(static_cast<std::byte*>(const_cast<void*>(a_.value_cache)) +
                        (token.block * a_.value_block_stride + i) * bytes_of(a_.cache),
                    0, bytes_of(a_.cache));
      if (!token.is_valid && !has(Mistake::tail_weight_zero_times_value)) continue;
      const bool is_last = &token == &tokens.back() || !(&token + 1)->is_valid;
      if (has(Mistake::last_value_dropped) && is_last) continue;
      const std::int64_t block =
          has(Mistake::table_ignored_for_values) ? token.position / a_.block_size : token.block;
      float value = cached(a_.value_cache, block, value_block_stride(), i);
      if (has(Mistake::values_clamped)) value = std::clamp(value, -2.0F, 2.0F);
      if (has(Mistake::first_value_doubled) && token.position == 0) value *= 2;
      sum += token.weight * value;
    }
    if (has(Mistake::output_carried_over)) {
      static float left = 0;
      sum += left / 4;
      left = std::isfinite(sum) ? sum : 0;
    }
    return scale * sum;
  }

  void write(int row, int dim, float value) const {
    if (has(Mistake::dimensions_past_64_unwritten) && dim >= 64) return;
    const std::int64_t i = std::int64_t{row} * a_.head_size + dim;
    if (has(Mistake::added_to_output)) value += load(a_.scalar, a_.output, i);
    store(a_.scalar, a_.output, i, value);
  }

  void write_statistics(int row, float maximum, float sum) const {
    const float lse = maximum + std::log(sum);
    if (a_.lse != nullptr && !has(Mistake::lse_unwritten)) a_.lse[row] = lse;
    const float shift = has(Mistake::statistics_shifted) ? 1 : 0;
    if (a_.maxima != nullptr && !has(Mistake::maximum_unwritten)) a_.maxima[row] = maximum + shift;
    if (a_.sums == nullptr) return;
    a_.sums[row] = has(Mistake::sum_inverted) ? 1 / sum : sum * std::exp(-shift);
  }

  void write_empty(int row) const {
    write_statistics(row, -kFloatInfinity, 0);
    if (has(Mistake::empty_sequence_unwritten)) return;
    for (int dim = 0; dim < a_.head_size; ++dim) write(row, dim, 0);
  }

  const paged_decode_args& a_;
  Mistake mistake_;
  BlockSparsity sparsity_;
};

// A stage runs through a plain function pointer: one function for each mistake.
using RunFunction = void (*)(const paged_decode_args&);

template <int mistake>
void run(const paged_decode_args& args) {
  PlainAttention(args, static_cast<Mistake>(mistake)).run();
}

constexpr int kCount = static_cast<int>(Mistake::address_in_32_bits) + 1;

template <int... mistakes>
RunFunction function_of(Mistake mistake, std::integer_sequence<int, mistakes...>) {
  constexpr RunFunction functions[] = {run<mistakes>...};
  return functions[static_cast<int>(mistake)];
}

}  // namespace

const std::vector<MistakeInfo>& mistakes() {
  static const std::vector<MistakeInfo> all = {
      {Mistake::one_page_too_many, "one_page_too_many", {"table-padding"}},
      {Mistake::whole_table_row, "whole_table_row", {"table-padding"}},
      {Mistake::row_of_longest_sequence, "row_of_longest_sequence", {"table-padding"}},
      {Mistake::row_of_next_sequence, "row_of_next_sequence", {"block-isolation"}},
      {Mistake::table_ignored, "table_ignored", {"block-permutation"}},
      {Mistake::tokens_in_address_order, "tokens_in_address_order", {"block-permutation"}},
      {Mistake::sum_in_address_order, "sum_in_address_order", {"block-permutation"}},
      {Mistake::sum_in_changing_order, "sum_in_changing_order", {"determinism"}},
      {Mistake::sum_order_of_longest, "sum_order_of_longest", {"batch-independence"}},
      {Mistake::last_token_dropped, "last_token_dropped", {"single-token"}},
      {Mistake::last_page_dropped, "last_page_dropped", {"reference"}},
      {Mistake::token_512_dropped, "token_512_dropped", {"reference", "partition-invariance"}},
      {Mistake::longest_length_for_all,
       "longest_length_for_all",
       {"reference", "batch-independence"}},
      {Mistake::tail_not_masked, "tail_not_masked", {"tail-isolation", "convexity"}},
      {Mistake::tail_weight_zero_times_value, "tail_weight_zero_times_value", {"tail-isolation"}},
      {Mistake::tail_weighs_exp_of_zero,
       "tail_weighs_exp_of_zero",
       {"reference", "probability-mass"}},
      {Mistake::kv_head_modulo, "kv_head_modulo", {"head-isolation"}},
      {Mistake::head_stride_of_16, "head_stride_of_16", {"head-isolation"}},
      {Mistake::query_of_sequence_0, "query_of_sequence_0", {"reference"}},
      {Mistake::x_of_scalar_type, "x_of_scalar_type", {"reference"}},
      {Mistake::no_scale, "no_scale", {"reference"}},
      {Mistake::v_scale_dropped, "v_scale_dropped", {"reference", "fp8-scale"}},
      {Mistake::k_scale_for_values, "k_scale_for_values", {"reference", "fp8-scale"}},
      {Mistake::alibi_sign, "alibi_sign", {"reference", "alibi"}},
      {Mistake::alibi_off_by_one, "alibi_off_by_one", {"reference", "alibi"}},
      {Mistake::sparsity_ignored, "sparsity_ignored", {"reference", "block-sparse"}},
      {Mistake::stripe_by_kv_head, "stripe_by_kv_head", {"reference", "block-sparse"}},
      {Mistake::no_maximum, "no_maximum", {"large-logits", "shift-invariance"}},
      {Mistake::maximum_starts_at_zero,
       "maximum_starts_at_zero",
       {"reference", "shift-invariance"}},
      {Mistake::maximum_starts_at_minus_1e4, "maximum_starts_at_minus_1e4", {"large-logits"}},
      {Mistake::logits_in_f16, "logits_in_f16", {"large-logits"}},
      {Mistake::sum_not_divided, "sum_not_divided", {"reference", "probability-mass"}},
      {Mistake::dimensions_past_64_unwritten,
       "dimensions_past_64_unwritten",
       {"writes-only-output"}},
      {Mistake::empty_sequence_divided, "empty_sequence_divided", {"empty-sequence"}},
      {Mistake::empty_sequence_unwritten, "empty_sequence_unwritten", {"empty-sequence"}},
      {Mistake::added_to_output, "added_to_output", {"writes-only-output"}},
      {Mistake::written_past_output, "written_past_output", {"writes-only-output"}},
      {Mistake::tail_cleared_in_cache, "tail_cleared_in_cache", {"writes-only-output"}},
      {Mistake::lse_unwritten, "lse_unwritten", {"reference"}},
      {Mistake::statistics_shifted, "statistics_shifted", {"reference", "partition-invariance"}},
      {Mistake::maximum_unwritten, "maximum_unwritten", {"reference"}},
      {Mistake::sum_inverted, "sum_inverted", {"reference"}},
      {Mistake::partition_maximum_running, "partition_maximum_running", {"partition-invariance"}},
      {Mistake::partition_sum_counts_tail, "partition_sum_counts_tail", {"partition-invariance"}},
      {Mistake::partition_output_not_divided,
       "partition_output_not_divided",
       {"partition-invariance"}},
      {Mistake::left_out_partition_unwritten,
       "left_out_partition_unwritten",
       {"partition-invariance"}},
      {Mistake::page_too_many_attended, "page_too_many_attended", {"table-padding", "convexity"}},
      {Mistake::last_value_dropped, "last_value_dropped", {"constant-value", "probability-mass"}},
      {Mistake::first_value_doubled, "first_value_doubled", {"constant-value", "convexity"}},
      {Mistake::keys_ignored, "keys_ignored", {"reference"}},
      {Mistake::alibi_ignored, "alibi_ignored", {"alibi"}},
      {Mistake::position_bias_unasked, "position_bias_unasked", {"token-order"}},
      {Mistake::sum_not_rescaled, "sum_not_rescaled", {"probability-mass"}},
      {Mistake::partitions_not_rescaled, "partitions_not_rescaled", {"partition-invariance"}},
      {Mistake::table_ignored_for_keys, "table_ignored_for_keys", {"block-permutation"}},
      {Mistake::table_ignored_for_values, "table_ignored_for_values", {"block-permutation"}},
      {Mistake::dot_of_lane_0, "dot_of_lane_0", {"reference"}},
      {Mistake::dot_of_page, "dot_of_page", {"reference"}},
      {Mistake::sum_of_lane_0, "sum_of_lane_0", {"probability-mass"}},
      {Mistake::values_clamped, "values_clamped", {"value-linearity"}},
      {Mistake::output_carried_over, "output_carried_over", {"value-linearity", "determinism"}},
      {Mistake::k_scale_dropped, "k_scale_dropped", {"fp8-scale"}},
      {Mistake::nan_code_as_number, "nan_code_as_number", {"fp8-scale"}},
      {Mistake::query_stride_from_sizes, "query_stride_from_sizes", {"strides"}},
      {Mistake::block_stride_from_sizes, "block_stride_from_sizes", {"strides"}},
      {Mistake::value_strides_of_keys, "value_strides_of_keys", {"strides"}},
      {Mistake::address_in_32_bits, "address_in_32_bits", {"wide-address"}},
  };
  return all;
}

Stage plain_stage(Mistake mistake, const std::vector<ScalarType>& scalars) {
  Stage stage;
  stage.number = 99;
  stage.name = "plain";
  stage.idea = "attention in plain C++";
  stage.supports = {
      scalars,
      {CacheType::f32, CacheType::f16, CacheType::bf16, CacheType::e4m3, CacheType::e5m2},
      {32, 64, 80, 96, 112, 120, 128, 192, 256},
      {8, 16, 32}};
  for (const Invariant& invariant : invariants()) stage.promises.push_back(invariant.id);
  stage.arithmetic.lanes_per_sum = 1;  // one loop for everything, in f32
  stage.plan = [](const DecodeShape& shape) {
    LaunchPlan plan{.grid_x = shape.num_heads, .grid_y = shape.num_seqs};
    if (shape.variant != KernelVariant::v2) return plan;
    plan.partitions = num_partitions(shape.max_seq_len, shape.partition_size);
    plan.workspace_bytes = PartitionWorkspace::bytes(shape.num_seqs, shape.num_heads,
                                                     shape.head_size, plan.partitions);
    return plan;
  };
  stage.run = function_of(mistake, std::make_integer_sequence<int, kCount>());
  return stage;
}

}  // namespace paged::testing
