// What the command-line tool writes for programs. The keys are a contract; see
// docs/command_line.md.
#pragma once
#include "tests/harness/check_run.h"
#include "tests/harness/count_run.h"
#include "tests/harness/output_file.h"
#include "tests/harness/stage_run.h"

#include <nlohmann/json_fwd.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace paged {

nlohmann::json json_of_stages();
nlohmann::json json_of_runs(const std::vector<StageRun>& runs);
nlohmann::json json_of_checks(const std::vector<CheckResult>& results,
                              const std::vector<NotTried>& not_tried);
nlohmann::json json_of_counts(const std::vector<CountRun>& runs);

/// Where --json goes: a file, standard output for "-", or nowhere if the option was not given.
class JsonFile {
 public:
  /// Throws InputError for a file that cannot be written.
  explicit JsonFile(const std::optional<std::string>& file);
  /// Tables for people must stay away.
  bool takes_standard_output() const { return to_standard_output_; }
  void write(const nlohmann::json& content);

 private:
  bool to_standard_output_ = false;
  std::unique_ptr<OutputFile> file_;
};

}  // namespace paged
