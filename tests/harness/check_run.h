// Trying invariants on a stage and judging the verdicts by what the stage promises.
#pragma once
#include "tests/harness/invariant.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace paged {

/// One verdict with its place.
struct CheckResult {
  std::string stage;
  std::string invariant;
  std::string case_name;
  std::string backend;
  std::string kernel_file = {};  ///< the shared library; "" for stages
  bool expected = true;          ///< false: the stage states that it breaks this invariant
  Verdict verdict;
  /// Whether it came out as expected. A bad access or damage never is: a stage may state that its
  /// results are wrong, not that it writes where it must not.
  bool as_expected() const { return !verdict.faulty && verdict.held == expected; }
};

/// What to try.
struct CheckRequest {
  /// Ids; empty: all that the stage promises or breaks, and that can be tried on the device.
  std::vector<std::string> invariants;
  std::vector<CaseSpec> cases;  ///< empty: the invariants' own
  std::uint64_t seed = 1;
  /// Of the invariants' own cases; with f16, only those of scalar f16 and an f16 cache are tried.
  ScalarType probabilities = ScalarType::f32;
  /// Without ids: the invariants about execution have runs of their own. They need none where
  /// others are tried on the same case: every run is watched, and what is found fails the invariant
  /// for which it ran.
  bool runs_for_findings_alone = true;
  /// Trying ends with the first invariant that fails (FirstFailure).
  bool stops_at_first_failure = false;
};

/// A case that somebody asked for, built, or one of an invariant's own, which is built when it is
/// tried and not kept.
class PlannedCase {
 public:
  explicit PlannedCase(Case built)
      : name_(built.name), built_(std::make_shared<const Case>(std::move(built))) {}
  explicit PlannedCase(CaseSpec spec) : name_(spec.name), spec_(std::move(spec)) {}

  const std::string& name() const { return name_; }
  std::shared_ptr<const Case> get() const {
    return built_ ? built_ : std::make_shared<const Case>(build_case(spec_));
  }

 private:
  std::string name_;
  CaseSpec spec_;
  std::shared_ptr<const Case> built_;
};

/// One invariant on one case.
struct PlannedTry {
  const Invariant* invariant;
  PlannedCase c;
};

/// An invariant that is left out.
struct NotTried {
  std::string invariant;
  std::string reason;
  std::string stage = {};
  std::string backend = {};
  /// Of its planned cases, where trying was stopped on the way; 0: it was not begun.
  int cases_not_reached = 0;
};

/// Cases of an invariant that a kernel does not take, for one reason.
struct CasesLeftOut {
  std::string invariant;
  std::string reason;
  int cases = 0;
};

/// What is tried, in order, and what is not.
struct CheckPlan {
  std::vector<PlannedTry> tries;
  std::vector<NotTried> not_tried;           ///< only where nobody asked for invariants by id
  std::vector<CasesLeftOut> cases_left_out;  ///< of invariants that are tried on other cases
  bool stops_at_first_failure = false;
};

/// When trying ends before everything that was planned has been tried: with the first invariant
/// that does not come out as stated, as soon as one of its failures has a likely cause or is a
/// crash, and after three of them at the latest. After single-token, whose failures are too plain
/// for a cause, comes reference, whose have one.
class FirstFailure {
 public:
  explicit FirstFailure(const CheckPlan& plan) : plan_(plan) {}
  /// Results in the order of the plan.
  void take(const CheckResult& result);
  /// Whether the plan's try of this index, the next, is not tried any more.
  bool ends_before(std::size_t next) const;

 private:
  const CheckPlan& plan_;
  std::string failed_;  ///< id of the invariant
  int failures_ = 0;    ///< of it
  bool is_explained_ = false;
};

/// What of a plan was left out after so many tries, because of FirstFailure.
std::vector<NotTried> left_out_after(const KernelUnderTest& kernel, const CheckPlan& plan,
                                     std::size_t tried);

/// Builds the cases that were asked for. Invariants that were not asked for by id are left out on
/// cases that they cannot be tried on. Throws InputError for an unknown id, for an invariant that
/// the stage makes no statement about, that needs a device that watches accesses or something else
/// that the stage lacks, or that cannot be tried on a requested case, for a requested case that the
/// stage does not support, and if nothing is left to try.
CheckPlan plan_checks(const KernelUnderTest& kernel, const CheckRequest& request);

/// The verdict of a try in its place.
CheckResult result_of(const KernelUnderTest& kernel, const PlannedTry& planned, Verdict verdict);

/// Tries everything that is planned, up to a FirstFailure where the plan says so, and calls
/// `trying` before each.
std::vector<CheckResult> run_checks(KernelUnderTest& kernel, const CheckPlan& plan,
                                    std::uint64_t seed,
                                    const std::function<void(const PlannedTry&)>& trying = {});

/// Tries everything that plan_checks() plans. Throws what it throws.
std::vector<CheckResult> run_checks(KernelUnderTest& kernel, const CheckRequest& request,
                                    const std::function<void(const PlannedTry&)>& trying = {});

}  // namespace paged
