#include "tests/harness/fuzz.h"

#include "reference/input_error.h"
#include "tests/harness/random_case.h"
#include "tests/harness/smaller_cases.h"

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace paged {
namespace {

class Clock {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

bool fails(const CheckResult& result) {
  return !result.as_expected() && (result.expected || result.verdict.faulty);
}

/// Whether a smaller case fails in the same way, as far as it is known: shrinking must not slip
/// from one mistake to another, nor to a case that is too small to show its cause.
bool is_same_failure(const CheckResult& smaller, const CheckResult& failure) {
  const Verdict &its = smaller.verdict, &known = failure.verdict;
  return smaller.invariant == failure.invariant && its.broken_execution == known.broken_execution &&
         its.faulty == known.faulty && (known.cause.empty() || its.cause == known.cause);
}

std::vector<CheckResult> results_on(const FuzzTarget& target, const CaseSpec& spec,
                                    std::vector<std::string> invariants, std::uint64_t seed) {
  CheckRequest request;
  request.invariants = std::move(invariants);
  request.cases = {spec};
  request.seed = seed;
  request.runs_for_findings_alone = false;
  return target.check(request);
}

FuzzFailure shrunk(const FuzzTarget& target, const FuzzRequest& request, FuzzFailure failure) {
  const Clock clock;
  const auto still_fails = [&](const CaseSpec& spec) {
    try {
      for (CheckResult& result :
           results_on(target, spec, {failure.result.invariant}, request.seed)) {
        if (!fails(result) || !is_same_failure(result, failure.result)) continue;
        failure.result = std::move(result);
        return true;
      }
    } catch (const InputError&) {  // it cannot be built, or not tried
    }
    return false;
  };
  failure.spec = shrink(failure.drawn, target.stage->supports, still_fails,
                        [&] { return clock.seconds() < request.shrinking; });
  return failure;
}

}  // namespace

FuzzOutcome fuzz(const FuzzTarget& target, const FuzzRequest& request,
                 const std::function<void(std::int64_t)>& progress) {
  const Clock clock;
  FuzzOutcome outcome;
  for (std::int64_t number = 0; clock.seconds() < request.seconds; ++number) {
    if (progress) progress(number);
    Random random(Random(request.seed).bits() +
                  static_cast<std::uint64_t>(number) * 0xD1342543DE82EF95U);
    CaseSpec spec = random_case(random, *target.stage);
    spec.name =
        "random case " + std::to_string(number) + " of seed " + std::to_string(request.seed);
    std::vector<CheckResult> results;
    try {
      results = results_on(target, spec, request.invariants, request.seed);
    } catch (const InputError&) {
      ++outcome.refused;
      continue;
    }
    ++outcome.cases;
    outcome.tries += static_cast<std::int64_t>(results.size());
    const auto failed = std::find_if(results.begin(), results.end(), fails);
    if (failed == results.end()) continue;
    outcome.failed = std::count_if(results.begin(), results.end(), fails);
    outcome.failure = shrunk(target, request, {spec, *failed, spec, number});
    break;
  }
  return outcome;
}

}  // namespace paged
