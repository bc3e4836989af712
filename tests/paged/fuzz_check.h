// paged check --fuzz SECONDS: random cases until an invariant fails or time is up.
#pragma once
#include "tests/harness/fuzz.h"

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <vector>

namespace paged {

/// --fuzz, --fuzz-case
struct FuzzOptions {
  std::optional<double> seconds;
  std::string case_file = "paged-fuzz-case.json";

  /// After --case, --baseline and the other options that have no meaning beside it.
  void add_to(CLI::App& command);
};

/// Divides the time among the targets, stops at the first that fails, and writes the small case.
/// `json` is where --json goes. Returns the exit status.
///
/// @param to_repeat  options that a command needs beside --case to fail again, or --kernel's
int run_fuzz(const FuzzOptions& options, const CheckRequest& request,
             const std::vector<FuzzTarget>& targets, const std::optional<std::string>& json,
             const std::string& to_repeat);

}  // namespace paged
