// Trying invariants on a stage and judging the verdicts by what the stage promises.
#pragma once
#include "tests/harness/invariant.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace paged {

/// One verdict with its place.
struct CheckResult {
  std::string stage;
  std::string invariant;
  std::string case_name;
  std::string backend;
  bool expected = true;  ///< false: the stage states that it breaks this invariant
  Verdict verdict;
  /// Whether it came out as expected.
  bool as_expected() const { return verdict.held == expected; }
};

/// What to try.
struct CheckRequest {
  std::vector<std::string> invariants;  ///< ids; empty: all that the stage promises or breaks
  std::vector<CaseSpec> cases;          ///< empty: the invariants' own
  std::uint64_t seed = 1;
};

/// Tries every requested invariant on every case that the stage supports, and calls `done` after
/// each. Throws InputError for an unknown id, for an invariant that the stage makes no statement
/// about, or a requested case that it does not support.
std::vector<CheckResult> run_checks(KernelUnderTest& kernel, const CheckRequest& request,
                                    const std::function<void(const CheckResult&)>& done = {});

}  // namespace paged
