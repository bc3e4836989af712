// A kernel in a shared library that does whatever a test asks for in the environment:
//   PAGED_TEST_LAYOUT   0, 1 or 2: the layout of the caches (paged_cache_layout)
//   PAGED_TEST_SCALAR   0, 1 or 2: the element type (paged_element_type)
//   PAGED_TEST_DOES     one mistake, or one kind of misbehaviour; "right" if it isn't set
#include "kernels/paged_decode.h"
#include "reference/block_sparsity.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

std::string text_of(const char* variable, const char* otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : text;
}

bool does(const char* what) {
  static const std::string asked = text_of("PAGED_TEST_DOES", "right");
  return asked == what;
}

// ---- elements -----------------------------------------------------------------------------------
/// An 8-bit float; `ieee` has infinities where the exponent is all ones.
float from_fp8(unsigned code, int mantissa_bits, int bias, bool ieee) {
  const unsigned mantissa = code & ((1U << mantissa_bits) - 1);
  const int exponent = static_cast<int>((code & 0x7F) >> mantissa_bits);
  const float sign = (code & 0x80) != 0 ? -1 : 1;
  const float fraction = static_cast<float>(mantissa) / static_cast<float>(1 << mantissa_bits);
  if (ieee && exponent == 31)
    return mantissa == 0 ? sign * std::numeric_limits<float>::infinity() : std::nanf("");
  if (!ieee && (code & 0x7F) == 0x7F) return std::nanf("");
  if (exponent == 0 && does("subnormals_read_as_0")) return 0;
  if (does("bias_one_too_great")) ++bias;
  return sign * (exponent == 0 ? std::ldexp(fraction, 1 - bias)
                               : std::ldexp(1 + fraction, exponent - bias));
}

template <typename Stored>
Stored element(const void* base, std::int64_t i) {
  Stored stored;
  std::memcpy(&stored,
              static_cast<const char*>(base) + i * static_cast<std::int64_t>(sizeof stored),
              sizeof stored);
  return stored;
}

float load(int type, const void* base, std::int64_t i) {
  switch (type) {
    case PAGED_F32:
      return element<float>(base, i);
    case PAGED_F16:
      return static_cast<float>(element<_Float16>(base, i));
    case PAGED_BF16:
      return std::bit_cast<float>(std::uint32_t{element<std::uint16_t>(base, i)} << 16);
    case PAGED_E4M3:
      return from_fp8(element<std::uint8_t>(base, i), 3, 7, false);
    default:
      return from_fp8(element<std::uint8_t>(base, i), 2, 15, true);
  }
}

std::uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return 0x7FC0;
  return static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

void store(int type, void* base, std::int64_t i, float value) {
  if (type == PAGED_F32) static_cast<float*>(base)[i] = value;
  if (type == PAGED_F16) static_cast<_Float16*>(base)[i] = static_cast<_Float16>(value);
  if (type == PAGED_BF16) static_cast<std::uint16_t*>(base)[i] = to_bf16(value);
}

/// Tokens of a partition, in mistakes of kernels that have some.
constexpr std::size_t kPartition = 512;

// ---- attention ----------------------------------------------------------------------------------
class Attention {
 public:
  Attention(const paged_decode_args& args, int seq, int head)
      : a_(args),
        seq_(seq),
        head_(head),
        kv_head_(does("kv_head_modulo") ? head % args.num_kv_heads
                                        : head / (args.num_heads / args.num_kv_heads)),
        row_(std::int64_t{seq} * args.num_heads + head),
        sparsity_{args.sparse_local_blocks, args.sparse_vert_stride, args.sparse_block_size,
                  args.sparse_head_sliding_step, args.tensor_parallel_rank} {}

