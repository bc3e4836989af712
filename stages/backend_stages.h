// What each backend's compilation of this folder provides: its stages, its cache kernels.
#pragma once
#include "stages/cache_operations.h"
#include "stages/stage.h"

#include <span>

namespace paged::cpu_checked {
std::span<const Stage> stages();
const CacheKernels& cache_kernels();
}  // namespace paged::cpu_checked
namespace paged::cpu_unchecked {
std::span<const Stage> stages();
const CacheKernels& cache_kernels();
}  // namespace paged::cpu_unchecked
namespace paged::cuda {
std::span<const Stage> stages();
const CacheKernels& cache_kernels();
}  // namespace paged::cuda
