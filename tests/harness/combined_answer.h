// What the outputs of some runs say about the output of another.
#pragma once
#include "tests/harness/comparison.h"

#include <vector>

namespace paged {

/// A run, the reference's answer to its problem, and a factor.
struct Term {
  double factor = 1;
  const DecodeOutputs* outputs;
  const ReferenceAnswer* answer;
};

/// An answer for compare() that expects sum factor * outputs in place of the reference's output,
/// corrected by what exact arithmetic would leave of the difference (nothing, where the invariant
/// is exact), within the sum of the bounds of all runs. With a single term of factor 1 the LSE is
/// expected likewise, else the reference's is. Where a term is not finite and the reference is, the
/// reference's value is expected: NaN is never right because another run has it too.
ReferenceAnswer combined_answer(const ReferenceAnswer& answer, const std::vector<Term>& terms);

}  // namespace paged
