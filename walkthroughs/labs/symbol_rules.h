// What a compiled submission may define and call.
#pragma once
#include "walkthroughs/labs/lab.h"

#include <filesystem>
#include <string>

namespace paged::labs {

/// "" or why an object file is more than a kernel, one line: it calls a function that no kernel
/// needs (the reference, the harness, files, processes, exit), defines one that could take the place
/// of another, or has code that runs before main().
std::string objection_to_object(const std::filesystem::path& object, const Lab& lab);

}  // namespace paged::labs
