// What the recovered weights of a mutant's wrong results say is its mistake.
#pragma once
#include "tests/mutants/hunt.h"

#include <string>

namespace paged {

/// Looks at every case of `reference` that the mutant gets wrong. If none of them names a cause, and
/// the mutant has one by its description, cases of the other invariants follow until one does.
NamedCauses hunt_causes(const Mutant& mutant, HuntingGround& ground, Device& device);

/// "" or why what was named is a miss: a cause that the description doesn't have, or none where it
/// has one.
std::string complaint_about_causes(const Mutant& mutant, const NamedCauses& named);

}  // namespace paged
