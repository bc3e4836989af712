// The list of stages that each backend's compilation of this folder provides.
#pragma once
#include "stages/stage.h"

#include <span>

namespace paged::cpu_checked {
std::span<const Stage> stages();
}
namespace paged::cpu_unchecked {
std::span<const Stage> stages();
}
namespace paged::cuda {
std::span<const Stage> stages();
}
