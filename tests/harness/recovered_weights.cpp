#include "tests/harness/recovered_weights.h"

#include "reference/cache_layout.h"
#include "reference/decode_attention.h"
#include "reference/error_bound.h"
#include "tests/harness/comparison.h"

#include <algorithm>
#include <cmath>

namespace paged {
namespace {

/// The factor of stored values: one that is stored as 1 comes out as this.
double value_scale(const DecodeProblem& problem) {
  return is_fp8(problem.cache()) ? static_cast<double>(problem.v_scale) : 1.0;
}

/// The problem with unit vectors for values: the slots labelled first, first + 1, ... get dimension
/// 0, 1, ...
DecodeProblem with_unit_values(const DecodeProblem& problem, int first, const SlotLabel& label) {
  DecodeProblem changed = problem;
  changed.value_cache = Tensor(problem.cache(), problem.value_cache.shape());
  for (std::int64_t block = 0; block < problem.num_blocks(); ++block)
    for (int kv_head = 0; kv_head < problem.num_kv_heads; ++kv_head)
      for (int offset = 0; offset < problem.block_size; ++offset) {
        const int dim = label(block, kv_head, offset) - first;
        if (dim >= 0 && dim < problem.head_size)
          changed.value_cache.write(value_index(problem, block, kv_head, offset, dim), 1);
      }
  return changed;
}

/// Calls visit(run, first label of the run) for as many runs as the labels take.
template <typename Visitor>
void for_each_run(const DecodeProblem& problem, int labels, const SlotLabel& label, Visitor visit) {
  for (int first = 0; first < labels; first += problem.head_size)
    visit(with_unit_values(problem, first, label), first);
}

}  // namespace

LabelledWeights recover_labelled_weights(KernelUnderTest& kernel, const DecodeProblem& problem,
                                         int labels, const SlotLabel& label) {
  const int rows = problem.num_seqs() * problem.num_heads;
  const double scale = value_scale(problem);
  LabelledWeights weights{Eigen::MatrixXd(rows, labels), Eigen::MatrixXd(rows, labels),
                          Eigen::MatrixXd(rows, labels)};
  for_each_run(problem, labels, label, [&](const DecodeProblem& units, int first) {
    const DecodeOutputs outputs = kernel.run(units);
    const ReferenceAnswer answer = reference_answer(units, kernel.stage().arithmetic);
    const int count = std::min(problem.head_size, labels - first);
    for (int row = 0; row < rows; ++row)
      for (int dim = 0; dim < count; ++dim) {
        weights.got(row, first + dim) =
            outputs.output.read(static_cast<std::int64_t>(row) * problem.head_size + dim) / scale;
        weights.reference(row, first + dim) = answer.attention[row].output[dim] / scale;
        weights.bound(row, first + dim) = answer.bounds[row].output[dim] / scale;
      }
  });
  return weights;
}

SlotsOfSequence::SlotsOfSequence(const DecodeProblem& problem, int seq)
    : block_size_(problem.block_size),
      own_(num_pages(problem.seq_lens[seq], problem.block_size) * problem.block_size),
      labels_(own_ + static_cast<int>(problem.num_blocks())),
      first_(problem.num_blocks(), -1) {
  for (int page = own_ / block_size_ - 1; page >= 0; --page)
    first_[problem.block_table(seq)[page]] = page * block_size_;
}

int SlotsOfSequence::label(std::int64_t block, int offset) const {
  return first_[block] >= 0 ? first_[block] + offset : own_ + static_cast<int>(block);
}

RecoveredWeights recover_weights(KernelUnderTest& kernel, const DecodeProblem& problem, int seq,
                                 int head) {
  const SlotsOfSequence slots(problem, seq);
  const int row = seq * problem.num_heads + head;
  const int own_kv_head = kv_head_of(head, problem.num_heads, problem.num_kv_heads);
  const double scale = value_scale(problem);
  const auto read = [&](int labels, const SlotLabel& label) {
    Eigen::VectorXd weights(labels);
    for_each_run(problem, labels, label, [&](const DecodeProblem& units, int first) {
      const DecodeOutputs outputs = kernel.run(units);
      for (int dim = 0; dim < std::min(problem.head_size, labels - first); ++dim)
        weights[first + dim] =
            outputs.output.read(static_cast<std::int64_t>(row) * problem.head_size + dim) / scale;
    });
    return weights;
  };
  RecoveredWeights recovered{seq, head, {}, {}};
  recovered.weights = read(slots.labels(), [&](std::int64_t block, int kv_head, int offset) {
    return kv_head == own_kv_head ? slots.label(block, offset) : -1;
  });
  if (problem.num_kv_heads <= problem.head_size)
    recovered.by_kv_head =
        read(problem.num_kv_heads, [](std::int64_t, int kv_head, int) { return kv_head; });
  return recovered;
}

Eigen::VectorXd weights_read_through(const DecodeProblem& problem, int seq, int head,
                                     const std::function<void(DecodeProblem& problem)>& edit) {
  const SlotsOfSequence slots(problem, seq);
  const int own_kv_head = kv_head_of(head, problem.num_heads, problem.num_kv_heads);
  const auto label = [&](std::int64_t block, int kv_head, int offset) {
    return kv_head == own_kv_head ? slots.label(block, offset) : -1;
  };
  Eigen::VectorXd weights(slots.labels());
  for_each_run(problem, slots.labels(), label, [&](DecodeProblem units, int first) {
    edit(units);
    const HeadAttention attention = attend(units, gather(units, seq, own_kv_head), seq, head);
    for (int dim = 0; dim < std::min(problem.head_size, slots.labels() - first); ++dim)
      weights[first + dim] = attention.output[dim] / value_scale(problem);
  });
  return weights;
}

ExpectedWeights expected_weights(const DecodeProblem& problem, const StageArithmetic& arithmetic,
                                 int seq, int head, const SlotsOfSequence& slots) {
  const double scale = value_scale(problem);
  const int kv_head = kv_head_of(head, problem.num_heads, problem.num_kv_heads);
  GatheredKv kv = gather(problem, seq, kv_head);
  kv.values.resize(kv.keys.rows(), 0);
  std::vector<int> labels(kv.keys.rows());  // [seq_len]
  for (int token = 0; token < kv.keys.rows(); ++token)
    labels[token] = slots.label(problem.block_table(seq)[token / problem.block_size],
                                token % problem.block_size);
  HeadAttention attention = attend(problem, kv, seq, head);
  // What a unit vector of each label would come out as: of all labels at once, since the reference
  // does not mind values that are wider than keys. NaN times 0 is NaN.
  attention.output =
      Eigen::VectorXd::Constant(slots.labels(), attention.weights.hasNaN() ? NAN : 0.0);
  for (int token = 0; token < attention.weights.size(); ++token)
    attention.output[labels[token]] += attention.weights[token] * scale;
  const HeadErrorBound bound = bound_unit_value_error(
      problem, kv, attention, with_probabilities(arithmetic, problem.probabilities), seq, head,
      labels, scale);
  return {attention.output / scale, bound.output / scale};
}

}  // namespace paged
