// What every implementation must keep, each statement one object.
#pragma once
#include "tests/harness/case_builder.h"
#include "tests/harness/comparison.h"
#include "tests/harness/kernel_under_test.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace paged {

/// The outcome of trying one invariant on one case.
struct Verdict {
  bool held = true;
  std::string message;       ///< "" if it held, else what is wrong, where, by how much
  double max_abs_error = 0;  ///< of comparisons by bound
  double bound_used = 0;     ///< largest share of a bound that was used
  bool faulty = false;       ///< something went wrong besides a result: a finding, damage

  static Verdict fail(std::string message) { return {false, std::move(message)}; }
  static Verdict of(const Comparison& comparison) {
    return {comparison.passed, comparison.message, comparison.max_abs_error, comparison.bound_used};
  }
};

/// One invariant: what must hold, how it is tried, and what it catches.
struct Invariant {
  std::string id;         ///< fixed: scripts rely on it
  std::string statement;  ///< one sentence
  std::string formula;    ///< plain text
  std::string method;     ///< how it is tried
  std::string catches;    ///< the mistakes that break it
  /// The cases it is tried on, for one scalar type.
  std::function<std::vector<CaseSpec>(ScalarType scalar, std::uint64_t seed)> cases;
  /// "" or why it cannot be tried on a problem. Not set: it can be tried on any.
  std::function<std::string(const DecodeProblem& problem)> refuses = {};
  /// Tries it. The case is valid, the kernel supports it, and it is not refused.
  std::function<Verdict(KernelUnderTest& kernel, const Case& c, std::uint64_t seed)> check;
};

/// All invariants, in the order in which a learner should meet them.
const std::vector<Invariant>& invariants();

/// Throws InputError that lists the ids there are.
const Invariant& find_invariant(const std::string& id);

/// Tries an invariant on one case and adds whatever else went wrong in the runs: findings of the
/// CPU machine, damaged guard zones. Either makes the verdict a failure.
Verdict try_invariant(const Invariant& invariant, KernelUnderTest& kernel, const Case& c,
                      std::uint64_t seed);

}  // namespace paged
