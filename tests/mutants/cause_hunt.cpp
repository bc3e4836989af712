#include "tests/mutants/cause_hunt.h"

#include "tests/harness/likely_cause.h"

#include <utility>

namespace paged {
namespace {

/// Looks at one case.
void look_at(const Invariant& invariant, const Case& c, std::uint64_t seed, KernelUnderTest& kernel,
             NamedCauses& named) {
  const Verdict verdict = invariant.check(kernel, c, seed);
  const bool is_stopped = stopped_a_launch(kernel.take_attributed_faults());
  if (verdict.held || !verdict.suspect || is_stopped) return;
  const Suspect& suspect = *verdict.suspect;
  const Diagnosis diagnosis = diagnose(kernel, suspect.problem, suspect.seq, suspect.head);
  kernel.take_faults();
  if (!diagnosis.weights_differ) return;
  if (!named.any()) named.example = diagnosis.text;
  if (diagnosis.cause.id.empty())
    ++named.unexplained;
  else
    ++named.cases[diagnosis.cause.id];
}

}  // namespace

NamedCauses hunt_causes(const Mutant& mutant, HuntingGround& ground, Device& device) {
  NamedCauses named;
  if (mutant.kernel->cache_kernels != nullptr) return named;  // there is no attention
  const Stage stage = stage_of(mutant);
  KernelUnderTest kernel(stage, device);
  const auto look = [&](const Invariant& invariant) {
    ground.for_each_case(invariant, kernel, [&](const Case& c, std::uint64_t seed) {
      look_at(invariant, c, seed, kernel, named);
      return invariant.id == "reference" || !named.any();
    });
  };
  look(find_invariant("reference"));
  for (const Invariant& invariant : invariants())
    if (!named.any() && !mutant.causes.empty() && contains(stage.promises, invariant.id))
      look(invariant);
  return named;
}

std::string complaint_about_causes(const Mutant& mutant, const NamedCauses& named) {
  if (mutant.kernel->cache_kernels != nullptr || !mutant.proof.empty()) return "";
  std::string text;
  for (const auto& [cause, cases] : named.cases)
    if (!contains(mutant.causes, cause))
      text += (text.empty() ? "" : ", ") + cause + " (" + std::to_string(cases) + " cases)";
  if (!text.empty()) return "is said to be " + text + ", which is not its cause: " + named.example;
  if (mutant.causes.empty())
    return named.any() ? "has wrong weights, which its description denies: " + named.example : "";
  return named.cases.empty() ? "has no cause named: " + named.example : "";
}

}  // namespace paged
