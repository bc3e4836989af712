#include "tests/harness/mistaken_problem.h"

#include "reference/cache_layout.h"
#include "tests/harness/counted_noun.h"
#include "tests/harness/key_layout_mistakes.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

namespace paged {
namespace {

using Edit = std::function<void(DecodeProblem& problem)>;

/// Collects the mistakes of one (sequence, head).
class Mistakes {
 public:
  Mistakes(const DecodeProblem& problem, int seq, int head, const KernelTraits& traits)
      : problem_(problem),
        traits_(traits),
        seq_(seq),
        head_(head),
        kv_head_(kv_head_of(head, problem.num_heads, problem.num_kv_heads)),
        seq_len_(problem.seq_lens[seq]),
        pages_(num_pages(seq_len_, problem.block_size)) {
    scales();
    queries();
    lengths();
    tables();
    sparsity();
    keys();
    dimensions();
  }
  std::vector<MistakenProblem> take() { return std::move(all_); }

 private:
  MistakenProblem& add(CauseId cause, std::string sentence, Edit edit) {
    std::string rule = sentence;
    all_.push_back({cause, std::move(sentence),
                    [this_problem = &problem_, edit] {
                      DecodeProblem changed = *this_problem;
                      edit(changed);
                      return changed;
                    },
                    std::move(rule)});
    return all_.back();
  }
  /// Of another sequence, head or KV head: which one, the rule leaves open, and some may have none.
  void add_other(CauseId cause, std::string rule, std::string sentence, Edit edit) {
    MistakenProblem& mistake = add(cause, std::move(sentence), std::move(edit));
    mistake.rule = std::move(rule);
    mistake.may_spare = true;
  }

  void scales() {
    add("scale-missing", "the logits are not multiplied by scale",
        [](DecodeProblem& p) { p.scale = 1; });
    other_scales();
    bases_of_exp();
    if (is_fp8(problem_.cache())) {
      const double k_scale = problem_.k_scale;
      add("k-scale", "the keys are divided by k_scale",
          [](DecodeProblem& p) { p.k_scale = 1 / p.k_scale; });
      add("k-scale",
          is_near(k_scale * k_scale, problem_.v_scale)
              ? "the keys are multiplied by k_scale twice, or by v_scale"
              : "the keys are multiplied by k_scale twice",
          [](DecodeProblem& p) { p.k_scale *= p.k_scale; });
      add("k-scale", "the keys are not multiplied by k_scale",
          [](DecodeProblem& p) { p.k_scale = 1; });
      add("k-scale", "the keys are multiplied by v_scale",
          [](DecodeProblem& p) { p.k_scale = p.v_scale; });
      add("scales-swapped", "k_scale and v_scale are swapped", [](DecodeProblem& p) {
        p.k_scale = p.v_scale;
      }).factor = static_cast<double>(problem_.k_scale) / problem_.v_scale;
    }
    if (is_fp8(problem_.cache())) codes();
    if (problem_.alibi_slopes.empty()) return;
    add("alibi-sign", "the ALiBi bias has the wrong sign: it favours old tokens",
        [](DecodeProblem& p) {
          for (float& slope : p.alibi_slopes) slope = -slope;
        });
    add("alibi-missing", "the ALiBi bias is left out",
        [](DecodeProblem& p) { p.alibi_slopes.clear(); });
    for (int other = 0; other < problem_.num_heads; ++other)
      if (other != head_)
        add_other("alibi-slope", "slope of another head",
                  "the ALiBi slope is that of head " + std::to_string(other),
                  [other, head = head_](DecodeProblem& p) {
                    p.alibi_slopes[head] = p.alibi_slopes[other];
                  });
  }

