#include "tests/harness/check_run.h"

#include "reference/input_error.h"
#include "tests/harness/counted_noun.h"

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

const Invariant& invariant_asked_for(const std::string& id, const KernelUnderTest& kernel) {
  const Invariant& invariant = find_invariant(id);
  if (!promises(kernel.stage(), id) && !breaks(kernel.stage(), id))
    throw InputError(title_of(kernel.stage()) + " makes no statement about the invariant " + id);
  if (const std::string reason = why_not_on(invariant, kernel); !reason.empty())
    throw InputError("the invariant " + id + " cannot be tried here: " + reason);
  return invariant;
}

std::vector<const Invariant*> choose(const KernelUnderTest& kernel, const CheckRequest& request,
                                     std::vector<NotTried>& not_tried) {
  std::vector<const Invariant*> chosen;
  for (const std::string& id : request.invariants)
    chosen.push_back(&invariant_asked_for(id, kernel));
  if (!chosen.empty()) return chosen;
  const bool others_run = promises(kernel.stage(), "reference");
  for (const Invariant& invariant : invariants()) {
    if (invariant.needs_watching && others_run && !request.runs_for_findings_alone) continue;
    std::string reason = why_not_on(invariant, kernel);
    if (reason.empty() && !promises(kernel.stage(), invariant.id) &&
        !breaks(kernel.stage(), invariant.id))
      reason = title_of(kernel.stage()) + " makes no statement about it";
    if (reason.empty())
      chosen.push_back(&invariant);
    else
      not_tried.push_back({invariant.id, reason});
  }
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

/// Counts one more case that is left out; all are of one invariant.
void leave_out(const Invariant& invariant, const std::string& reason,
               std::vector<CasesLeftOut>& left_out) {
  for (CasesLeftOut& other : left_out)
    if (other.reason == reason) {
      ++other.cases;
      return;
    }
  left_out.push_back({invariant.id, reason, 1});
}

/// The invariant's own cases, as far as the stage is built for them; left_out says which others
/// there are. An invariant refuses none of its own.
std::vector<PlannedCase> own_cases(const Invariant& invariant, const KernelUnderTest& kernel,
                                   const CheckRequest& request,
                                   std::vector<CasesLeftOut>& left_out) {
  std::vector<PlannedCase> cases;
  for (ScalarType scalar : kernel.stage().supports.scalars)
    for (CaseSpec& spec : invariant.cases(scalar, request.seed)) {
      if (!can_have_probabilities(spec, request.probabilities)) continue;
      spec.probabilities = request.probabilities;
      try {
        kernel.check_supported(shape_of_case(spec), !spec.alibi_slopes.empty(),
                               spec.block_sparse.active());
        cases.emplace_back(std::move(spec));
      } catch (const InputError& error) {
        leave_out(invariant, error.what(), left_out);
      }
    }
  return cases;
}

std::vector<PlannedCase> given_cases(const KernelUnderTest& kernel, const CheckRequest& request) {
  std::vector<PlannedCase> cases;
  for (const CaseSpec& spec : request.cases) {
    Case built = build_case(spec);
    kernel.check_supported(built.problem);
    cases.emplace_back(std::move(built));
  }
  return cases;
}

/// Those that an invariant can be tried on.
std::vector<PlannedCase> fit_cases(const Invariant& invariant,
                                   const std::vector<PlannedCase>& given,
                                   std::vector<CasesLeftOut>& left_out) {
  std::vector<PlannedCase> cases;
  for (const PlannedCase& c : given)
    if (const std::string reason = why_unfit(invariant, *c.get()); reason.empty())
      cases.push_back(c);
    else
      leave_out(invariant, reason, left_out);
  return cases;
}

}  // namespace

