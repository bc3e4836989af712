// What `paged check` writes beside its table: JSON, JUnit XML, and what changed since a baseline.
#pragma once
#include "tests/harness/baseline.h"
#include "tests/harness/json_report.h"

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <vector>

namespace paged {

/// --json, --junit, --baseline, --bound-margin, --time-margin, --counts, --times
struct CheckReportOptions {
  std::optional<std::string> json, junit, baseline;
  Margins margins;
  Recorded recorded;

  void add_to(CLI::App& command);
};

/// Made before anything runs, so that a file that cannot be read or written is known at once.
class CheckReports {
 public:
  /// Throws InputError.
  CheckReports(const CheckReportOptions& options, const CheckSettings& settings,
               const std::vector<CaseSpec>& cases);

  /// Tables for people must stay away.
  bool takes_standard_output() const { return json_.takes_standard_output(); }

  /// Writes the files; `report` is json_of_checks() or more of it. False if something got worse
  /// than the baseline.
  bool write(nlohmann::json report, const std::vector<CheckResult>& results,
             const std::vector<NotTried>& not_tried, Asked asked);
  /// For people, after the table: what changed since the baseline, if there is one.
  void print_changes() const;

 private:
  CheckReportOptions options_;
  CheckSettings settings_;
  JsonFile json_;
  std::optional<OutputFile> junit_;
  std::optional<Baseline> baseline_;
  BaselineComparison comparison_;
};

}  // namespace paged
