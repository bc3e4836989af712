// A tried submission as JSON: for programs, and to be read again.
#pragma once
#include "walkthroughs/labs/trial.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace paged::labs {

/// All there is to say about it but the hints. Whatever comes from the submission is made harmless
/// for a terminal, line by line.
nlohmann::json json_of(const TrialOutcome& outcome);

/// What json_of() was made of. Throws nlohmann's exceptions if it was made of something else.
TrialOutcome outcome_of(const nlohmann::json& trial);

/// Of each total that is over its target, on the first case where it is: where it comes from;
/// before that, what was wrong with the runs that were counted.
std::vector<std::string> explanations_of(const TransactionOutcome& transactions);

/// "" or that it was tried as another lab than it names.
std::string warning_of(const TrialOutcome& outcome);

/// ": FILE:LINE: error: ..." of what a compiler said, the first error; "" if there is none.
std::string first_error(const std::string& compiler);

/// "global load requests" of global_load_requests.
std::string count_in_words(std::string name);

}  // namespace paged::labs
