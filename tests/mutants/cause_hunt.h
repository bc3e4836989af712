// What the recovered weights of a mutant's wrong results say is its mistake.
#pragma once
#include "tests/mutants/hunt.h"

#include <string>

namespace paged {

/// Looks at every case of `reference` that the mutant gets wrong. If none of them names a cause,
/// and the mutant has one by its description, cases of the other invariants follow until one does;
/// if it has none, those of the invariants that catch it: `caught_in`, and the one that is meant.
NamedCauses hunt_causes(const Mutant& mutant, const std::string& caught_in, HuntingGround& ground,
                        Device& device);

/// "" or why what was named is a miss: a cause that the description doesn't have, or none where it
/// has one; wrong weights where it says that there are none, or none where it says that some are.
std::string complaint_about_causes(const Mutant& mutant, const NamedCauses& named);

}  // namespace paged