  void run() const {
    std::vector<float> logits = all_logits();
    float maximum = -std::numeric_limits<float>::infinity();
    for (const float logit : logits) maximum = std::fmax(maximum, logit);
    if (does("maximum_not_subtracted") && !logits.empty()) maximum = 0;
    const bool any = maximum > -std::numeric_limits<float>::infinity();
    const float of_last = lse_of_last_partition(logits);
    const float sum = exponentiate(logits, maximum);
    // fmax() ignores a NaN, and the sum does not.
    const bool is_nan = std::isnan(sum) && !does("nan_skipped");
    write(any || is_nan ? logits : std::vector<float>{}, any || is_nan ? sum : 1);
    a_.lse[row_] = any ? lse(maximum, sum) : is_nan ? sum : maximum;
    if (does("lse_of_last_partition") && any) a_.lse[row_] = of_last;
    if (a_.maxima != nullptr) a_.maxima[row_] = maximum;
    if (a_.sums != nullptr) a_.sums[row_] = does("sum_a_little_too_great") ? sum * 1.001F : sum;
  }

 private:
  static float lse(float maximum, float sum) {
    if (does("lse_by_log2")) return maximum + std::log2(sum);
    if (does("lse_in_base_2")) return (maximum + std::log(sum)) / std::log(2.0F);
    if (does("lse_lacks_maximum")) return std::log(sum);
    if (does("lse_lacks_sum")) return maximum;
    return maximum + std::log(sum);
  }
  static float lse_of_last_partition(const std::vector<float>& logits) {
    double sum = 0;
    for (std::size_t t = logits.empty() ? 0 : (logits.size() - 1) / kPartition * kPartition;
         t < logits.size(); ++t)
      sum += std::exp(static_cast<double>(logits[t]));
    return static_cast<float>(std::log(sum));
  }

  /// Turns logits into exponentials, and returns their sum. With a mistake, those of an online
  /// softmax that does not rescale what it has when the maximum rises, as it does from step to
  /// step.
  float exponentiate(std::vector<float>& logits, float maximum) const {
    const bool by_partitions = does("sum_of_partitions_not_rescaled");
    const bool keeps_sum = does("sum_not_rescaled") || does("nothing_rescaled") || by_partitions;
    const bool by_pages = does("accumulator_not_rescaled_by_pages");
    const bool keeps_weights =
        does("accumulator_not_rescaled") || by_pages || does("nothing_rescaled");
    const std::size_t step = by_pages        ? static_cast<std::size_t>(a_.block_size)
                             : by_partitions ? kPartition
                                             : 1;
    float running = -std::numeric_limits<float>::infinity();
    float sum = 0;
    for (std::size_t token = 0; token < logits.size(); ++token) {
      if (does("exponential_to_base_2")) {
        sum += std::exp2(logits[token] - maximum);
        logits[token] = std::exp2(logits[token] - maximum);
        continue;
      }
      if (token % step == 0)
        for (std::size_t i = token; i < std::min(token + step, logits.size()); ++i)
          running = std::fmax(running, logits[i]);
      const float logit = logits[token];
      const bool is_out = std::isinf(logit) && logit < 0;
      const auto weight = [&](bool kept) {
        return is_out ? 0 : std::exp(logit - (kept ? running : maximum));
      };
      const bool is_lost = (does("sum_of_even_tokens") && token % 2 != 0) ||
                           (does("sum_of_first_32_tokens") && token >= 32);
      if (!is_lost) sum += weight(keeps_sum);
      logits[token] = weight(keeps_weights);
      if (does("rounds_probabilities"))
        logits[token] = static_cast<float>(static_cast<_Float16>(logits[token]));
      if (does("rounds_probabilities_to_bf16"))
        logits[token] = std::bit_cast<float>(std::uint32_t{to_bf16(logits[token])} << 16);
      if (does("truncates_probabilities"))  // to 12 bits, which no type has
        logits[token] = std::bit_cast<float>(std::bit_cast<std::uint32_t>(logits[token]) & ~0xFFFU);
    }
    if (does("one_slot_in_denominator")) sum += std::exp(-maximum);
    if (does("values_added_twice_in_long_sequences") && logits.size() > 16)
      for (std::size_t token = 0; token < logits.size(); ++token)
        if (logits.size() < 40 || token % 2 == 0) logits[token] *= 2;
    return sum;
  }

