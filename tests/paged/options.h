// Options that several sub-commands share.
#pragma once
#include "stages/registry.h"
#include "tests/harness/case_spec.h"
#include "tests/harness/plugin.h"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace paged {

struct Plugin;

/// --stage, --backend, --unchecked, --schedule, --schedule-seed
struct StageOptions {
  std::string stage = "all";
  std::string backend = "cpu";
  bool unchecked = false;
  std::optional<std::string> schedule;
  std::optional<std::string> schedule_seed;

  void add_to(CLI::App& command);
  void add_stage_to(CLI::App& command);  ///< --stage alone
  Backend chosen_backend() const;
  std::vector<const Stage*> chosen_stages() const;  ///< throws InputError
  /// Options beside --stage that were given, as they repeat a request: "--backend cuda".
  std::string to_repeat() const;
  /// Lets the CPU machine run threads and blocks in the chosen order from here on. Throws
  /// InputError.
  void set_schedule() const;
};

/// --kernel, --time-limit, --memory-limit
struct PluginOptions {
  std::optional<std::string> file;
  std::optional<std::string> time_limit;
  std::optional<std::string> memory_limit;

  /// After the options that a kernel from a library has no use for: those of StageOptions and
  /// --probabilities.
  void add_to(CLI::App& command);
  /// As they repeat a request: "--kernel lib.so --time-limit 2".
  std::string to_repeat() const;
  /// Throws InputError.
  Plugin load() const;
};

/// For options that name a file: the name must not be empty.
CLI::Validator file_name();
/// A number between two, these included, and no NaN, which CLI::Range lets pass.
CLI::Validator number_between(double least, double greatest);

/// The value of an option: decimal digits, whose leading zeros mean nothing. Throws InputError for
/// anything else and for more than `greatest`.
std::uint64_t whole_number(const std::string& option, const std::string& text,
                           std::uint64_t greatest);

/// Throws InputError if a result file, unless it is "-" or not asked for, is one that a case reads.
void refuse_overwriting(const std::string& option, const std::optional<std::string>& file,
                        const std::vector<CaseSpec>& cases);

/// The same for the library of --kernel.
void refuse_overwriting_kernel(const std::string& option, const std::optional<std::string>& file,
                               const std::string& kernel);

/// Throws InputError, which names the case, unless every stage can run every case on a device.
/// Builds nothing: that can take long.
void check_supported(const std::vector<const Stage*>& stages, const std::vector<CaseSpec>& cases,
                     const DeviceLimits& limits);

/// Adds --probabilities f32|f16.
void add_probabilities_option(CLI::App& command, std::optional<std::string>& type);

/// Puts the type that --probabilities names, if it was given, in place of a case's own.
void set_probabilities(const std::optional<std::string>& type, CaseSpec& spec);

/// Adds --json FILE.
void add_json_option(CLI::App& command, std::optional<std::string>& file);

/// Adds --case NAME|FILE, which may be repeated.
void add_case_option(CLI::App& command, std::vector<std::string>& cases);

}  // namespace paged
