// How much of each derived bound the errors of a run use.
#pragma once
#include "tests/harness/comparison.h"

#include <string>
#include <vector>

namespace paged {

/// The largest |error| / bound of each kind of number that a run hands out; 0 where it hands out
/// none. Infinite where one is NaN or infinite and should not be, the reverse, or is wrong and must
/// be exact.
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

/// One of them, as people call it.
struct BoundShareName {
  const char* name;  ///< "partitions: maximum"
  double BoundShares::*share;
};
/// All of them, in order.
const std::vector<BoundShareName>& bound_share_names();

/// Whether a stage of this arithmetic has errors in such numbers: one that subtracts no maximum
/// hands out 0 for it, exactly, and one without partitions has nothing of theirs.
bool has_errors_in(const BoundShareName& share, const StageArithmetic& arithmetic);

/// What of a stage's largest shares over many cases shows that a bound is wrong, one line each:
/// above 1 it is exceeded; below 1/8 it proves little; and a share where the arithmetic has none.
std::vector<std::string> complaints_about(const BoundShares& shares,
                                          const StageArithmetic& arithmetic);

/// Of a run with all intermediates.
BoundShares shares_of(const DecodeProblem& problem, const DecodeOutputs& outputs,
                      const ReferenceAnswer& reference);

}  // namespace paged
