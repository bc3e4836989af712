// Options that several sub-commands share.
#pragma once
#include "stages/registry.h"
#include "tests/harness/case_spec.h"

#include <CLI/CLI.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace paged {

/// --stage, --backend, --unchecked
struct StageOptions {
  std::string stage = "all";
  std::string backend = "cpu";
  bool unchecked = false;

  void add_to(CLI::App& command);
  Backend chosen_backend() const;
  std::vector<const Stage*> chosen_stages() const;  ///< throws InputError
};

/// Adds --json FILE.
void add_json_option(CLI::App& command, std::optional<std::string>& file);

/// Adds --case NAME|FILE, which may be repeated.
void add_case_option(CLI::App& command, std::vector<std::string>& cases);

}  // namespace paged
