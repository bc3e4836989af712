// What is said about a tried submission: to its author, and to programs.
#pragma once
#include "walkthroughs/labs/lab.h"
#include "walkthroughs/labs/trial.h"

#include <nlohmann/json_fwd.hpp>

#include <iosfwd>

namespace paged::labs {

/// For people: every step, the first that fails explained, and as many hints as were asked for.
void print(std::ostream& stream, const Lab& lab, const TrialOutcome& outcome, int hints);

/// What print() says but the hints, as one JSON object.
nlohmann::json json_of(const TrialOutcome& outcome);

/// Gradescope's results.json of one submission, from what json_of() made of it.
nlohmann::json gradescope_of(const nlohmann::json& trial);

}  // namespace paged::labs
