// NaN and infinity by short names.
#pragma once
#include <limits>

namespace paged::testing {

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr float kFloatNaN = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kFloatInfinity = std::numeric_limits<float>::infinity();

}  // namespace paged::testing
