#include "tests/mutants/hunt.h"

#include "tests/mutants/cache_trial.h"
#include "tests/mutants/cause_hunt.h"

#include <algorithm>

namespace paged {
namespace {

bool exists(const std::string& id) {
  return std::any_of(invariants().begin(), invariants().end(),
                     [&](const Invariant& invariant) { return invariant.id == id; });
}

/// The lists that mutants are built for (stages/instance_lists.h).
constexpr InstanceList kLists[] = {InstanceList::mutant, InstanceList::mutant_fp8,
                                   InstanceList::mutant_ragged, InstanceList::mutant_small_pages};

bool in_any_list(const DecodeShape& shape) {
  return std::any_of(std::begin(kLists), std::end(kLists), [&](InstanceList list) {
    return is_in(list, shape.scalar, shape.cache, shape.head_size, shape.block_size);
  });
}

Catch hunt(const Mutant& mutant, HuntingGround& ground, Device& device,
           const std::string& only = "") {
  if (mutant.kernel->cache_kernels != nullptr)
    return try_cache_kernels(mutant.kernel->cache_kernels(), device, only);
  return ground.hunt(stage_of(mutant), device, only);
}

std::string complaint_about(HuntResult& result, HuntingGround& ground, Device& device) {
  const Mutant& mutant = result.mutant;
  if (!mutant.proof.empty())
    return result.first.caught_by.empty()
               ? ""
               : "is said to be equivalent, but " + result.first.caught_by + " catches it";
  if (!mutant.meant.empty() && !exists(mutant.meant))
    return "is meant for " + mutant.meant + ", which is no invariant";
  if (result.first.caught_by.empty()) return "survives";
  if (!contains(mutant.expected, result.first.caught_by))
    return "is caught by " + result.first.caught_by + " first, which is not expected";
  if (mutant.meant.empty() || mutant.meant == result.first.caught_by) return "";
  result.meant = hunt(mutant, ground, device, mutant.meant);
  return result.meant.caught_by.empty()
             ? "is not caught by " + mutant.meant + ", which is there for it"
             : "";
}

}  // namespace

std::string finding_id(const std::string& fault) {
  const std::pair<FindingKind, const char*> ids[] = {
      {FindingKind::data_race, "no-race"},
      {FindingKind::uninitialised_read, "no-uninitialised"},
      {FindingKind::out_of_bounds_read, "in-bounds"},
      {FindingKind::out_of_bounds_write, "in-bounds"},
      {FindingKind::misaligned_access, "in-bounds"},
      {FindingKind::stack_overflow, "in-bounds"},
      {FindingKind::barrier_divergence, "no-barrier-divergence"},
      {FindingKind::barrier_after_exit, "no-barrier-divergence"},
      {FindingKind::deadlock, "no-barrier-divergence"},
      {FindingKind::warp_operation_mismatch, "no-barrier-divergence"},
      {FindingKind::warp_lane_missing, "no-barrier-divergence"}};
  for (const auto& [kind, id] : ids)
    if (fault.starts_with(name_of(kind))) return id;
  return "writes-only-output";  // never written, damaged, changed
}

const std::vector<HuntingGround::HuntingCase>& HuntingGround::cases_of(const Invariant& invariant) {
  const auto [entry, is_new] = cases_.try_emplace(invariant.id);
  if (is_new)
    for (const CaseSpec& spec : only_case_ ? std::vector<CaseSpec>{*only_case_}
                                           : invariant.cases(ScalarType::f16, seed_)) {
      if (!in_any_list(shape_of_case(spec))) continue;
      Case built = build_case(spec);
      if (!invariant.refuses || invariant.refuses(built.problem).empty())
        entry->second.push_back({std::move(built), spec.key_values.kind});
    }
  return entry->second;
}

Catch HuntingGround::hunt(const Stage& stage, Device& device, const std::string& only) {
  KernelUnderTest kernel(stage, device);
  Catch result;
  for (const Invariant& invariant : invariants()) {
    if (only.empty() ? !contains(stage.promises, invariant.id) : invariant.id != only) continue;
    for (const HuntingCase& c : cases_of(invariant)) {
      if (!kernel.supports(c.built.problem)) continue;
      ++result.cases;
      const Verdict verdict = try_invariant(invariant, kernel, c.built, seed_);
      if (verdict.held) continue;
      result.caught_by = verdict.faulty ? finding_id(verdict.message) : invariant.id;
      result.invariant = invariant.id;
      result.case_name = c.built.name;
      result.family = c.family;
      result.message = verdict.message;
      return result;
    }
  }
  return result;
}

std::optional<bool> HuntingGround::keeps(const Stage& stage, Device& device,
                                         const std::string& invariant,
                                         const std::string& case_name) {
  KernelUnderTest kernel(stage, device);
  const Invariant& tried = find_invariant(invariant);
  for (const HuntingCase& c : cases_of(tried)) {
    if (c.built.name != case_name) continue;
    if (!kernel.supports(c.built.problem)) return {};
    return try_invariant(tried, kernel, c.built, seed_).held;
  }
  return {};
}

void HuntingGround::for_each_case(
    const Invariant& invariant, const KernelUnderTest& kernel,
    const std::function<bool(const Case& c, std::uint64_t seed)>& visit) {
  for (const HuntingCase& c : cases_of(invariant))
    if (kernel.supports(c.built.problem) && !visit(c.built, seed_)) return;
}

Stage stage_of(const Mutant& mutant) {
  Stage stage = mutant.kernel->stage();
  // Stage 1 has its sizes at run time and says that it has them all.
  stage.supports.instances = mutant.instances;
  return stage;
}

HuntResult hunt_mutant(const Mutant& mutant, HuntingGround& ground, Device& device,
                       const std::string& only) {
  HuntResult result;
  result.mutant = mutant;
  if (*mutant.kernel->why_missing != '\0') {
    result.complaint = std::string("could not be made: ") + mutant.kernel->why_missing;
    return result;
  }
  result.first = hunt(mutant, ground, device, only);
  if (only.empty() && !ground.has_one_case()) {
    result.causes = hunt_causes(mutant, result.first.invariant, ground, device);
    result.complaint = complaint_about(result, ground, device);
    if (result.complaint.empty()) result.complaint = complaint_about_causes(mutant, result.causes);
  } else if (result.first.caught_by.empty()) {
    result.complaint = "is not caught" + (only.empty() ? "" : " by " + only);
  }
  return result;
}

}  // namespace paged
