// From outputs that are wrong in where they are written, not in what attention is.
#pragma once
#include "tests/harness/kernel_under_test.h"
#include "tests/harness/likely_cause.h"
#include "tests/harness/whole_run.h"

namespace paged {

/// That a row of the output is never written, as a run on other memory shows; or that a few
/// dimensions alone are wrong, and the same ones in every wrong row: attention weights have no
/// dimension, and reading them through the output would make tokens of these.
LikelyCause cause_of_writing(KernelUnderTest& kernel, const WholeRun& run, OutputRow suspect);

}  // namespace paged
