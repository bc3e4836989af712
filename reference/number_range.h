// Which numbers an element type holds.
#pragma once
#include "reference/scalar_type.h"

namespace paged {

/// Finite numbers of at least this magnitude do not fit: f32, f16 and bf16 round them to infinity,
/// fp8 types to their greatest number.
constexpr double overflow_threshold(CacheType type) {
  constexpr double thresholds[] = {0x1.ffffffp127, 65520, 0x1.ffp127, 464, 61440};
  return thresholds[static_cast<int>(type)];
}

/// Numbers of at most this magnitude round to 0: half of the least that a type holds.
constexpr double underflow_threshold(CacheType type) {
  constexpr double thresholds[] = {0x1p-150, 0x1p-25, 0x1p-134, 0x1p-10, 0x1p-17};
  return thresholds[static_cast<int>(type)];
}

constexpr double greatest_number(CacheType type) {
  constexpr double numbers[] = {0x1.fffffep127, 65504, 0x1.fep127, 448, 57344};
  return numbers[static_cast<int>(type)];
}

}  // namespace paged