  /// Codes of 8-bit floats that are converted wrongly, of keys and of values.
  void add_codes(std::string sentence, double factor, std::function<double(double)> converted) {
    MistakenProblem& mistake = add(
        "fp8-codes", std::move(sentence),
        [=, seq = seq_, kv_head = kv_head_, pages = pages_](DecodeProblem& p) {
          const DecodeProblem given = p;
          p.key_cache = make_key_cache(CacheType::f32, given.num_blocks(), p.num_kv_heads,
                                       p.head_size, p.block_size);
          p.value_cache = make_value_cache(CacheType::f32, given.num_blocks(), p.num_kv_heads,
                                           p.head_size, p.block_size);
          for_each_key(given, seq, pages, [&](std::int64_t block, int offset, int dim) {
            const double key = given.key_cache.read(key_index(given, block, kv_head, offset, dim));
            const double value =
                given.value_cache.read(value_index(given, block, kv_head, offset, dim));
            p.key_cache.write(key_index(p, block, kv_head, offset, dim),
                              converted(key) * given.k_scale);
            p.value_cache.write(value_index(p, block, kv_head, offset, dim),
                                converted(value) * given.v_scale);
          });
          p.k_scale = p.v_scale = 1;
        });
    mistake.factor = factor;
    mistake.has_values = true;
  }

  void codes() {
    const double least_normal = problem_.cache() == CacheType::e4m3 ? 0x1p-6 : 0x1p-14;
    const std::string type(name_of(problem_.cache()));
    add_codes("subnormal codes of " + type + " are read as 0", 1,
              [=](double value) { return std::abs(value) < least_normal ? 0 : value; });
    for (const double factor : {0.5, 2.0}) {
      const std::string text = "the exponents of " + type + " are read one too " +
                               (factor < 1 ? "small" : "great") + " (a wrong bias)";
      add_codes(text, factor, [=](double value) { return factor * value; });
      add_codes(text + ", but for subnormal codes", factor, [=](double value) {
        return std::abs(value) < least_normal ? value : factor * value;
      });
    }
  }

  static bool is_near(double a, double b) { return std::abs(a - b) <= 1e-6 * std::abs(b); }

  /// Scales that are made of the head size, whatever the caller passes.
  void other_scales() {
    const double head_size = problem_.head_size;
    if (!is_near(problem_.scale, 1 / std::sqrt(head_size)))
      add("scale-missing",
          "the logits are multiplied by 1 / sqrt(head_size), whatever scale is passed",
          [=](DecodeProblem& p) { p.scale = static_cast<float>(1 / std::sqrt(head_size)); });
    if (!is_scale_squared_of_head_size())
      add("scale-missing", "the logits are multiplied by 1 / head_size, not by scale",
          [=](DecodeProblem& p) { p.scale = static_cast<float>(1 / head_size); });
  }
  bool is_scale_squared_of_head_size() const {
    return is_near(double{problem_.scale} * problem_.scale, 1.0 / problem_.head_size);
  }

  void bases_of_exp() {
    const auto multiply_logits = [](double factor) {
      return [=](DecodeProblem& p) {
        p.scale = static_cast<float>(p.scale * factor);
        for (float& slope : p.alibi_slopes) slope = static_cast<float>(slope * factor);
      };
    };
    add("base-of-exponential",
        "the exponential is one to base 2: exp2() needs logits that are multiplied by log2(e)",
        multiply_logits(std::numbers::ln2));
    add("base-of-exponential",
        "logits are multiplied by log2(e), as exp2() needs them, and the exponential is exp()",
        multiply_logits(std::numbers::log2e));
  }

  void queries() {
    add("keys-ignored", "the keys, or the query, do not count, so that all tokens weigh the same",
        [](DecodeProblem& p) { p.query.fill(0); });
    if (problem_.scale != 1)
      add("scale-twice",
          is_scale_squared_of_head_size()
              ? "the logits are multiplied by scale twice, or by 1 / head_size"
              : "the logits are multiplied by scale twice",
          [](DecodeProblem& p) { p.scale *= p.scale; });
    const auto use_query = [&](int other_seq, int other_head) {
      return [=, seq = seq_, head = head_](DecodeProblem& p) {
        const auto row = [&](int s, int h) {
          return (static_cast<std::int64_t>(s) * p.num_heads + h) * p.head_size;
        };
        for (int dim = 0; dim < p.head_size; ++dim)
          p.query.copy_element(row(seq, head) + dim, p.query, row(other_seq, other_head) + dim);
      };
    };
    for (int other = 0; other < problem_.num_seqs(); ++other)
      if (other != seq_)
        add_other("wrong-query", "query of another sequence",
                  "the query is that of sequence " + std::to_string(other),
                  use_query(other, head_));
    for (int other = 0; other < problem_.num_heads; ++other)
      if (other != head_)
        add_other("wrong-query", "query of another head",
                  "the query is that of head " + std::to_string(other), use_query(seq_, other));
    const int swapped = head_ * problem_.num_heads + seq_;
    const int rows = problem_.num_seqs() * problem_.num_heads;
    if (swapped < rows && swapped != seq_ * problem_.num_heads + head_)
      add("wrong-query", "strides of sequence and head are swapped in the query",
          use_query(swapped / problem_.num_heads, swapped % problem_.num_heads));
  }

