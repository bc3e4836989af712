// What lies between inputs and output, against the reference: statistics, logits, partitions.
#pragma once
#include "tests/harness/comparison.h"

#include <optional>
#include <string>

namespace paged {

/// The first intermediate that is wrong, of the sequence that tells most (telling_sequence.h).
struct IntermediateDifference {
  std::string message;  ///< "" if there is none
  int seq = -1, head = -1;
  std::optional<WrongNumber> wrong = {};
};

/// The first intermediate of the telling sequence that is outside its bound, with its place.
/// Compares whatever was handed out: LSE, maximum and sum of every (sequence, head), every logit,
/// and of every partition that has tokens its maximum, sum and output, down to the dimension.
///
/// A maximum over logits with a NaN among them is not compared: fmax() ignores a NaN, and the sum
/// shows it. Logits and partitions past a sequence's end are nobody's and not compared, either.
IntermediateDifference intermediate_difference(const DecodeProblem& problem,
                                               const DecodeOutputs& outputs,
                                               const ReferenceAnswer& reference);

}  // namespace paged
