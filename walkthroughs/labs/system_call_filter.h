// What a process that runs a submission's code may ask of the system.
#pragma once

namespace paged::labs {

/// Whether this system has such filters: seccomp, Linux on x86-64 or aarch64.
bool has_system_call_filter();

/// From here on this process can compute, use memory of its own, start threads, and read and write
/// what is open; and it can become the program that is open as `program` (execveat), under the same
/// filter. Nothing else: it can open no file (that fails), and start no process, use no network,
/// share no memory and send no signal (that ends it by SIGSYS). Cannot be undone.
///
/// False if the system refuses. System calls only: it may stand between fork() and exec().
bool enter_system_call_filter(int program);

}  // namespace paged::labs