  /// Keeps of the query those dimensions of which `keep` says so.
  void add_dimensions(std::string sentence, std::function<bool(int dim)> keep) {
    add("dimensions-lost", std::move(sentence), [keep, seq = seq_, head = head_](DecodeProblem& p) {
      const std::int64_t row = (static_cast<std::int64_t>(seq) * p.num_heads + head) * p.head_size;
      for (int dim = 0; dim < p.head_size; ++dim)
        if (!keep(dim)) p.query.write(row + dim, 0);
    });
  }

  /// Parts of the dot product as thread groups deal it out: 1, 2 or 4 lanes, vectors in turn.
  void dimensions() {
    const int lanes = problem_.block_size >= 32 ? 1 : 32 / problem_.block_size;
    const int vector = std::max(16 / (lanes * static_cast<int>(size_in_bytes(problem_.scalar))), 1);
    for (int lane = 0; lane < lanes && lanes > 1; ++lane)
      add_dimensions(
          traits_.has_warps
              ? "the lanes of a thread group are not added: dot products have the dimensions of "
                "lane " +
                    std::to_string(lane) + " alone"
              : "dot products have those dimensions alone for which dim / " +
                    std::to_string(vector) + " % " + std::to_string(lanes) +
                    " == " + std::to_string(lane),
          [=](int dim) { return dim / vector % lanes == lane; });
    for (int lost = 0; lost < vector; ++lost)
      add_dimensions("a partial sum of the dot products is lost: that of every " +
                         std::to_string(vector) + "th dimension from " + std::to_string(lost) +
                         " on",
                     [=](int dim) { return dim % vector != lost; });
    for (int lost = 1; lost <= problem_.head_size / 2; lost *= 2)
      add_dimensions(lost == 1
                         ? "the dot products lack the last dimension"
                         : "the dot products lack the last " + std::to_string(lost) + " dimensions",
                     [lost, dims = problem_.head_size](int dim) { return dim < dims - lost; });
    if (lanes == 1) return;
    // Lanes take neighbouring parts of the key, and of the query every `lanes`-th vector.
    add("dimensions-mixed", "dimensions of the query meet other dimensions of the key",
        [=, seq = seq_, head = head_](DecodeProblem& p) {
          const Tensor query = p.query;
          const std::int64_t row =
              (static_cast<std::int64_t>(seq) * p.num_heads + head) * p.head_size;
          const int part = p.head_size / lanes;
          for (int dim = 0; dim < p.head_size; ++dim) {
            const int of_query = (dim % part / vector * lanes + dim / part) * vector + dim % vector;
            p.query.copy_element(row + dim, query, row + of_query);
          }
        });
  }

  /// Whether the row of the sequence has blocks for so many tokens.
  bool has_blocks_for(int seq_len) const {
    const int pages = num_pages(seq_len, problem_.block_size);
    const std::int32_t* row = problem_.block_table(seq_);
    return pages <= problem_.max_num_blocks_per_seq &&
           std::all_of(row, row + pages, [&](std::int32_t block) {
             return block >= 0 && block < problem_.num_blocks();
           });
  }

  /// Also of the length there is: that rule then says that the sequence is right.
  void add_length(CauseId cause, std::string rule, std::string sentence, int seq_len) {
    if (seq_len < 0 || !has_blocks_for(seq_len)) return;
    MistakenProblem& mistake =
        add(cause, std::move(sentence),
            [seq_len, seq = seq_](DecodeProblem& p) { p.seq_lens[seq] = seq_len; });
    mistake.rule = std::move(rule);
    mistake.changes_logits = false;
  }

