// Trying invariants on random cases, until one fails or time is up, and making what failed small.
#pragma once
#include "tests/harness/check_run.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace paged {

/// A stage, or a kernel of somebody else's.
struct FuzzTarget {
  const Stage* stage;  ///< says what cases may ask for
  /// run_checks() or check_plugin() on the cases of a request. Throws InputError as they do.
  std::function<std::vector<CheckResult>(const CheckRequest& request)> check;
};

struct FuzzRequest {
  std::uint64_t seed = 1;
  double seconds = 10;    ///< for drawing and trying; then the case under way is finished
  double shrinking = 30;  ///< seconds, at most, for making the failing case smaller
  std::vector<std::string> invariants;  ///< ids; empty: all that are promised and fit a case
};

struct FuzzFailure {
  CaseSpec spec;            ///< the smallest that still fails
  CheckResult result;       ///< of it
  CaseSpec drawn;           ///< what it was made from
  std::int64_t number = 0;  ///< of the drawn case, from 0
};

struct FuzzOutcome {
  std::int64_t cases = 0;    ///< tried
  std::int64_t refused = 0;  ///< drawn, but there is no answer of numbers, or nothing to try
  std::int64_t tries = 0;    ///< of an invariant on a case
  std::int64_t failed = 0;   ///< of these, all on the last case
  std::optional<FuzzFailure> failure;
};

/// Case number n is the same for the same stage, seed and n, however much time there is. A result
/// fails if it is not as the stage states; that a stage keeps, on some case, what it states to
/// break is none. `progress` is called before each case with their number.
FuzzOutcome fuzz(const FuzzTarget& target, const FuzzRequest& request,
                 const std::function<void(std::int64_t)>& progress = {});

}  // namespace paged