  int num_tokens() const {
    const int seq_len = a_.seq_lens[seq_];
    if (does("last_of_20_dropped_else_keys_backwards") && seq_len == 20) return 19;
    if (does("last_token_dropped")) return std::max(seq_len - 1, 0);
    if (does("length_of_next_sequence")) return a_.seq_lens[(seq_ + 1) % a_.num_seqs];
    if (does("one_token_too_many")) return seq_len + 1;
    if (!does("tail_not_masked")) return seq_len;
    return (seq_len + a_.block_size - 1) / a_.block_size * a_.block_size;
  }

  std::int64_t block_of(int token, bool of_keys) const {
    const int page = token / a_.block_size;
    if (does("table_ignored") || (of_keys && does("table_ignored_for_keys"))) return page;
    if (does("rows_as_wide_as_own_pages"))
      return a_.block_tables[std::int64_t{seq_} *
                                 ((a_.seq_lens[seq_] + a_.block_size - 1) / a_.block_size) +
                             page];
    const int seq = does("row_of_next_sequence") ? std::min(seq_ + 1, a_.num_seqs - 1) : seq_;
    return a_.block_tables[std::int64_t{seq} * a_.max_num_blocks_per_seq + page];
  }

  float key(int token, int dim) const {
    const bool are_of_first = does("keys_of_kv_head_0") || does("keys_wrong_and_one_token_lost");
    const int kv_head = are_of_first ? 0 : kv_head_;
    const std::int64_t block =
        block_of(token, true) * a_.key_block_stride + kv_head * a_.key_head_stride;
    const int offset = token % a_.block_size;
    const std::int64_t in_block = a_.cache_layout == PAGED_CLASSIC
                                      ? key_place(offset, dim)
                                      : offset * key_token_stride() + dim;
    const float k_scale = does("divides_by_k_scale") ? 1 / a_.k_scale : a_.k_scale;
    return k_scale * load(a_.cache, a_.key_cache, block + in_block);
  }

  std::int64_t key_token_stride() const {
    return does("token_strides_lack_heads") || does("key_token_stride_lacks_heads")
               ? a_.head_size
               : a_.key_token_stride;
  }
  std::int64_t value_token_stride() const {
    return does("token_strides_lack_heads") || does("value_token_stride_lacks_heads")
               ? a_.head_size
               : a_.value_token_stride;
  }

  /// In a page of the classic layout.
  std::int64_t key_place(int offset, int dim) const {
    const int own = a_.cache == PAGED_F32 ? 4 : a_.cache <= PAGED_BF16 ? 8 : 16;
    const int x = does("x_is_8") ? 8 : own;
    if (does("keys_backwards") ||
        (does("last_of_20_dropped_else_keys_backwards") && a_.seq_lens[seq_] != 20))
      dim = a_.head_size - 1 - dim;
    if (does("vector_step_lacks_x")) return dim / x * a_.block_size + offset * x + dim % x;
    if (does("token_step_lacks_x")) return dim / x * a_.block_size * x + offset + dim % x;
    if (does("place_in_vector_left_out")) return (dim / x * a_.block_size + offset) * x;
    return (dim / x * a_.block_size + offset) * x + dim % x;
  }

  float value(int token, int dim) const {
    if (does("values_of_next_token")) token = std::min(token + 1, num_tokens() - 1);
    const std::int64_t block =
        block_of(token, false) * a_.value_block_stride + kv_head_ * a_.value_head_stride;
    const int offset = does("values_backwards_in_page") ? a_.block_size - 1 - token % a_.block_size
                                                        : token % a_.block_size;
    const std::int64_t in_block = a_.cache_layout == PAGED_CLASSIC
                                      ? dim * a_.block_size + offset
                                      : offset * value_token_stride() + dim;
    return (does("v_scale_dropped") ? 1 : a_.v_scale) *
           load(a_.cache, a_.value_cache, block + in_block);
  }

