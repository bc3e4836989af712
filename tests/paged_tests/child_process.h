// Running the tool as its users do: as a process, with what it prints and its exit status.
#pragma once
#include "tests/harness/limited_child.h"

#include <string>
#include <vector>

namespace paged::testing {

struct ProcessResult {
  int exit_status = -1;  ///< -1: ended by a signal
  std::string out;       ///< standard output
  std::string err;       ///< standard error
};

/// Of the terminal that a process may have.
inline constexpr unsigned short kTerminalColumns = 80;

enum class OutputKind { file, terminal, full_device };

/// Runs `paged` with the given arguments and waits for it. Its environment is that of the test,
/// with `environment` ("NAME=value") added. With OutputKind::terminal, standard output and standard
/// error are one pseudo-terminal, and `out` holds what was shown there; with
/// OutputKind::full_device, nothing fits on standard output.
ProcessResult run_paged(const std::vector<std::string>& arguments,
                        const std::vector<std::string>& environment = {},
                        OutputKind output = OutputKind::file);

/// The same under limits that the system enforces: bytes of a file that it writes, and of memory.
/// The others are no matter here.
ProcessResult run_paged_limited(const std::vector<std::string>& arguments,
                                const ProcessLimits& limits);

}  // namespace paged::testing