  void lengths() {
    const int block_size = problem_.block_size;
    const int in_last_page = seq_len_ - (pages_ - 1) * block_size;
    add_length("last-token-dropped", "last token", "the last token is left out", seq_len_ - 1);
    add_length("last-token-dropped", "last of several tokens",
               "the last of several tokens is left out", std::max(seq_len_ - 1, 1));
    add_length("tail-not-masked", "tail",
               "the tail of the last page is not masked: " +
                   (pages_ * block_size - seq_len_ == 1
                        ? "token " + std::to_string(seq_len_) + " takes part"
                        : "tokens " + std::to_string(seq_len_) + " to " +
                              std::to_string(pages_ * block_size - 1) + " take part"),
               pages_ * block_size);
    const std::string page_missing =
        "one page too few: the last one, with " + counted(in_last_page, "token") + ", is left out";
    add_length("page-missing", "last page", page_missing, (pages_ - 1) * block_size);
    add_length("page-missing", "last page that is not full", page_missing,
               seq_len_ / block_size * block_size);
    add_length("page-too-many", "page past the last", "one page too many takes part",
               (pages_ + 1) * block_size);
    add_length("one-token-too-many", "token past the end", "a token past the end takes part",
               seq_len_ + 1);
    const int longest = problem_.shape().max_seq_len;
    add_length("length-of-longest", "length of the longest",
               "the length is that of the longest sequence, " + std::to_string(longest), longest);
    const int sequences = problem_.num_seqs();
    for (const auto& [step, which] : {std::pair(1, "next"), std::pair(sequences - 1, "previous")})
      add_length("wrong-length", std::string("length of the ") + which,
                 std::string("the length is that of the ") + which + " sequence",
                 problem_.seq_lens[(seq_ + step) % sequences]);
    for (int other = 0; other < sequences; ++other) {
      const std::string text = "the length is that of sequence " + std::to_string(other);
      add_length("wrong-length", text, text, problem_.seq_lens[other]);
    }
  }

  MistakenProblem* add_row(CauseId cause, std::string sentence, std::vector<std::int32_t> row) {
    row.resize(pages_, -1);
    for (std::int32_t block : row)
      if (block < 0 || block >= problem_.num_blocks()) return nullptr;
    MistakenProblem& mistake = add(cause, std::move(sentence), [row, seq = seq_](DecodeProblem& p) {
      std::copy(row.begin(), row.end(),
                p.block_tables.begin() + std::int64_t{seq} * p.max_num_blocks_per_seq);
    });
    mistake.changes_logits = false;
    return &mistake;
  }

  void tables() {
    const auto width = [](int entries) {
      return std::to_string(entries) + (entries == 1 ? " entry" : " entries");
    };
    for (int other = 0; other < problem_.num_seqs(); ++other) {
      const std::int32_t* row = problem_.block_table(other);
      if (other == seq_) continue;
      if (MistakenProblem* mistake =
              add_row("wrong-table-row", row_is_that_of(other), {row, row + pages_})) {
        mistake->rule = "row of another sequence";
        mistake->may_spare = true;
      }
    }
    // Rows taken to be as wide as the longest sequence needs.
    const auto own = problem_.block_tables.begin() + std::int64_t{seq_} * pages_;
    if (pages_ <= problem_.max_num_blocks_per_seq)
      if (MistakenProblem* mistake =
              add_row("wrong-table-row",
                      "rows of the block table are taken to be " + width(pages_) +
                          " wide, as this sequence needs, and they are " +
                          std::to_string(problem_.max_num_blocks_per_seq),
                      {own, own + pages_}))
        mistake->rule = "rows as wide as the own sequence needs";
    const int needed = num_pages(problem_.shape().max_seq_len, problem_.block_size);
    const auto first = problem_.block_tables.begin() + std::int64_t{seq_} * needed;
    if (needed < problem_.max_num_blocks_per_seq)
      add_row("wrong-table-row",
              "rows of the block table are taken to be " + width(needed) + " wide, and they are " +
                  std::to_string(problem_.max_num_blocks_per_seq),
              {first, first + pages_});
    std::vector<std::int32_t> identity(pages_);
    std::iota(identity.begin(), identity.end(), 0);
    add_row("table-ignored", kTableIsIgnored, identity);
    std::vector<std::int32_t> sorted(problem_.block_table(seq_),
                                     problem_.block_table(seq_) + pages_);
    std::sort(sorted.begin(), sorted.end());
    add_row("address-order", "pages are taken in the order of their addresses, not of the table",
            sorted);
  }

