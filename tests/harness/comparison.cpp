#include "tests/harness/comparison.h"

#include "reference/number_range.h"
#include "tests/harness/coordinates.h"
#include "tests/harness/intermediate_comparison.h"
#include "tests/harness/telling_sequence.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

namespace paged {
namespace {

enum class NumberClass { finite, plus_infinity, minus_infinity, nan };

NumberClass class_of(double value, double threshold) {
  if (std::isnan(value)) return NumberClass::nan;
  if (std::abs(value) < threshold) return NumberClass::finite;
  return value > 0 ? NumberClass::plus_infinity : NumberClass::minus_infinity;
}

const char* name_of(NumberClass c) {
  constexpr const char* names[] = {"finite", "+infinity", "-infinity", "NaN"};
  return names[static_cast<int>(c)];
}

/// Collects what goes wrong in one pass over the output.
class OutputPass {
 public:
  OutputPass(const DecodeProblem& problem, Comparison& result)
      : problem_(problem),
        type_(problem.scalar),
        threshold_(overflow_threshold(same_as(problem.scalar))),
        result_(result) {}

  void element(int seq, int head, int dim, double got, double expected, double bound) {
    ++elements_;
    const NumberClass got_class = class_of(got, std::numeric_limits<double>::infinity());
    const NumberClass expected_class = class_of(expected, threshold_);
    if (got_class != expected_class && !excused(got_class, expected_class, expected, bound)) {
      result_.max_abs_error = result_.bound_used = std::numeric_limits<double>::infinity();
      return fail(
          seq, head, dim, {got, 0},
          std::string("is ") + name_of(got_class) + "; the reference is " +
              (expected_class == NumberClass::finite ? number(expected) : name_of(expected_class)));
    }
    if (got_class != NumberClass::finite || expected_class != NumberClass::finite) return;
    const double error = std::abs(got - expected);
    const double share = error == 0 ? 0 : error / bound;  // a bound of 0 allows nothing
    result_.max_abs_error = std::max(result_.max_abs_error, error);
    result_.bound_used = std::max(result_.bound_used, share);
    const double excess = std::max(0.0, error - half_spacing(got));
    const double allowed = std::max(0.0, bound - half_spacing(got));
    sum_error_ += error * error;
    sum_excess_ += excess * excess;
    sum_allowed_ += allowed * allowed;
    sum_product_ += got * expected;
    sum_got_ += got * got;
    sum_expected_ += expected * expected;
    if (!(share <= 1))
      fail(seq, head, dim, {got, share},
           "is " + number(got) + "; the reference is " + number(expected) + ", off by " +
               number(error) + ", " + number(share) + " times its bound " + number(bound));
  }

  void finish() {
    if (sum_expected_ > 0) result_.relative_l2 = std::sqrt(sum_error_ / sum_expected_);
    if (sum_expected_ > 0 && sum_got_ > 0)
      result_.cosine_distance =
          std::max(0.0, 1 - sum_product_ / std::sqrt(sum_expected_ * sum_got_));
    if (failures_ > 0) {
      result_.passed = false;
      result_.message = telling_ + summary();
      return;
    }
    // The output's own rounding hides a small bias in each element, not in all: an element whose
    // exact value lies near the middle of two numbers is pushed over it, and then its error exceeds
    // half a spacing. These excesses of a right kernel stay far below what bounds allow in the
    // worst case.
    constexpr double kShareOfMeanSquare = 0.5625;  // 0.75 squared
    constexpr std::int64_t kEnoughElements = 256;
    if (elements_ >= kEnoughElements && sum_excess_ > kShareOfMeanSquare * sum_allowed_) {
      result_.passed = false;
      result_.message =
          "each element is within its bound, but all together are too far: beyond their "
          "rounding they are off by " +
          number(std::sqrt(sum_excess_ / static_cast<double>(elements_))) +
          " (root mean square), and " +
          number(std::sqrt(kShareOfMeanSquare * sum_allowed_ / static_cast<double>(elements_))) +
          " is allowed; look for a small bias";
    }
  }

 private:
  /// Next to the overflow threshold, the largest number and the infinity of its sign are both
  /// right.
  bool excused(NumberClass got, NumberClass expected_class, double expected, double bound) const {
    const NumberClass infinity =
        expected > 0 ? NumberClass::plus_infinity : NumberClass::minus_infinity;
    const bool number_or_infinity = (got == NumberClass::finite && expected_class == infinity) ||
                                    (got == infinity && expected_class == NumberClass::finite);
    return number_or_infinity && std::abs(std::abs(expected) - threshold_) <= bound;
  }

  void fail(int seq, int head, int dim, const WrongNumber& wrong, const std::string& what) {
    ++failures_;
    if (tells_more(problem_, seq, result_.seq)) {
      telling_ = place(seq, head) + ", dimension " + std::to_string(dim) + " " + what;
      result_.seq = seq;
      result_.head = head;
      result_.wrong = wrong;
    }
    seqs_.insert(seq);
    heads_.insert(head);
  }

