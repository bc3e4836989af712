#include "tests/harness/whole_run.h"

#include "reference/cache_layout.h"
#include "tests/harness/weight_evidence.h"

#include <algorithm>
#include <cmath>

namespace paged {
namespace {

GatheredKv kv_of(const DecodeProblem& problem, OutputRow row) {
  return gather(problem, row.seq, kv_head_of(row.head, problem.num_heads, problem.num_kv_heads));
}

/// Of two neighbours, as a share of a number.
double half_spacing(ScalarType type) {
  return type == ScalarType::f32 ? 0x1p-24 : type == ScalarType::f16 ? 0x1p-11 : 0x1p-8;
}

HeadAttention attention_in(const DecodeProblem& problem, OutputRow row) {
  return attend(problem, kv_of(problem, row), row.seq, row.head);
}

}  // namespace

Eigen::VectorXd WholeRun::output(OutputRow row) const {
  Eigen::VectorXd got(problem_.head_size);
  const std::int64_t first = static_cast<std::int64_t>(index(row)) * problem_.head_size;
  for (int dim = 0; dim < problem_.head_size; ++dim) got[dim] = outputs_.output.read(first + dim);
  return got;
}

bool WholeRun::is_output(OutputRow row, const Eigen::VectorXd& expected, double times) const {
  return agree(output(row), expected, times * bound(row).output);
}

std::optional<bool> WholeRun::is_output_of(const MistakenProblem& mistake, OutputRow row) const {
  return is_output_of(mistake.problem(), mistake.has_values ? 1 : mistake.factor, row);
}

bool WholeRun::is_nearly_output_of(const MistakenProblem& mistake, OutputRow row) const {
  if (!is_output_of(mistake, row).value_or(false)) return false;
  const DecodeProblem problem = mistake.problem();
  const Eigen::VectorXd got = output(row);
  const Eigen::VectorXd expected =
      (mistake.has_values ? 1 : mistake.factor) * attention_in(problem, row).output;
  return 2 * (got - expected).lpNorm<1>() <= (got - attention(row).output).lpNorm<1>();
}

std::optional<bool> WholeRun::is_output_of(const DecodeProblem& problem, double factor,
                                           OutputRow row) const {
  const HeadAttention attention = attention_in(problem, row);
  if (!attention.output.allFinite()) return std::nullopt;
  const HeadErrorBound its =
      bound_error(problem, kv_of(problem, row), attention, answer_.arithmetic, row.seq, row.head);
  return agree(output(row), factor * attention.output,
               2 * std::max(1.0, std::abs(factor)) * its.output);
}

std::optional<OutputRow> WholeRun::first_row(
    const std::function<bool(OutputRow row)>& allows) const {
  for (int seq = 0; seq < problem_.num_seqs(); ++seq)
    for (int head = 0; head < problem_.num_heads; ++head)
      if (problem_.seq_lens[seq] > 0 && !allows({seq, head})) return OutputRow{seq, head};
  return std::nullopt;
}

std::optional<OutputRow> WholeRun::first_against(const std::string& rule) const {
  return first_row([&](OutputRow row) { return allows(rule, row); });
}

std::optional<OutputRow> WholeRun::first_against_reading(const std::string& rule) const {
  return first_row([&](OutputRow row) { return allows_reading(rule, row); });
}

std::optional<OutputRow> WholeRun::first_against(const TokenWeights& weights, double times) const {
  if (!weights) return std::nullopt;
  return first_row([&](OutputRow row) {
    const Eigen::VectorXd its = weights(row, attention(row));
    return its.size() == 0 || is_output_of(its, row, times);
  });
}

bool WholeRun::is_made_of(const Eigen::VectorXd& weights, OutputRow row) const {
  return is_output_of(weights, row, 1, 2 * half_spacing(problem_.scalar));
}

bool WholeRun::is_output_of(const Eigen::VectorXd& weights, OutputRow row, double times,
                            double weights_off) const {
  const GatheredKv kv = kv_of(problem_, row);
  const Eigen::VectorXd expected = kv.values.transpose() * weights;
  // The bound is a share of the products' sizes, and of the number that is stored.
  const Eigen::MatrixXd sizes = kv.values.cwiseAbs().transpose();  // [head_size, seq_len]
  const Eigen::VectorXd size = sizes * weights.cwiseAbs();
  const Eigen::VectorXd right_size = sizes * attention(row).weights;
  Eigen::VectorXd allowed = 2 * times * bound(row).output;
  for (int dim = 0; dim < problem_.head_size; ++dim)
    if (right_size[dim] > 0) allowed[dim] *= std::max(1.0, 2 * size[dim] / right_size[dim]);
  return agree(
      output(row), expected,
      allowed + 2 * half_spacing(problem_.scalar) * expected.cwiseAbs() + weights_off * size);
}

bool WholeRun::allows(const std::string& rule, OutputRow row) const {
  bool says_something = false;
  for (const MistakenProblem& mistake : mistaken_problems(problem_, row.seq, row.head, traits_)) {
    if (mistake.rule != rule) continue;
    if (mistake.may_spare && is_right(row)) return true;
    const std::optional<bool> is_its = is_output_of(mistake, row);
    if (is_its.value_or(false)) return true;
    says_something |= is_its.has_value();
  }
  return !says_something;
}

bool WholeRun::allows_reading(const std::string& rule, OutputRow row) const {
  for (const MistakenReading& mistake : mistaken_readings(problem_, row.seq, row.head, traits_)) {
    if (mistake.rule != rule) continue;
    DecodeProblem changed = problem_;
    mistake.edit(changed);
    return is_output_of(changed, 1, row).value_or(true);
  }
  return true;
}

}  // namespace paged
