#include "tests/mutants/cause_hunt.h"

#include "tests/harness/counted_noun.h"
#include "tests/harness/likely_cause.h"

#include <utility>

namespace paged {
namespace {

/// Looks at one case.
void look_at(const Invariant& invariant, const Case& c, std::uint64_t seed, KernelUnderTest& kernel,
             NamedCauses& named) {
  const Verdict verdict = invariant.check(kernel, c, seed);
  const bool is_spoilt = spoil_results(kernel.take_attributed_faults());
  if (verdict.held || !verdict.suspect || is_spoilt) return;
  const Suspect& suspect = *verdict.suspect;
  const Diagnosis diagnosis = diagnose(kernel, suspect.problem, suspect.seq, suspect.head);
  kernel.take_faults();
  const std::string& cause = diagnosis.cause.id;
  const bool has_several = diagnosis.has_several_causes();
  if (!diagnosis.weights_differ && cause.empty() && !has_several) return;
  Said& said = !cause.empty() ? named.causes[cause]
               : has_several  ? named.ambiguous
                              : named.unexplained;
  if (said.cases++ == 0) said.example = c.name + ": " + diagnosis.text;
}

/// Of a mutant whose description says why it has no cause.
std::string complaint_about_unexplained(const Mutant& mutant, const NamedCauses& named) {
  const Said& unexplained = named.unexplained;
  if (named.ambiguous.cases > 0)
    return "is said to have no cause, and has one of several, such as " + named.ambiguous.example;
  if (mutant.has_unexplained_weights == (unexplained.cases > 0)) return "";
  if (mutant.has_unexplained_weights)
    return "is said to have wrong weights that nothing explains, and has none";
  return "is said to have no wrong weights (" + mutant.why_no_cause + "), and has some in " +
         counted(unexplained.cases, "case") + ", such as " + unexplained.example;
}

}  // namespace

NamedCauses hunt_causes(const Mutant& mutant, const std::string& caught_in, HuntingGround& ground,
                        Device& device) {
  NamedCauses named;
  if (mutant.kernel->cache_kernels != nullptr || !mutant.proof.empty()) return named;
  const Stage stage = stage_of(mutant);
  KernelUnderTest kernel(stage, device);
  const auto look = [&](const Invariant& invariant) {
    ground.for_each_case(invariant, kernel, [&](const Case& c, std::uint64_t seed) {
      look_at(invariant, c, seed, kernel, named);
      return invariant.id == "reference" || named.causes.empty();
    });
  };
  look(find_invariant("reference"));
  for (const Invariant& invariant : invariants()) {
    const bool is_asked =
        !mutant.causes.empty() || invariant.id == caught_in || invariant.id == mutant.meant;
    if (is_asked && invariant.id != "reference" && named.causes.empty() &&
        contains(stage.promises, invariant.id))
      look(invariant);
  }
  return named;
}

std::string complaint_about_causes(const Mutant& mutant, const NamedCauses& named) {
  std::string text;
  for (const auto& [cause, said] : named.causes)
    if (!contains(mutant.causes, cause))
      text += (text.empty() ? "" : "; ") + cause + " in " + std::to_string(said.cases) +
              " cases, such as " + said.example;
  if (!text.empty()) return "is said to have a cause that is not its own: " + text;
  if (mutant.causes.empty()) return complaint_about_unexplained(mutant, named);
  if (!named.causes.empty()) return "";
  const Said& said = named.ambiguous.cases > 0 ? named.ambiguous : named.unexplained;
  return "has no cause named" +
         (said.cases > 0 ? ", as in " + said.example : ": its weights are all right");
}

}  // namespace paged
