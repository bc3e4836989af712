// What went wrong in a run besides its result, and which invariant that breaks.
#pragma once
#include "kernels/finding.h"

#include <optional>
#include <string>
#include <vector>

namespace paged {

/// One thing that went wrong.
struct Fault {
  std::string text;                      ///< what and where, one line
  std::string breaks;                    ///< id of the invariant that says it must not happen
  std::optional<FindingKind> kind = {};  ///< if it is a finding, and no damage
  std::string advice = {};               ///< what to do about it, or ""
};

/// "; what to do: ..." of a fault with advice, else "": the last part of its message.
std::string advice_part(const Fault& fault);

/// The invariant that a kind of finding breaks: "in-bounds", "no-race", "no-uninitialised",
/// "no-barrier-divergence" or "writes-only-output".
const char* invariant_broken_by(FindingKind kind);

/// A finding with the invariant that it breaks.
Fault fault_of(const Finding& finding);

/// Whether results mean nothing beside them: bad accesses, and threads that wait for each other in
/// vain, may have stopped the launch; after a race, results depend on the order of threads.
bool spoil_results(const std::vector<Fault>& faults);

/// Something written where it must not be.
Fault damage_fault(std::string text);

}  // namespace paged
