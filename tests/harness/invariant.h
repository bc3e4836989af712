// What every implementation must keep, each statement one object.
#pragma once
#include "kernels/finding.h"
#include "tests/harness/case_builder.h"
#include "tests/harness/comparison.h"
#include "tests/harness/kernel_under_test.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace paged {

/// A run in which one (sequence, head) came out wrong, so that its weights are worth a look.
struct Suspect {
  DecodeProblem problem;
  int seq = 0;
  int head = 0;
};

/// The outcome of trying one invariant on one case.
struct Verdict {
  bool held = true;
  std::string message;       ///< "" if it held, else what is wrong, where, by how much
  double max_abs_error = 0;  ///< of comparisons by bound
  double bound_used = 0;     ///< largest share of a bound that was used
  bool faulty = false;       ///< something went wrong besides a result: a finding, damage
  /// Id of the invariant about execution that the first finding breaks; "" without findings.
  std::string broken_execution = {};
  /// Id of the likely cause that the recovered weights point at; "" if they point at none.
  std::string cause = {};
  bool cause_shows_in_one_token = false;  ///< of a sequence (likely_cause.h)
  bool is_unexplained = false;            ///< a cause was looked for, and there is none
  /// For explanations: the first wrong number, where there is one; what kind of finding the first
  /// is; which cache's unused slots were overwritten in the run that failed. Runs in another
  /// process (plugin.h) do not hand these over.
  std::optional<WrongNumber> wrong_number = {};
  std::optional<FindingKind> finding = {};
  std::optional<PoisonedCache> poisoned = {};
  std::optional<Suspect> suspect = {};
  /// Of the runs that were judged, for comparison with another build's.
  RunRecord record = {};
  /// What they asked of memory; empty unless the device counts.
  Counts counts = {};

  static Verdict fail(std::string message) { return {false, std::move(message)}; }
  static Verdict of(const Comparison& comparison) {
    Verdict verdict{comparison.passed, comparison.message, comparison.max_abs_error,
                    comparison.bound_used};
    verdict.wrong_number = comparison.wrong;
    return verdict;
  }
  /// Of a run of `problem`, for comparisons that the attention weights can explain.
  static Verdict of(const Comparison& comparison, const DecodeProblem& problem);
  /// A failure in one (sequence, head) of a run of `problem`.
  static Verdict fail_at(std::string message, const DecodeProblem& problem, int seq, int head) {
    Verdict verdict = fail(std::move(message));
    verdict.suspect = Suspect{problem, seq, head};
    return verdict;
  }
};

/// One invariant: what must hold, how it is tried, and what it catches.
struct Invariant {
  std::string id;         ///< fixed: scripts rely on it
  std::string statement;  ///< one sentence
  std::string formula;    ///< plain text
  std::string method;     ///< how it is tried
  std::string catches;    ///< the mistakes that break it
  std::string reading;    ///< how to read its failure, one or two sentences
  /// The cases it is tried on, for one scalar type.
  std::function<std::vector<CaseSpec>(ScalarType scalar, std::uint64_t seed)> cases;
  /// "" or why it cannot be tried on a problem. Not set: it can be tried on any.
  std::function<std::string(const DecodeProblem& problem)> refuses = {};
  /// Tries it. The case is valid, the kernel supports it, and it is not refused.
  std::function<Verdict(KernelUnderTest& kernel, const Case& c, std::uint64_t seed)> check;
  /// A worked example, run on a kernel that keeps the invariant: lines with the numbers of this
  /// run.
  std::function<std::string(KernelUnderTest& kernel)> example;
  /// It can be tried only where every access is watched (KernelUnderTest::is_watched).
  bool needs_watching = false;
  /// What a kernel must have for it to be tried; null: nothing.
  bool StageFeatures::*needs = nullptr;
};

/// All invariants, in the order in which a learner should meet them.
const std::vector<Invariant>& invariants();

/// Throws InputError that lists the ids there are.
const Invariant& find_invariant(const std::string& id);

/// "" or why an invariant cannot be tried on a kernel, whatever the case.
std::string why_not_on(const Invariant& invariant, const KernelUnderTest& kernel);

/// Tries an invariant on one case and adds whatever else went wrong in the runs: findings of the
/// CPU machine, damaged guard zones. Either makes the verdict a failure. Where a comparison with
/// the reference failed, the message goes on with the token whose recovered weight is most wrong
/// and with the likely cause.
Verdict try_invariant(const Invariant& invariant, KernelUnderTest& kernel, const Case& c,
                      std::uint64_t seed);

}  // namespace paged
