// What the command-line tool writes for programs. The keys are a contract; see
// docs/command_line.md.
#pragma once
#include "tests/harness/check_run.h"
#include "tests/harness/stage_run.h"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace paged {

nlohmann::json json_of_stages();
nlohmann::json json_of_runs(const std::vector<StageRun>& runs);
nlohmann::json json_of_checks(const std::vector<CheckResult>& results);

/// Writes to a file, or to standard output if the name is "-". A file is replaced only when the
/// new content is complete. Throws InputError if it cannot be written.
void write_json(const std::string& file, const nlohmann::json& content);

}  // namespace paged