CheckPlan plan_checks(const KernelUnderTest& kernel, const CheckRequest& request) {
  CheckPlan plan;
  plan.stops_at_first_failure = request.stops_at_first_failure;
  const std::vector<const Invariant*> chosen = choose(kernel, request, plan.not_tried);
  const bool by_id = !request.invariants.empty();
  const auto given = given_cases(kernel, request);
  for (const Invariant* invariant : chosen)
    for (const auto& c : given)
      if (by_id) refuse_unfit(*invariant, *c.get());
  for (const Invariant* invariant : chosen) {
    std::vector<CasesLeftOut> left_out;
    const auto cases = given.empty() ? own_cases(*invariant, kernel, request, left_out)
                                     : fit_cases(*invariant, given, left_out);
    for (const PlannedCase& c : cases) plan.tries.push_back({invariant, c});
    if (!cases.empty()) {
      plan.cases_left_out.insert(plan.cases_left_out.end(), left_out.begin(), left_out.end());
      continue;
    }
    const std::string why_none = left_out.empty() ? "none fits" : left_out.back().reason;
    // A stage that promises an invariant has a case for it; what a library is for, we don't know.
    if (given.empty() && (by_id || kernel.stage().number > 0))
      throw InputError("no case of the invariant " + invariant->id + " can be tried: " + why_none);
    plan.not_tried.push_back({invariant->id, why_none});
  }
  for (NotTried& left_out : plan.not_tried) {
    left_out.stage = kernel.stage().name;
    left_out.backend = name_of(kernel.device().backend());
  }
  if (plan.tries.empty())
    throw InputError("none of the invariants of " + title_of(kernel.stage()) +
                     (given.empty() ? " can be tried" : " can be tried on these cases"));
  return plan;
}

void FirstFailure::take(const CheckResult& result) {
  if (result.as_expected()) return;
  failures_ = failed_ == result.invariant ? failures_ + 1 : 1;
  failed_ = result.invariant;
  is_explained_ |= result.verdict.faulty || !result.verdict.cause.empty();
}

bool FirstFailure::ends_before(std::size_t next) const {
  constexpr int kEnough = 3;
  if (!plan_.stops_at_first_failure || failures_ == 0 || next >= plan_.tries.size()) return false;
  const std::string& id = plan_.tries[next].invariant->id;
  if (is_explained_) return true;
  if (failed_ == "single-token") return id != failed_ && id != "reference";
  return failures_ >= kEnough || id != failed_;
}

std::vector<NotTried> left_out_after(const KernelUnderTest& kernel, const CheckPlan& plan,
                                     std::size_t tried) {
  const std::string why = "left out after the first failure (--first)";
  std::vector<NotTried> left_out;
  for (std::size_t i = tried; i < plan.tries.size(); ++i) {
    const std::string& id = plan.tries[i].invariant->id;
    const bool is_begun = tried > 0 && plan.tries[tried - 1].invariant->id == id;
    if (left_out.empty() || left_out.back().invariant != id)
      left_out.push_back({id, why, kernel.stage().name, name_of(kernel.device().backend())});
    if (!is_begun) continue;
    const int cases = ++left_out.back().cases_not_reached;
    left_out.back().reason = counted(cases, "case") + ", " + why;
  }
  return left_out;
}

CheckResult result_of(const KernelUnderTest& kernel, const PlannedTry& planned, Verdict verdict) {
  CheckResult result;
  result.stage = kernel.stage().name;
  result.invariant = planned.invariant->id;
  result.case_name = planned.c.name();
  result.backend = name_of(kernel.device().backend());
  result.expected = !breaks(kernel.stage(), result.invariant);
  result.verdict = std::move(verdict);
  return result;
}

std::vector<CheckResult> run_checks(KernelUnderTest& kernel, const CheckPlan& plan,
                                    std::uint64_t seed,
                                    const std::function<void(const PlannedTry&)>& trying) {
  std::vector<CheckResult> results;
  FirstFailure first(plan);
  for (const PlannedTry& planned : plan.tries) {
    if (first.ends_before(results.size())) break;
    if (trying) trying(planned);
    results.push_back(result_of(kernel, planned,
                                try_invariant(*planned.invariant, kernel, *planned.c.get(), seed)));
    first.take(results.back());
  }
  return results;
}

std::vector<CheckResult> run_checks(KernelUnderTest& kernel, const CheckRequest& request,
                                    const std::function<void(const PlannedTry&)>& trying) {
  return run_checks(kernel, plan_checks(kernel, request), request.seed, trying);
}

}  // namespace paged
