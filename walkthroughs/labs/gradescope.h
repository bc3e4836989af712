// Gradescope's results.json.
#pragma once
#include <nlohmann/json_fwd.hpp>

namespace paged::labs {

/// Of one submission, from what json_of() (trial_json.h) made of it: a test for each step. What the
/// submission printed stands behind bars, so that none of its lines can be taken for the grader's.
nlohmann::json gradescope_of(const nlohmann::json& trial);

}  // namespace paged::labs
