// A child process of ours: what it may use, and its end.
#pragma once
#include <sys/types.h>

#include <cstddef>

namespace paged {

/// What the system enforces on a process and its children. 0 sets no limit.
struct ProcessLimits {
  int cpu_seconds = 0;
  /// Of memory that it alone may write, touched or not: heap, stacks, mappings (RLIMIT_DATA). Not
  /// of files that it reads through mappings.
  std::size_t memory_bytes = 0;
  std::size_t file_bytes = 0;  ///< of each file that it writes
};

/// In a child, after fork() and before anything else: a process group of its own, an end with its
/// parent, no core file, and the limits. System calls only. False if one of them cannot be had.
/// Ends the child if its parent has ended before that was asked for.
bool become_limited_child(const ProcessLimits& limits, pid_t parent);

/// Whether a child has ended. It is looked at only: until it is waited for, its number, which is
/// its group's, is nobody else's.
bool has_ended(pid_t child);

/// Ends a child of fork_remembered() and all that it started, also what has left its group (as far
/// as end_left_over_processes() can), and waits for it. Returns its status as waitpid() has it.
int end_child(pid_t child);

}  // namespace paged