  std::string summary() const {
    if (failures_ == 1) return " (the only wrong element)";
    const auto list = [](const std::set<int>& values, const char* one, const char* many) {
      if (values.size() == 1) return std::string(one) + " " + std::to_string(*values.begin());
      return std::to_string(values.size()) + " " + many;
    };
    return " (" + std::to_string(failures_) + " of " + std::to_string(elements_) +
           " elements are wrong, in " + list(seqs_, "sequence", "sequences") + ", " +
           list(heads_, "head", "heads") + ")";
  }

  /// Half the distance from an output to its neighbours: what its rounding may have moved it. Sums
  /// are in f32, so an f32 output isn't rounded again.
  double half_spacing(double value) const {
    if (type_ == ScalarType::f32) return 0;
    const int mantissa_bits = type_ == ScalarType::f16 ? 10 : 7;
    const int least_exponent = type_ == ScalarType::f16 ? -14 : -126;
    const int exponent = value == 0 ? least_exponent : std::max(std::ilogb(value), least_exponent);
    return std::ldexp(1.0, exponent - mantissa_bits - 1);
  }

  const DecodeProblem& problem_;
  ScalarType type_;
  double threshold_;
  Comparison& result_;
  std::int64_t elements_ = 0;
  std::int64_t failures_ = 0;
  std::string telling_;
  std::set<int> seqs_, heads_;
  double sum_error_ = 0, sum_excess_ = 0, sum_allowed_ = 0, sum_product_ = 0, sum_got_ = 0,
         sum_expected_ = 0;
};

}  // namespace

ReferenceAnswer reference_answer(const DecodeProblem& problem, const StageArithmetic& arithmetic) {
  ReferenceAnswer answer;
  answer.arithmetic = with_probabilities(arithmetic, problem.probabilities);
  const int group = problem.num_heads / problem.num_kv_heads;
  for (int seq = 0; seq < problem.num_seqs(); ++seq) {
    GatheredKv kv;
    for (int head = 0; head < problem.num_heads; ++head) {
      if (head % group == 0) kv = gather(problem, seq, head / group);
      answer.attention.push_back(attend(problem, kv, seq, head));
      answer.bounds.push_back(
          bound_error(problem, kv, answer.attention.back(), answer.arithmetic, seq, head));
    }
  }
  return answer;
}

Comparison compare(const DecodeProblem& problem, const DecodeOutputs& outputs,
                   const ReferenceAnswer& reference) {
  Comparison result;
  OutputPass pass(problem, result);
  std::int64_t element = 0;
  for (int seq = 0; seq < problem.num_seqs(); ++seq)
    for (int head = 0; head < problem.num_heads; ++head) {
      const std::size_t i = static_cast<std::size_t>(seq) * problem.num_heads + head;
      for (int dim = 0; dim < problem.head_size; ++dim, ++element)
        pass.element(seq, head, dim, outputs.output.read(element),
                     reference.attention[i].output[dim], reference.bounds[i].output[dim]);
    }
  pass.finish();
  if (!result.passed) return result;
  const IntermediateDifference difference = intermediate_difference(problem, outputs, reference);
  result.message = difference.message;
  result.seq = difference.seq;
  result.head = difference.head;
  result.wrong = difference.wrong;
  result.passed = result.message.empty();
  return result;
}

std::string bit_difference(const DecodeOutputs& a, int seq_a, const DecodeOutputs& b, int seq_b,
                           const std::vector<int>& heads) {
  const std::int64_t num_heads = a.output.shape()[1];
  const std::int64_t head_size = a.output.shape()[2];
  const std::size_t width = size_in_bytes(a.output.type());
  for (int head = 0; head < num_heads; ++head) {
    if (!heads.empty() && std::find(heads.begin(), heads.end(), head) == heads.end()) continue;
    const std::int64_t row_a = (seq_a * num_heads + head) * head_size;
    const std::int64_t row_b = (seq_b * num_heads + head) * head_size;
    for (std::int64_t dim = 0; dim < head_size; ++dim)
      if (std::memcmp(a.output.data() + (row_a + dim) * width,
                      b.output.data() + (row_b + dim) * width, width) != 0)
        return place(seq_a, head) + ", dimension " + std::to_string(dim) + " was " +
               number(a.output.read(row_a + dim)) + " and is now " +
               number(b.output.read(row_b + dim));
    if (a.lse.empty()) continue;
    const float lse_a = a.lse[seq_a * num_heads + head];
    const float lse_b = b.lse[seq_b * num_heads + head];
    if (std::bit_cast<std::uint32_t>(lse_a) != std::bit_cast<std::uint32_t>(lse_b))
      return place(seq_a, head) + " LSE was " + number(lse_a) + " and is now " + number(lse_b);
  }
  return "";
}

std::string bit_difference(const DecodeOutputs& a, const DecodeOutputs& b) {
  for (int seq = 0; seq < a.output.shape()[0]; ++seq)
    if (const std::string difference = bit_difference(a, seq, b, seq); !difference.empty())
      return difference;
  return "";
}

}  // namespace paged
