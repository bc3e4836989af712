// What a step's failure is, in plain words, and how to read this one.
#pragma once
#include "walkthroughs/labs/trial.h"

#include <string>
#include <vector>

namespace paged {
struct Verdict;
}

namespace paged::labs {

/// What went wrong, one sentence: "Two threads use the same bytes at once, one of them writing (a
/// data race)." It says the failure, never what must hold. Of a verdict that an invariant, by its
/// id, does not hold.
std::string what_failed(const std::string& invariant, const Verdict& verdict);

/// How to read this failure; "" where its message says all.
std::string reading_of(const std::string& invariant, const Verdict& verdict);

/// What a failure is about, from the most special on: "crash" or "endless", the invariant that a
/// finding breaks, its likely cause, its step, its step's invariant. Of transactions, the counts
/// that are too many. Hints of a rubric are for these. Empty if nothing failed.
std::vector<std::string> topics_of(const TrialOutcome& outcome);

/// The hints of a lab as they fit this outcome: what is there for its failure, then the ladder.
std::vector<std::string> fitting_hints(const Lab& lab, const TrialOutcome& outcome);

}  // namespace paged::labs
