// Programs in processes with limits on what they may use.
#pragma once
#include "tests/harness/limited_child.h"

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace paged::labs {

/// What the system enforces on a program and its children.
struct ProgramLimits : ProcessLimits {
  bool offline = true;  ///< without a network, where the system lets us take it away
  /// Behind the system-call filter from its first instruction on. For programs that are linked
  /// statically: others open files before they begin.
  bool filtered = false;
};

/// A descriptor of this process that a child gets under another number.
struct HandedDescriptor {
  int ours;
  int theirs;
};

/// Starts a program in a process group of its own, with an environment of little more than PATH.
/// It ends when this process ends. Descriptors 0 to 2 are /dev/null unless they are handed over.
/// Throws std::runtime_error if it cannot be started with all of its limits.
pid_t start_process(const std::vector<std::string>& arguments, const ProgramLimits& limits,
                    const std::vector<HandedDescriptor>& descriptors);

/// The status of a process that ends by itself within so many seconds, and ends what it has left
/// behind; nothing if it goes on.
std::optional<int> wait_for_end(pid_t process, double seconds);

/// How a process ended.
struct ProcessOutcome {
  bool timed_out = false;
  bool cut = false;    ///< it printed more than was kept
  int status = 0;      ///< as waitpid() has it
  std::string output;  ///< standard output and error, the first `most_output` bytes

  bool succeeded() const { return !timed_out && status == 0; }
};

/// Runs a program for at most so many seconds. What it prints beyond the limit is dropped.
ProcessOutcome run_limited(const std::vector<std::string>& arguments, const ProgramLimits& limits,
                           double seconds, std::size_t most_output = 256 * 1024);

}  // namespace paged::labs
