// The one comparison: outputs against the reference, and outputs against each other.
#pragma once
#include "reference/decode_attention.h"
#include "reference/error_bound.h"
#include "tests/harness/kernel_under_test.h"

#include <optional>
#include <string>
#include <vector>

namespace paged {

/// The reference's answer to a problem with the bounds that a stage's arithmetic allows.
struct ReferenceAnswer {
  std::vector<HeadAttention> attention;  // [num_seqs * num_heads]
  std::vector<HeadErrorBound> bounds;    // [num_seqs * num_heads]
  StageArithmetic arithmetic;            ///< that the bounds are for
};

/// `arithmetic` is the stage's; the problem chooses the type of its probabilities.
ReferenceAnswer reference_answer(const DecodeProblem& problem, const StageArithmetic& arithmetic);

/// The first number that is wrong, for whoever explains a failure; the message has it in words.
struct WrongNumber {
  double got = 0;
  /// |error| / bound of an output element that its bound does not allow; 0 of what is wrong in
  /// another way: no number, or a number where none belongs, or an intermediate.
  double times_bound = 0;
};

/// The outcome of comparing an output with the reference.
struct Comparison {
  bool passed = true;
  double max_abs_error =
      0;                  ///< over all elements of the output; infinite if NaN or infinity is wrong
  double bound_used = 0;  ///< largest |error| / bound of an output element; <= 1 if passed
  double relative_l2 = 0;      ///< ||output - reference|| / ||reference||
  double cosine_distance = 0;  ///< 1 - cosine of the angle between output and reference
  std::string message;         ///< "" if passed, else what is wrong, where, by how much
  /// Where a wrong number is: the first in a sequence of 16 tokens or more, else that of the
  /// longest wrong one, for many mistakes look alike in one or two tokens. -1: nowhere, or in the
  /// whole.
  int seq = -1, head = -1;
  std::optional<WrongNumber> wrong = {};  ///< that number
};

/// Compares an output, and all intermediates that were handed out, with the reference, in this
/// order: the sets of NaN and infinity positions; every element against its own bound; all elements
/// together, beyond what their rounding explains, so that a small bias shows; then the
/// intermediates (intermediate_comparison.h). NaN is right where the reference is NaN, and nowhere
/// else.
Comparison compare(const DecodeProblem& problem, const DecodeOutputs& outputs,
                   const ReferenceAnswer& reference);

/// "" if sequence `seq_a` of `a` and `seq_b` of `b` agree in every bit of output and LSE, else the
/// first element that differs. Heads in `heads`, or all if empty.
std::string bit_difference(const DecodeOutputs& a, int seq_a, const DecodeOutputs& b, int seq_b,
                           const std::vector<int>& heads = {});

/// The same over all sequences.
std::string bit_difference(const DecodeOutputs& a, const DecodeOutputs& b);

}  // namespace paged