  void sparsity() {
    const BlockSparsity& given = problem_.sparsity;
    if (!given.active()) return;
    add("sparsity-ignored", "block-sparse attention is ignored: all pages take part",
        [](DecodeProblem& p) { p.sparsity.vert_stride = 1; })
        .changes_logits = false;
    // Any stripe is that of some head of some rank with step 1, and all are tried.
    for (int rank = 0; rank < given.vert_stride; ++rank)
      for (int step = 0; step <= given.vert_stride; ++step)
        for (int locals = std::max(given.local_blocks - 1, 0); locals <= given.local_blocks + 1;
             ++locals)
          add("sparse-pattern", "block-sparse attention takes the wrong pages",
              [=](DecodeProblem& p) {
                p.sparsity.tensor_parallel_rank = rank;
                p.sparsity.head_sliding_step = step;
                p.sparsity.local_blocks = locals;
              })
              .changes_logits = false;
  }

  void keys() {
    for (int other = 0; other < problem_.num_kv_heads; ++other)
      if (other != kv_head_)
        add_other("wrong-kv-head", "keys of another KV head",
                  "the keys are those of KV head " + std::to_string(other),
                  [this_problem = &problem_, other, own = kv_head_, seq = seq_,
                   pages = pages_](DecodeProblem& p) {
                    for_each_key(p, seq, pages, [&](std::int64_t block, int offset, int dim) {
                      p.key_cache.copy_element(key_index(p, block, own, offset, dim),
                                               this_problem->key_cache,
                                               key_index(p, block, other, offset, dim));
                    });
                  });
    if (head_ != kv_head_)
      add_other("wrong-kv-head", "keys of the query head",
                "the query head is taken for the KV head: keys are those of page " +
                    std::to_string(head_) + " from the block's first on",
                [this_problem = &problem_, own = kv_head_, head = head_, seq = seq_,
                 pages = pages_](DecodeProblem& p) {
                  const std::int64_t elements = std::int64_t{p.head_size} * p.block_size;
                  for_each_key(p, seq, pages, [&](std::int64_t block, int offset, int dim) {
                    const std::int64_t from = key_index(p, block, 0, offset, dim) + head * elements;
                    if (from < p.key_cache.size())
                      p.key_cache.copy_element(key_index(p, block, own, offset, dim),
                                               this_problem->key_cache, from);
                  });
                });
    if (traits_.classic_keys) key_layouts();
    if (problem_.num_kv_heads > 1)
      add("key-strides", "strides of block and head are swapped in the key cache",
          [this_problem = &problem_, own = kv_head_, seq = seq_, pages = pages_](DecodeProblem& p) {
            for_each_key(p, seq, pages, [&](std::int64_t block, int offset, int dim) {
              const std::int64_t page = block + std::int64_t{own} * p.num_kv_heads;
              p.key_cache.copy_element(
                  key_index(p, block, own, offset, dim), this_problem->key_cache,
                  key_index(p, page / p.num_kv_heads, static_cast<int>(page % p.num_kv_heads),
                            offset, dim));
            });
          });
    add("table-ignored", "keys are read from the logical block, as if it were the physical one",
        [this_problem = &problem_, own = kv_head_, seq = seq_, pages = pages_](DecodeProblem& p) {
          const std::int32_t* row = p.block_table(seq);
          for (int page = 0; page < std::min<std::int64_t>(pages, p.num_blocks()); ++page)
            for (int offset = 0; offset < p.block_size; ++offset)
              for (int dim = 0; dim < p.head_size; ++dim)
                p.key_cache.copy_element(key_index(p, row[page], own, offset, dim),
                                         this_problem->key_cache,
                                         key_index(p, page, own, offset, dim));
        });
  }

