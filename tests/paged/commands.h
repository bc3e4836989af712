// The sub-commands of `paged`. Each adds its options to the program and returns what runs it.
#pragma once
#include <CLI/CLI.hpp>

namespace paged {

/// Exit statuses of the tool.
enum ExitStatus { kAllHeld = 0, kSomethingFailed = 1, kWrongRequest = 2 };

/// Each sets `status` when its sub-command was asked for. They throw InputError for wrong requests
/// and DeviceError for failed launches.
void add_list_command(CLI::App& program, int& status);
void add_run_command(CLI::App& program, int& status);
void add_check_command(CLI::App& program, int& status);
void add_explain_command(CLI::App& program, int& status);
void add_count_command(CLI::App& program, int& status);
void add_trace_command(CLI::App& program, int& status);
/// This one sets no status: the zoo is a program of its own, since it takes a minute to build, and
/// its exit status is this one's. It comes back where only help was asked for.
void add_mutants_command(CLI::App& program);

}  // namespace paged
