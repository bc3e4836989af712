#include "tests/harness/check_run.h"

#include "reference/input_error.h"

#include <algorithm>

namespace paged {
namespace {

bool promises(const Stage& stage, const std::string& id) {
  return std::find(stage.promises.begin(), stage.promises.end(), id) != stage.promises.end();
}

bool breaks(const Stage& stage, const std::string& id) {
  return std::any_of(stage.breaks.begin(), stage.breaks.end(),
                     [&](const BrokenPromise& broken) { return broken.invariant == id; });
}

std::vector<const Invariant*> choose(const KernelUnderTest& kernel, const CheckRequest& request) {
  const Stage& stage = kernel.stage();
  std::vector<const Invariant*> chosen;
  for (const std::string& id : request.invariants) {
    const Invariant& invariant = find_invariant(id);
    if (!promises(stage, id) && !breaks(stage, id))
      throw InputError("stage " + std::to_string(stage.number) + " (" + stage.name +
                       ") makes no statement about the invariant " + id);
    if (const std::string reason = why_not_on(invariant, kernel); !reason.empty())
      throw InputError("the invariant " + id + " cannot be tried here: " + reason);
    chosen.push_back(&invariant);
  }
  if (!chosen.empty()) return chosen;
  for (const Invariant& invariant : invariants())
    if ((promises(stage, invariant.id) || breaks(stage, invariant.id)) &&
        why_not_on(invariant, kernel).empty())
      chosen.push_back(&invariant);
  return chosen;
}

std::string why_unfit(const Invariant& invariant, const Case& c) {
  return invariant.refuses ? invariant.refuses(c.problem) : "";
}

void refuse_unfit(const Invariant& invariant, const Case& c) {
  const std::string reason = why_unfit(invariant, c);
  if (!reason.empty())
    throw InputError("the invariant " + invariant.id + " cannot be tried on " + c.name + ": " +
                     reason);
}

bool can_have_probabilities(const CaseSpec& spec, ScalarType probabilities) {
  const CacheType cache = spec.cache.value_or(same_as(spec.scalar));
  return probabilities == ScalarType::f32 ||
         (spec.scalar == ScalarType::f16 && cache == CacheType::f16);
}

/// The invariant's own cases, as far as the stage is built for them. Throws InputError, with the
/// reason, if it is built for none.
std::vector<Case> own_cases(const Invariant& invariant, const KernelUnderTest& kernel,
                            const CheckRequest& request) {
  std::vector<Case> cases;
  std::string why_none = "none fits";
  for (ScalarType scalar : kernel.stage().supports.scalars)
    for (CaseSpec& spec : invariant.cases(scalar, request.seed)) {
      if (!can_have_probabilities(spec, request.probabilities)) continue;
      spec.probabilities = request.probabilities;
      Case c = build_case(spec);
      try {
        kernel.check_supported(c.problem);
        cases.push_back(std::move(c));
      } catch (const InputError& error) {
        why_none = error.what();
      }
    }
  if (cases.empty())
    throw InputError("no case of the invariant " + invariant.id + " can be tried: " + why_none);
  return cases;
}

}  // namespace

std::vector<CheckResult> run_checks(KernelUnderTest& kernel, const CheckRequest& request,
                                    const std::function<void(const CheckResult&)>& done) {
  const Stage& stage = kernel.stage();
  const std::vector<const Invariant*> chosen = choose(kernel, request);
  std::vector<Case> given;
  for (const CaseSpec& spec : request.cases) {
    given.push_back(build_case(spec));
    kernel.check_supported(given.back().problem);
  }
  if (!request.invariants.empty())
    for (const Invariant* invariant : chosen)
      for (const Case& c : given) refuse_unfit(*invariant, c);
  std::vector<CheckResult> results;
  for (const Invariant* invariant : chosen) {
    const std::vector<Case> own =
        given.empty() ? own_cases(*invariant, kernel, request) : std::vector<Case>{};
    for (const Case& c : given.empty() ? own : given) {
      if (!why_unfit(*invariant, c).empty()) continue;
      CheckResult result;
      result.stage = stage.name;
      result.invariant = invariant->id;
      result.case_name = c.name;
      result.backend = name_of(kernel.device().backend());
      result.expected = !breaks(stage, invariant->id);
      result.verdict = try_invariant(*invariant, kernel, c, request.seed);
      results.push_back(result);
      if (done) done(results.back());
    }
  }
  if (results.empty())
    throw InputError("none of the invariants of stage " + std::to_string(stage.number) + " (" +
                     stage.name + ") can be tried on these cases");
  return results;
}

}  // namespace paged
