#include "reference/finite_answer.h"

#include "reference/cache_layout.h"
#include "reference/decode_attention.h"
#include "reference/input_error.h"
#include "reference/number_range.h"

#include <cmath>
#include <cstdio>
#include <string>

namespace paged {
namespace {

constexpr double kGreatest = greatest_number(CacheType::f32);

std::string text(double value) {
  if (std::isnan(value)) return "nan";  // printf may show a sign
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.6g", value);
  return digits;
}

/// False for NaN, infinities, and products of an element and a scale that no f32 holds.
bool is_number(double value) { return std::abs(value) <= kGreatest; }

/// Names a (sequence, query head) or one of its tokens in errors.
struct Place {
  const DecodeProblem& problem;
  int seq, head;

  [[noreturn]] void fail(const std::string& what) const {
    throw InputError("sequence " + std::to_string(seq) + ", head " + std::to_string(head) + what +
                     ", so there is no answer of numbers to compare with");
  }
  [[noreturn]] void fail(int token, const std::string& what) const {
    const int block = problem.block_table(seq)[token / problem.block_size];
    fail(", token " + std::to_string(token) + " (block " + std::to_string(block) + ", offset " +
         std::to_string(token % problem.block_size) + "): " + what);
  }
};

std::string element(const char* tensor, Eigen::Index dim, double value) {
  return std::string(tensor) + ", dimension " + std::to_string(dim) + ", is " + text(value);
}

/// |q|, [head_size]
Eigen::VectorXd query_magnitudes(const Place& place) {
  const DecodeProblem& problem = place.problem;
  const std::int64_t first =
      (static_cast<std::int64_t>(place.seq) * problem.num_heads + place.head) * problem.head_size;
  Eigen::VectorXd query(problem.head_size);
  for (int dim = 0; dim < problem.head_size; ++dim) {
    const double value = problem.query.read(first + dim);
    if (!is_number(value)) place.fail(": " + element("the query", dim, value));
    query[dim] = std::abs(value);
  }
  return query;
}

void check_elements(const Place& place, int token, const char* tensor,
                    const Eigen::MatrixXd& rows) {
  for (Eigen::Index dim = 0; dim < rows.cols(); ++dim)
    if (!is_number(rows(token, dim))) place.fail(token, element(tensor, dim, rows(token, dim)));
}

/// `magnitude` is sum_i |q_i k_i|.
void check_logit(const Place& place, int token, double magnitude) {
  const DecodeProblem& problem = place.problem;
  const double slope = problem.alibi_slopes.empty() ? 0.0 : problem.alibi_slopes[place.head];
  const double distance = problem.seq_lens[place.seq] - 1.0 - token;
  const double scaled = magnitude * std::abs(double{problem.scale});
  const auto check = [&](double value, const char* what) {
    if (value > kGreatest)
      place.fail(token, std::string(what) + " can reach " + text(value) +
                            " in magnitude, above f32's greatest number " + text(kGreatest));
  };
  check(magnitude, "q . k");
  check(scaled, "scale * (q . k)");
  check(scaled + std::abs(slope) * distance, "the logit with its ALiBi bias");
}

void check_output(const Place& place, const GatheredKv& kv) {
  const CacheType type = same_as(place.problem.scalar);
  // An average of values is no larger than the largest of them; values of the scalar type fit.
  const bool fits = !is_fp8(place.problem.cache()) || kv.values.size() == 0 ||
                    kv.values.cwiseAbs().maxCoeff() < overflow_threshold(type);
  if (fits) return;
  const HeadAttention answer = attend(place.problem, kv, place.seq, place.head);
  for (Eigen::Index dim = 0; dim < answer.output.size(); ++dim)
    if (!(std::abs(answer.output[dim]) < overflow_threshold(type)))
      place.fail(": " + element("the output", dim, answer.output[dim]) + ", which does not fit " +
                 with_article(type));
}

/// `all_numbers`: whether keys and values of the whole sequence are known to be numbers.
void check_head(const Place& place, const GatheredKv& kv, bool all_numbers) {
  const DecodeProblem& problem = place.problem;
  const int seq_len = problem.seq_lens[place.seq];
  const int kv_head = kv_head_of(place.head, problem.num_heads, problem.num_kv_heads);
  const int offset =
      problem.sparsity.stripe_offset(place.head, problem.num_heads, kv_head, problem.num_kv_heads);
  Eigen::VectorXd query;
  for (int token = 0; token < seq_len; ++token) {
    if (!problem.sparsity.takes_part(token / problem.block_size, seq_len, problem.block_size,
                                     offset))
      continue;
    if (query.size() == 0) query = query_magnitudes(place);  // read if any token takes part
    if (!all_numbers) {
      check_elements(place, token, "the key", kv.keys);
      check_elements(place, token, "the value", kv.values);
    }
    check_logit(place, token, kv.keys.row(token).cwiseAbs().dot(query));
  }
  check_output(place, kv);
}

bool all_numbers(const Eigen::MatrixXd& rows) {
  for (Eigen::Index i = 0; i < rows.size(); ++i)
    if (!is_number(rows.data()[i])) return false;
  return true;
}

}  // namespace

void check_finite_answer(const DecodeProblem& problem) {
  const int group = problem.num_heads / problem.num_kv_heads;
  for (int seq = 0; seq < problem.num_seqs(); ++seq)
    for (int kv_head = 0; kv_head < problem.num_kv_heads; ++kv_head) {
      const GatheredKv kv = gather(problem, seq, kv_head);
      const bool numbers = all_numbers(kv.keys) && all_numbers(kv.values);
      for (int head = kv_head * group; head < (kv_head + 1) * group; ++head)
        check_head({problem, seq, head}, kv, numbers);
    }
}

}  // namespace paged
