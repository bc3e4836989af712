#include "tests/harness/shared_factor.h"

#include "tests/harness/coordinates.h"
#include "tests/harness/missing_rescale.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace paged {
namespace {

/// Of any (sequence, head): what the factor of its weights is; nothing where the mistake leaves it
/// open.
using FactorOf = std::function<std::optional<double>(const MultipleOfReference& row)>;

/// A mistake in what all weights of a (sequence, head) share.
struct FactorMistake {
  CauseId cause;
  std::string sentence;
  FactorOf factor;
};

/// Some tokens, and what has them in a kernel that is known to have warps.
struct Part {
  const char* of_warps;
  const char* of_anything;
  std::function<bool(int token)> has;
};

/// In a softmax of W warps a thread takes every 32 W-th token, and lane t % 32 of the warps sees
/// token t.
std::vector<Part> parts_of(int partition_size) {
  return {{"the tokens of lane 0 of each warp: the lanes' sums are not added",
           "every 32nd token, from token 0 on", [](int t) { return t % 32 == 0; }},
          {"the tokens of even lanes: the sum over a warp leaves out its last step",
           "every second token, from token 0 on", [](int t) { return t % 2 == 0; }},
          {"the tokens of the lower 16 lanes: the sum over a warp leaves out its first step",
           "the first 16 of every 32 tokens", [](int t) { return t % 32 < 16; }},
          {"the tokens of the first warp of 4: the warps' sums are not added",
           "the first 32 of every 128 tokens", [](int t) { return t / 32 % 4 == 0; }},
          {"the tokens of the first warp of 8: the warps' sums are not added",
           "the first 32 of every 256 tokens", [](int t) { return t / 32 % 8 == 0; }},
          {"the tokens of the first partition", "the tokens of the first partition",
           [=](int t) { return t < partition_size; }}};
}

/// The LSE of attention to all tokens, those included that block-sparse attention leaves out.
double lse_of_all(const DecodeProblem& problem, int seq, int head) {
  DecodeProblem dense = problem;
  dense.sparsity.vert_stride = 1;
  const int kv_head = kv_head_of(head, problem.num_heads, problem.num_kv_heads);
  return attend(dense, gather(dense, seq, kv_head), seq, head).lse;
}

/// The mistakes that make sense for one (sequence, head), the plainer ones first.
class FactorMistakes {
 public:
  explicit FactorMistakes(const Evidence& e) : e_(e), p_(e.problem) {
    scales_of_values();
    parts_in_denominator();
    add("sum-not-divided", "the weights are not divided by their sum",
        [](const MultipleOfReference& row) { return row.attention->sum; });
    add("sum-not-divided", "the weights are not divided by their sum",
        [](const MultipleOfReference& row) { return std::exp(row.attention->lse); });
    add("sum-divided-twice", "the weights are divided by their sum twice",
        [&p = p_](const MultipleOfReference& row) -> std::optional<double> {
          if (row.attention->logits.size() > p.partition_size) return std::nullopt;
          return 1 / row.attention->sum;  // each partition by its own, perhaps
        });
    if (p_.sparsity.active()) left_out_tokens();
    slots_past_the_end();
    guards();
    values_added_again();
  }
  const std::vector<FactorMistake>& all() const { return all_; }

 private:
  void add(CauseId cause, std::string sentence, FactorOf factor) {
    all_.push_back({cause, std::move(sentence), std::move(factor)});
  }
  void add_constant(CauseId cause, std::string sentence, double factor) {
    add(cause, std::move(sentence), [=](const MultipleOfReference&) { return factor; });
  }
  /// The denominator has logits of 0 besides, as many as `count` says.
  void add_zeros(CauseId cause, std::string sentence,
                 std::function<std::optional<double>(const MultipleOfReference& row)> count) {
    add(cause, std::move(sentence),
        [count = std::move(count)](const MultipleOfReference& row) -> std::optional<double> {
          const std::optional<double> zeros = count(row);
          if (!zeros) return std::nullopt;
          const double sum = row.attention->sum;
          return sum / (sum + *zeros * std::exp(-row.attention->maximum));
        });
  }

  void scales_of_values() {
    if (!is_fp8(p_.cache())) return;
    const double k_scale = p_.k_scale, v_scale = p_.v_scale;
    if (v_scale != 1)
      add_constant("v-scale", "the values are not multiplied by v_scale", 1 / v_scale);
    const bool are_one = k_scale == v_scale * v_scale;
    add_constant("v-scale",
                 are_one ? "the values are multiplied by k_scale, or by v_scale twice"
                         : "the values are multiplied by k_scale",
                 k_scale / v_scale);
    if (!are_one) add_constant("v-scale", "the values are multiplied by v_scale twice", v_scale);
  }

  void parts_in_denominator() {
    // Of a few tokens every part is the first alone.
    if (!e_.kernel.has_warps && e_.seq_len() <= 32) return;
    for (const Part& part : parts_of(p_.partition_size))
      add("part-in-denominator",
          std::string("the denominator has only ") +
              (e_.kernel.has_warps ? part.of_warps : part.of_anything),
          [has = part.has](const MultipleOfReference& row) -> std::optional<double> {
            const HeadAttention& attention = *row.attention;
            double sum = 0;
            for (int token = 0; token < attention.logits.size(); ++token)
              if (has(token)) sum += std::exp(attention.logits[token] - attention.maximum);
            if (sum == 0) return std::nullopt;
            return attention.sum / sum;
          });
  }

