// Processes that a process of ours has started and left behind.
#pragma once
#include <sys/types.h>

namespace paged::labs {

/// fork(), remembered: the child is one of ours until forget_process().
pid_t fork_remembered();
void forget_process(pid_t process);

/// From the first fork_remembered() on, what a process of ours has started becomes a child of this
/// process when its parent ends, in whichever group or session it is. Ends all such children, and
/// what they have started.
void end_left_over_processes();

}  // namespace paged::labs
