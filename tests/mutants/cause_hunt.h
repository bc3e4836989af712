// What the recovered weights of a mutant's wrong results say is its mistake.
#pragma once
#include "tests/mutants/hunt.h"

#include <string>

namespace paged {

/// Looks at the weights of every case of `reference` that the mutant gets wrong. If none is, and the
/// mutant's description expects a cause, the cases of the other invariants follow until one is.
NamedCauses hunt_causes(const Mutant& mutant, HuntingGround& ground, Device& device);

/// "" or why what was named is a miss: a cause that the description doesn't have, none where it has
/// one, or one where it says that the weights show nothing.
std::string complaint_about_causes(const Mutant& mutant, const NamedCauses& named);

}  // namespace paged
