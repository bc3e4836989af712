// The attention weights of any implementation, read from outside.
//
// Attention is linear in V: with the values of a token set to a unit vector and all others to zero,
// an output element is the weight of that token. One run reads head_size weights at once.
#pragma once
#include "reference/decode_problem.h"
#include "reference/stage_arithmetic.h"
#include "tests/harness/kernel_under_test.h"

#include <Eigen/Core>

#include <cstdint>
#include <functional>
#include <vector>

namespace paged {

/// Which number a cache slot's weight is counted under, 0 ... labels - 1; -1: it isn't counted.
using SlotLabel = std::function<int(std::int64_t block, int kv_head, int offset)>;

/// Weights as an implementation has them, as the reference has them, and how far apart they may be.
struct LabelledWeights {
  Eigen::MatrixXd got;        // [num_seqs * num_heads, labels]
  Eigen::MatrixXd reference;  // [num_seqs * num_heads, labels]
  Eigen::MatrixXd bound;      // [num_seqs * num_heads, labels]
};

/// Reads the weights of every (sequence, head) in ceil(labels / head_size) runs. Slots of one label
/// are added up. The problem's own values are not used.
LabelledWeights recover_labelled_weights(KernelUnderTest& kernel, const DecodeProblem& problem,
                                         int labels, const SlotLabel& label);

/// How the slots of the cache are told apart when one (sequence, head) is looked at: each slot of
/// the sequence's own pages alone, the others by their block.
class SlotsOfSequence {
 public:
  SlotsOfSequence(const DecodeProblem& problem, int seq);

  int own() const { return own_; }        ///< slots in the sequence's pages: pages * block_size
  int labels() const { return labels_; }  ///< own() + num_blocks
  /// The position of a slot in the sequence (also past its end), or own() + block. A block that
  /// stands in the row twice counts at its first place.
  int label(std::int64_t block, int offset) const;

 private:
  int block_size_;
  int own_;
  int labels_;
  std::vector<int> first_;  // [num_blocks], label of offset 0 in own blocks; -1 in others
};

/// The weights that one (sequence, head) puts on the cache.
struct RecoveredWeights {
  int seq = 0;
  int head = 0;
  /// [slots.labels()], of the KV head that the query head belongs to.
  Eigen::VectorXd weights;
  /// [num_kv_heads], all the weight on each KV head; empty if there are more than head_size of
  /// them.
  Eigen::VectorXd by_kv_head;
};

/// Reads them in ceil(slots / head_size) + 1 runs.
RecoveredWeights recover_weights(KernelUnderTest& kernel, const DecodeProblem& problem, int seq,
                                 int head);

/// What recover_weights() reads of an implementation that is right but for where it reads values:
/// `edit` puts into the value cache what that is.
Eigen::VectorXd weights_read_through(const DecodeProblem& problem, int seq, int head,
                                     const std::function<void(DecodeProblem& problem)>& edit);

/// What the weights must be, and how far off.
struct ExpectedWeights {
  Eigen::VectorXd weights;  // [slots.labels()]
  Eigen::VectorXd bound;    // [slots.labels()]
};

/// Of `problem`, counted under the labels of `slots`, which may be those of a problem whose table
/// or lengths differ: then it says what weights an implementation has that confuses the two.
ExpectedWeights expected_weights(const DecodeProblem& problem, const StageArithmetic& arithmetic,
                                 int seq, int head, const SlotsOfSequence& slots);

}  // namespace paged
