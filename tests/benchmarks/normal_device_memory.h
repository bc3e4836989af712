// Normal numbers made on the GPU: caches of gigabytes would take long to copy there.
#pragma once
#include "reference/scalar_type.h"

#include <cstdint>

namespace paged {

/// Fills memory of the GPU with `count` normal numbers (mean 0, deviation 1) that depend on index
/// and seed alone. `type` is f16, bf16 or e4m3. Launches and does not wait; throws DeviceError if
/// the launch is refused.
void fill_normal(CacheType type, void* d_data, std::int64_t count, std::uint64_t seed);

}  // namespace paged
