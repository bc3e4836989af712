// All stages, by number, for each backend of this build.
#pragma once
#include "stages/stage.h"

#include <span>
#include <string_view>

namespace paged {

/// How the kernels of the CPU backend were compiled. A CUDA device knows only one way.
enum class Checking { checked, unchecked };

/// The stages of a backend, in order of number. Empty for cuda in a build without CUDA.
std::span<const Stage> stages(Backend backend, Checking checking = Checking::checked);

/// Finds a stage by number ("1") or name ("naive-paged-gather"). Throws InputError that lists the
/// stages there are.
const Stage& find_stage(std::string_view number_or_name, Backend backend,
                        Checking checking = Checking::checked);

}  // namespace paged
