// The cache kernels against the reference, as the invariants cache-write and copy-on-write state
// it.
#pragma once
#include "tests/mutants/hunt.h"

namespace paged {

/// Tries cache-write, then copy-on-write (or only the one named) until one fails.
Catch try_cache_kernels(const CacheKernels& kernels, Device& device, const std::string& only = "");

}  // namespace paged
