// Processes that a process of ours has started and left behind.
#pragma once
#include <sys/types.h>

namespace paged {

/// fork(), remembered: the child is one of ours until forget_process(), as are the children that
/// were there before the first call.
pid_t fork_remembered();
void forget_process(pid_t process);

/// From the first fork_remembered() on, what a process of ours has started becomes a child of this
/// process when its parent ends (PR_SET_CHILD_SUBREAPER), in whichever group or session it is. Ends
/// all such children, and what they have started, within two seconds: what is then still there is
/// left. That takes /proc; and processes that start others in new sessions faster than they are
/// found may escape.
void end_left_over_processes();

}  // namespace paged