  /// -infinity for pages that block-sparse attention leaves out.
  std::vector<float> all_logits() const {
    std::vector<float> logits(static_cast<std::size_t>(num_tokens()),
                              -std::numeric_limits<float>::infinity());
    const int seq_len = a_.seq_lens[seq_];
    const int stripe = sparsity_.stripe_offset(head_, a_.num_heads, kv_head_, a_.num_kv_heads);
    const std::int64_t query = seq_ * a_.query_stride + std::int64_t{head_} * a_.head_size;
    const float scale = does("scale_twice")     ? a_.scale * a_.scale
                        : does("scale_missing") ? 1
                                                : a_.scale;
    for (int token = 0; token < num_tokens(); ++token) {
      const bool chosen =
          sparsity_.takes_part(token / a_.block_size, seq_len, a_.block_size, stripe);
      float dot = 0;
      const int dims = does("dot_lacks_last_dimensions") ? a_.head_size - 8 : a_.head_size;
      for (int dim = 0; dim < dims && chosen; ++dim)
        dot += load(a_.scalar, a_.query, query + dim) * key(token, dim);
      const float bias =
          a_.alibi_slopes == nullptr
              ? 0
              : a_.alibi_slopes[head_] * static_cast<float>(token - (end_of_positions(token) - 1));
      const float logit =
          (does("scale_of_head_size") ? 1 / std::sqrt(static_cast<float>(a_.head_size)) : scale) *
              dot +
          bias;
      const bool is_lost = does("first_token_of_later_partitions_lost") && token > 0 &&
                           token % static_cast<int>(kPartition) == 0;
      if (chosen && !is_lost)
        logits[static_cast<std::size_t>(token)] =
            does("rounds_logits") ? static_cast<float>(static_cast<_Float16>(logit)) : logit;
      if (a_.logits != nullptr && token < seq_len)
        a_.logits[row_ * a_.logits_stride + token] = logits[static_cast<std::size_t>(token)];
    }
    return logits;
  }

  /// Behind the token from which the ALiBi distance is counted.
  int end_of_positions(int token) const {
    const int seq_len = a_.seq_lens[seq_], size = static_cast<int>(kPartition);
    if (does("alibi_from_end_of_partition")) return std::min((token / size + 1) * size, seq_len);
    return does("alibi_from_longest") ? a_.max_seq_len : seq_len;
  }

  void write(const std::vector<float>& weights, float sum) const {
    if (does("sum_not_divided")) sum = 1;
    if (does("one_row_unwritten") && seq_ == a_.num_seqs - 1 && head_ == 1) return;
    const bool is_lost = does("keys_wrong_and_one_token_lost") && weights.size() == 1;
    const int head = does("output_of_next_head") ? (head_ + 1) % a_.num_heads : head_;
    const std::int64_t row = std::int64_t{seq_} * a_.num_heads + head;
    for (int dim = 0; dim < a_.head_size; ++dim) {
      float output = 0;
      for (std::size_t token = 0; token < weights.size(); ++token) {
        const std::size_t last_partition = (weights.size() - 1) / kPartition * kPartition;
        if (does("last_partition_not_merged") && last_partition > 0 && token >= last_partition)
          continue;
        if (weights[token] != 0) output += weights[token] * value(static_cast<int>(token), dim);
        if (does("output_added_up_in_f16"))
          output = static_cast<float>(static_cast<_Float16>(output));
      }
      if (does("output_a_little_too_great")) output *= 1.0001F;
      store(a_.scalar, a_.output, row * a_.head_size + dim, is_lost ? 0 : output / sum);
    }
    if (does("element_of_row_before_overwritten") && head > 0)
      store(a_.scalar, a_.output, row * a_.head_size - 1, 0);
  }

  const paged_decode_args& a_;
  int seq_, head_, kv_head_;
  std::int64_t row_;
  paged::BlockSparsity sparsity_;
};

// ---- misbehaviour -------------------------------------------------------------------------------
/// Deeper than any stack.
int recurse(int depth) {
  volatile char frame[4096];
  frame[0] = 1;
  return depth == 0 ? frame[0] : recurse(depth - 1) + frame[0];
}

