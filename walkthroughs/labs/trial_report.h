// What is said about a tried submission to its author.
#pragma once
#include "walkthroughs/labs/lab.h"
#include "walkthroughs/labs/trial.h"

#include <iosfwd>

namespace paged::labs {

/// The first failure explained, then every step that was tried, and as many hints as were asked
/// for.
void print(std::ostream& stream, const Lab& lab, const TrialOutcome& outcome, int hints);

}  // namespace paged::labs
