// The compiled mutants. The table is written by the build (edit_sources.cmake).
#pragma once
#include "stages/cache_operations.h"
#include "stages/stage.h"

#include <span>

namespace paged {

/// The code of one mutant: a stage or the cache kernels, or neither if it could not be made.
struct MutantKernel {
  const char* name;
  Stage (*stage)();
  const CacheKernels& (*cache_kernels)();
  const char* why_missing;  ///< "" or what is wrong with its edit
};

std::span<const MutantKernel> mutant_kernels();

}  // namespace paged