  void key_layouts() {
    const int x = key_vector_width(static_cast<int>(size_in_bytes(problem_.cache())));
    for (KeyLayoutMistake& mistake :
         key_layout_mistakes(problem_.head_size, problem_.block_size, x))
      add("key-layout", std::move(mistake.sentence),
          [this_problem = &problem_, own = kv_head_, seq = seq_, pages = pages_,
           place = std::move(mistake.place)](DecodeProblem& p) {
            for_each_key(p, seq, pages, [&](std::int64_t block, int offset, int dim) {
              const std::int64_t from = key_index(p, block, own, 0, 0) + place(offset, dim);
              if (from < p.key_cache.size())
                p.key_cache.copy_element(key_index(p, block, own, offset, dim),
                                         this_problem->key_cache, from);
            });
          });
  }

  /// Every element of the sequence's own pages of keys.
  template <typename Visitor>
  static void for_each_key(const DecodeProblem& p, int seq, int pages, Visitor visit) {
    const std::int32_t* row = p.block_table(seq);
    for (int page = 0; page < pages; ++page)
      for (int offset = 0; offset < p.block_size; ++offset)
        for (int dim = 0; dim < p.head_size; ++dim) visit(std::int64_t{row[page]}, offset, dim);
  }

  const DecodeProblem& problem_;
  KernelTraits traits_;
  int seq_, head_, kv_head_;
  int seq_len_, pages_;
  std::vector<MistakenProblem> all_;
};

/// Each token with the value of the next one or the one before, to where a loop over tokens begins or
/// ends, or of its mirror in the page.
std::vector<MistakenReading> values_of_other_tokens(int seq, int kv_head, int pages, int seq_len,
                                                    int partition_size) {
  const auto from = [=](auto other) {
    return [=](DecodeProblem& p) {
      const Tensor values = p.value_cache;
      const auto place = [&](int slot, int dim) {
        return value_index(p, p.block_table(seq)[slot / p.block_size], kv_head, slot % p.block_size,
                           dim);
      };
      const int slots = pages * p.block_size;
      for (int slot = 0; slot < slots; ++slot) {
        const int its = other(slot, p.block_size);
        if (its < 0 || its >= slots) continue;
        for (int dim = 0; dim < p.head_size; ++dim)
          p.value_cache.copy_element(place(slot, dim), values, place(its, dim));
      }
    };
  };
  const std::string next = "values are those of the next token",
                    before = "values are those of the token before";
  return {{"values-of-other-tokens", next, from([=](int t, int) {
             const bool is_last = t + 1 >= seq_len || (t + 1) % partition_size == 0;
             return is_last ? t : t + 1;
           })},
          {"values-of-other-tokens", next + ", also past the end",
           from([](int t, int) { return t + 1; })},
          {"values-of-other-tokens", before,
           from([=](int t, int) { return t % partition_size == 0 ? t : t - 1; })},
          {"values-of-other-tokens", "values are taken from a page's last slot to its first",
           from([](int t, int page) { return t / page * page + page - 1 - t % page; })}};
}

/// In blocks of [block_size, num_kv_heads, head_size], a step from token to token that is
/// head_size: token t of KV head h is read where t + h heads of the block have gone by.
std::vector<MistakenReading> token_strides_without_heads(int seq, int kv_head, int pages) {
  const auto read = [=](bool keys, bool values) {
    return [=](DecodeProblem& p) {
      const Tensor own_keys = p.key_cache, own_values = p.value_cache;
      for (int page = 0; page < pages; ++page) {
        const std::int64_t block = p.block_table(seq)[page];
        for (int offset = 0; offset < p.block_size; ++offset) {
          const int row = offset + kv_head;
          const int token = row / p.num_kv_heads, other = row % p.num_kv_heads;
          if (token >= p.block_size) continue;
          for (int dim = 0; dim < p.head_size; ++dim) {
            if (keys)
              p.key_cache.copy_element(key_index(p, block, kv_head, offset, dim), own_keys,
                                       key_index(p, block, other, token, dim));
            if (values)
              p.value_cache.copy_element(value_index(p, block, kv_head, offset, dim), own_values,
                                         value_index(p, block, other, token, dim));
          }
        }
      }
    };
  };
  const std::string wrong =
      " one token to the next is head_size, and num_kv_heads * head_size is right: the heads "
      "between two tokens are left out";
  return {{"token-stride", "the step of keys and values from" + wrong, read(true, true)},
          {"token-stride", "the step of values from" + wrong, read(false, true)},
          {"token-stride", "the step of keys from" + wrong, read(true, false)}};
}

}  // namespace

std::string row_is_that_of(int seq) {
  return "the row of the block table is that of sequence " + std::to_string(seq);
}

std::vector<MistakenReading> mistaken_readings(const DecodeProblem& problem, int seq, int head,
                                               const KernelTraits& traits) {
  const int kv_head = kv_head_of(head, problem.num_heads, problem.num_kv_heads);
  const int pages = num_pages(problem.seq_lens[seq], problem.block_size);
  // read(page, block): where in the cache, as (block, KV head) and an offset in the page, the value
  // of (offset, dimension) is read.
  const auto from = [=](auto page_of, auto offset_in_page) {
    return [=](DecodeProblem& p) {
      const Tensor values = p.value_cache;
      const std::int64_t elements = std::int64_t{p.head_size} * p.block_size;
      for (int page = 0; page < pages; ++page) {
        const std::int64_t block = p.block_table(seq)[page];
        const std::int64_t first = page_of(p, page, block) * elements;
        if (first + elements > values.size()) continue;
        for (int offset = 0; offset < p.block_size; ++offset)
          for (int dim = 0; dim < p.head_size; ++dim)
            p.value_cache.copy_element(value_index(p, block, kv_head, offset, dim), values,
                                       first + offset_in_page(p, offset, dim));
      }
    };
  };
  const auto own_page = [=](const DecodeProblem& p, int, std::int64_t block) {
    return block * p.num_kv_heads + kv_head;
  };
  const auto own_offset = [](const DecodeProblem& p, int offset, int dim) {
    return value_offset_in_page(offset, dim, p.block_size);
  };
  std::vector<MistakenReading> readings = {
      {"value-layout", "values are read as [block_size, head_size]",
       from(own_page, [](const DecodeProblem& p, int offset,
                         int dim) { return offset * p.head_size + dim; })},
      {"value-layout",
       "vectors of values are taken from [block_size, head_size], as if they held tokens",
       from(own_page,
            [](const DecodeProblem& p, int offset, int dim) {
              const int x = 16 / static_cast<int>(size_in_bytes(p.scalar));
              return offset / x * x * p.head_size + dim / x * x + offset % x;
            })},
      {"value-strides", "strides of block and head are swapped in the value cache",
       from([=](const DecodeProblem& p, int,
                std::int64_t block) { return block + std::int64_t{kv_head} * p.num_kv_heads; },
            own_offset)},
      {"table-ignored", "values are read from the logical block, as if it were the physical one",
       from([=](const DecodeProblem& p, int page,
                std::int64_t) { return std::int64_t{page} * p.num_kv_heads + kv_head; },
            own_offset)}};
  if (head != kv_head)
    readings.push_back({"wrong-kv-head",
                        "the query head is taken for the KV head: values are those of page " +
                            std::to_string(head) + " from the block's first on",
                        from([=](const DecodeProblem& p, int,
                                 std::int64_t block) { return block * p.num_kv_heads + head; },
                             own_offset),
                        "values of the query head"});
  for (MistakenReading& reading :
       values_of_other_tokens(seq, kv_head, pages, problem.seq_lens[seq],
                              traits.has_partitions ? problem.partition_size : 1 << 30))
    readings.push_back(std::move(reading));
  if (traits.tokens_then_heads && problem.num_kv_heads > 1)
    for (MistakenReading& reading : token_strides_without_heads(seq, kv_head, pages))
      readings.push_back(std::move(reading));
  if (!traits.classic_keys)
    std::erase_if(readings, [](const MistakenReading& r) { return r.cause == "value-layout"; });
  return readings;
}

std::vector<MistakenProblem> mistaken_problems(const DecodeProblem& problem, int seq, int head,
                                               const KernelTraits& traits) {
  return Mistakes(problem, seq, head, traits).take();
}

}  // namespace paged
