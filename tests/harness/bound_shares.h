// How much of each derived bound the errors of a run use.
#pragma once
#include "tests/harness/comparison.h"

namespace paged {

/// The largest |error| / bound of each kind of number that a run hands out; 0 where it hands out none.
struct BoundShares {
  double output = 0;  ///< rounded to the scalar's type
  double logits = 0;
  double maximum = 0;
  double sum = 0;
  double lse = 0;
  double partition_maximum = 0;
  double partition_sum = 0;
  double partition_output = 0;  ///< in f32

  /// Takes the larger of each.
  void include(const BoundShares& other);
};

/// Of a run with all intermediates. Errors of numbers without an error bound of their own, which must
/// be exact, count as none.
BoundShares shares_of(const DecodeProblem& problem, const DecodeOutputs& outputs,
                      const ReferenceAnswer& reference);

}  // namespace paged
