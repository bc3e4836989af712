// Turns a memory fault inside a kernel (a stack that ran into its guard page, a wild address in
// unchecked code) into a finding.
#pragma once

namespace paged::simt {

struct Worker;

/// Prepares the calling OS thread, once, for faults of the kernels that it will run.
void prepare_for_faults(Worker& worker);

}  // namespace paged::simt