  void left_out_tokens() {
    add("sparsity-ignored",
        "block-sparse attention is ignored by the softmax: tokens that it leaves out are counted "
        "in the denominator",
        [&p = p_](const MultipleOfReference& row) {
          return std::exp(row.attention->lse - lse_of_all(p, row.seq, row.head));
        });
    const auto left_out = [](const MultipleOfReference& row) {
      return static_cast<double>((row.attention->weights.array() == 0).count());
    };
    const auto here = (e_.attention.weights.array() == 0).count();
    if (here > 0)
      add_zeros("sparse-logit-zero",
                here == 1 ? "the token that block-sparse attention leaves out is counted in the "
                            "denominator, as a logit of 0"
                          : "the " + std::to_string(here) +
                                " tokens that block-sparse attention leaves out are counted in the "
                                "denominator, as logits of 0",
                left_out);
  }

  void slots_past_the_end() {
    const auto tail = [&p = p_](const MultipleOfReference& row) {
      const int rest = p.seq_lens[row.seq] % p.block_size;
      return rest == 0 ? 0 : p.block_size - rest;
    };
    const int here = e_.slots.own() - e_.seq_len();
    const std::string one_slot =
        "one slot past the end is counted in the denominator, as a logit of 0";
    if (here == 0) return;
    add_zeros("padding-in-denominator",
              here == 1 ? one_slot
                        : "the " + std::to_string(here) +
                              " slots of the tail are counted in the denominator, as logits of 0",
              [=](const MultipleOfReference& row) { return double(tail(row)); });
    // Where there is no such slot, what is counted is something else, and any factor: the zoo's
    // softmax-naive-sum-le is a wrong denominator there, a full last page.
    add_zeros("padding-in-denominator", one_slot,
              [=](const MultipleOfReference& row) -> std::optional<double> {
                if (tail(row) == 0) return std::nullopt;
                return 1;
              });
  }

  void guards() {
    for (const double guard : {1e-2, 1e-3, 1e-4, 1e-5})
      add("guard",
          "the guard that is added to the denominator is " + number(guard) + ", not " +
              number(kDenominatorGuard),
          [=](const MultipleOfReference& row) {
            return row.attention->sum / (row.attention->sum + guard);
          });
    add("maximum",
        "no, or the wrong, maximum is subtracted: beside so small a sum the denominator's 1e-6 "
        "counts",
        [](const MultipleOfReference& row) -> std::optional<double> {
          const double unshifted = std::exp(row.attention->lse);
          if (!std::isfinite(unshifted)) return std::nullopt;
          return unshifted / (unshifted + kDenominatorGuard);
        });
  }

  void values_added_again() {
    for (int times = 2; times <= 32; ++times)
      add_constant("added-repeatedly",
                   "every value is added " + std::to_string(times) +
                       " times, though the denominator counts it once",
                   times);
  }

  const Evidence& e_;
  const DecodeProblem& p_;
  std::vector<FactorMistake> all_;
};

/// With four digits, or so many that it is not 1.
std::string factor_text(double factor) {
  char text[32] = "1";
  for (int digits = 4; digits < 16 && std::string(text) == "1"; ++digits)
    std::snprintf(text, sizeof text, "%.*g", digits, factor);
  return text;
}

LikelyCause wrong_denominator(const Evidence& e, double factor) {
  const double lse = lse_of_all(e.problem, e.recovered.seq, e.recovered.head);
  if (e.problem.sparsity.active() && factor < 1 && factor > std::exp(e.attention.lse - lse))
    return {"sparse-pattern",
            "some tokens that block-sparse attention leaves out are counted in the denominator"};
  return {"denominator", "every weight is " + factor_text(factor) +
                             " times the reference's: a wrong denominator, or a factor too many"};
}

}  // namespace

LikelyCause cause_of_shared_factor(const Evidence& e, double factor) {
  const double tolerance = e.reference.bound.sum() / e.reference.weights.sum();  // of the factor
  const auto is = [&](double expected) {
    return std::isfinite(expected) &&
           std::abs(factor - expected) <= tolerance * std::max(1.0, expected);
  };
  if (is(1) || !(e.attention.sum > 0)) return {};
  const MultipleOfReference here{e.recovered.seq, e.recovered.head, factor, tolerance,
                                 &e.attention};
  std::vector<LikelyCause> explaining;
  const FactorMistakes mistakes(e);
  for (const FactorMistake& mistake : mistakes.all())
    if (const std::optional<double> expected = mistake.factor(here);
        expected && is(*expected) && e.are_all_multiples(mistake.factor))
      explaining.push_back({mistake.cause, mistake.sentence});
  // An online softmax is what a kernel of unknown make has sooner than lanes to add up.
  if (LikelyCause cause = cause_of_missing_rescale(e); !cause.id.empty())
    explaining.insert(e.kernel.has_warps ? explaining.end() : explaining.begin(), cause);
  return explaining.empty() ? wrong_denominator(e, factor) : either(explaining);
}

}  // namespace paged