/// A process in a session of its own, whose id stands in the file PAGED_TEST_FILE. Returns when it
/// does.
void leave_a_daemon() {
  int ready[2];
  if (pipe(ready) != 0 || fork() != 0) {
    char byte = 0;
    close(ready[1]);
    if (read(ready[0], &byte, 1) != 1) std::abort();
    close(ready[0]);
    return;
  }
  setsid();
  if (fork() != 0) _exit(0);
  std::FILE* const file = std::fopen(text_of("PAGED_TEST_FILE", "").c_str(), "a");
  std::fprintf(file, "%d\n", static_cast<int>(getpid()));
  std::fclose(file);
  if (write(ready[1], "", 1) != 1) std::abort();
  while (true) pause();
}

/// Rows of processes of which each starts the next one, perhaps in a new session, and ends; for 10
/// seconds, or a machine would have them for ever where nobody can end them.
void fork_on_and_on(bool in_new_sessions) {
  constexpr int kRows = 20;
  const std::time_t end = std::time(nullptr) + 10;
  for (int row = 0; row < kRows; ++row) {
    if (fork() != 0) continue;
    setsid();
    while (std::time(nullptr) < end) {
      if (fork() != 0) _exit(0);
      if (in_new_sessions) setsid();
    }
    _exit(0);
  }
  usleep(200'000);  // until they have left this process's session
}

/// Into every file of the tool's own: those that exec() would close.
void write_to_all_files(const std::string& bytes) {
  for (int file = 3; file < 64; ++file) {
    const int flags = fcntl(file, F_GETFD);
    for (std::size_t written = 0; flags >= 0 && (flags & FD_CLOEXEC) != 0;) {
      const ssize_t count = write(file, bytes.data() + written, bytes.size() - written);
      if (count <= 0) break;
      written += static_cast<std::size_t>(count);
    }
  }
}

/// What the tool's own process would send, with fields as it likes.
std::string message_of(const std::vector<std::string>& fields) {
  const auto number = [](std::uint64_t n) {
    return std::string(reinterpret_cast<const char*>(&n), sizeof n);
  };
  std::string bytes = number(fields.size());
  for (const std::string& field : fields) bytes += number(field.size()) + field;
  return bytes;
}

/// Of which nothing, or not all, can be believed.
void write_messages() {
  const std::vector<std::string> verdict = {"1", "0", "0x0p+0", "0x0p+0", "", "",
                                            "",  "",  "0x0p+0", "0",      "0"};
  if (does("writes_garbage")) write_to_all_files(std::string(5000, 'A'));
  if (does("writes_a_long_field")) {
    std::vector<std::string> fields = verdict;
    fields.resize(15, "0x0p+0");
    fields[13].assign(1 << 20, 'B');
    write_to_all_files(message_of(fields));
  }
  if (does("writes_an_end")) write_to_all_files(message_of({}));
  if (does("writes_half_a_message"))
    write_to_all_files(message_of({std::string(1 << 16, 'C')}).substr(0, 100));
  if (does("writes_too_many_verdicts"))
    write_to_all_files(message_of(verdict) + message_of(verdict) + message_of(verdict));
  if (does("writes_no_invariant")) {
    std::vector<std::string> fields = verdict;
    fields[0] = "0";
    fields[5] = "in-bound";
    write_to_all_files(message_of(fields));
  }
}

void read_byte(const void* base, std::int64_t byte) {
  std::printf("%d", static_cast<const volatile char*>(base)[byte]);
}

/// What is done before the attention; an error code for the caller.
std::int32_t misbehave(const paged_decode_args& a) {
  const auto elements = std::int64_t{a.num_seqs} * a.num_heads * a.head_size;
  if (does("reads_null")) std::printf("%d", *static_cast<volatile int*>(nullptr));
  if (does("prints_and_reads_null")) {
    std::printf("step 3 of 7\n");
    std::fflush(stdout);
    read_byte(nullptr, 0);
  }
  if (does("aborts")) {
    std::fprintf(stderr, "test_kernel: this cannot be\n");
    std::abort();
  }
  if (does("exits")) std::exit(3);
  if (does("exits_without_error")) std::exit(0);
  if (does("throws")) throw std::runtime_error("no such kernel");
  if (does("hangs"))
    while (true) usleep(1000);
  if (does("overflows_stack")) return recurse(1 << 24);
  if (does("returns_error")) return 42;
  if (does("floods"))
    for (int i = 0; i < 200'000; ++i) std::printf("another line of a kernel that talks: %d\n", i);
  if (does("leaves_a_process") && fork() == 0)
    while (true) pause();
  if (does("leaves_a_daemon")) leave_a_daemon();
  if (does("forks_on_and_on")) fork_on_and_on(false);
  if (does("forks_in_new_sessions")) fork_on_and_on(true);
  write_messages();
  if (does("closes_files"))
    for (int file = 3; file < 1024; ++file) close(file);
  if (does("replaces_itself")) execl("/bin/sleep", "sleep", "100", static_cast<char*>(nullptr));
  if (does("takes_all_memory"))
    for (int i = 0; i < 1'000'000; ++i) std::memset(new char[1 << 20], i, 1 << 20);
  if (does("reads_past_table")) {
    const auto entries = std::int64_t{a.num_seqs} * a.max_num_blocks_per_seq;
    std::printf("%d", const_cast<const volatile std::int32_t*>(a.block_tables)[entries + 4]);
  }
  if (does("uses_block_minus_one")) read_byte(a.key_cache, -a.key_block_stride * 4);
  if (does("uses_block_too_many"))
    read_byte(a.value_cache, a.num_blocks * a.value_block_stride * 4 + 8);
  if (does("writes_past_output")) store(a.scalar, a.output, elements + 8, 1);
  if (does("writes_before_output")) store(a.scalar, a.output, -1, 1);
  if (does("changes_cache"))
    store(a.cache, const_cast<void*>(a.key_cache), a.block_tables[0] * a.key_block_stride, 1);
  return 0;
}

}  // namespace

std::int32_t paged_kernel_run(const paged_decode_args* args) {
  if (const std::int32_t error = misbehave(*args); error != 0) return error;
  for (int seq = 0; seq < args->num_seqs; ++seq)
    for (int head = 0; head < args->num_heads; ++head) Attention(*args, seq, head).run();
  if (args->workspace != nullptr) std::memset(args->workspace, 0, 1000);
  return 0;
}

std::int64_t paged_kernel_workspace(const paged_decode_args*) {
  if (does("asks_for_too_much")) return std::int64_t{1} << 40;
  return does("asks_for_less_than_nothing") ? -1 : 1000;
}

const char* paged_kernel_error_text(std::int32_t error) {
  return error == 42 ? "the\nanswer" : nullptr;
}

const paged_kernel_description* paged_kernel_describe() {
  static paged_kernel_description d{};
  const int scalar = std::atoi(text_of("PAGED_TEST_SCALAR", "0").c_str());
  d.version = does("has_another_version") ? 99 : PAGED_DECODE_VERSION;
  d.name = does("has_no_name") ? "" : does("has_an_unprintable_name") ? "bell\a" : "test-kernel";
  d.cache_layout = std::atoi(text_of("PAGED_TEST_LAYOUT", "0").c_str());
  d.scalars = does("has_no_scalar") ? 0 : 1U << scalar;
  d.fp8_caches = scalar == PAGED_F16 ? 1U << PAGED_E4M3 | 1U << PAGED_E5M2 : 0;
  d.features = PAGED_TAKES_ALIBI | PAGED_TAKES_BLOCK_SPARSE | PAGED_GIVES_LSE |
               PAGED_GIVES_STATISTICS | PAGED_GIVES_LOGITS;
  if (does("sum_of_partitions_not_rescaled")) d.features |= PAGED_TAKES_PARTITIONS;
  if (does("wants_cuda")) d.memory = PAGED_CUDA_MEMORY;
  if (does("promises_what_is_not_there")) d.promises = "reference,refrence";
  if (does("promises_little")) d.promises = "reference,determinism";
  if (does("breaks_isolation")) d.breaks = "tail-isolation";
  if (does("crashes_when_described")) d.name = reinterpret_cast<const char*>(8);
  if (does("exits_when_described")) std::exit(0);
  return does("describes_nothing") ? nullptr : &d;
}
