// What a process that runs a submission's code may ask of the system.
#pragma once

namespace paged::labs {

/// From here on this process can compute, use memory, start threads, and read and write what is
/// open: nothing else. It can open no file (that fails), and start no process, use no network and
/// send no signal (that ends it by SIGSYS). Cannot be undone.
///
/// False where the system has no such filter (seccomp, Linux on x86-64 or aarch64); then nothing is
/// changed.
bool enter_system_call_filter();

}  // namespace paged::labs
