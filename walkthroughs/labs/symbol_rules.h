// What a compiled submission may define and call.
#pragma once
#include "walkthroughs/labs/lab.h"

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace paged::labs {

/// What is held against an object file.
struct Objection {
  std::string text;                ///< one line
  std::vector<std::string> words;  ///< that the source may use it by, the likeliest first
};

/// Why an object file is more than a kernel; none if it is one. It calls a function that no kernel
/// needs (the reference, the harness, files, processes, exit), defines one that could take the
/// place of another, or has code that runs before main().
///
/// @param known  names that may be called besides
std::vector<Objection> objections_to_object(const std::filesystem::path& object, const Lab& lab,
                                            const std::set<std::string>& known = {});

/// Whether all that is objected to in what an object file calls has names as a compiler may bring
/// in by itself, those of the C++ library and its own.
bool may_be_the_compilers(const std::filesystem::path& object, const Lab& lab);

/// What an object file leaves to others.
std::set<std::string> names_called_by(const std::filesystem::path& object);

}  // namespace paged::labs
