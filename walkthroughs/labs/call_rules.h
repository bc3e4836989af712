// What a compiled submission may hand over in a call.
#pragma once
#include "walkthroughs/labs/symbol_rules.h"

#include <filesystem>
#include <string>
#include <vector>

namespace paged::labs {

/// The option that makes GCC write what objections_to_calls() reads.
std::string option_that_lists_calls(const std::filesystem::path& file);

/// GCC instruments assignments, and no operand of a call that stays a call: an object that is
/// passed by value, or stored where a function returns one, is read and written unseen unless it is
/// a local variable; so is what a copy of a known size touches, which becomes instructions. Reads
/// the compiler's own list of the calls that are left after all inlining.
///
/// @param solved  the list of a solution, whose functions may have such calls; "" for none
std::vector<Objection> objections_to_calls(const std::filesystem::path& list,
                                           const std::filesystem::path& solved = "");

}  // namespace paged::labs
