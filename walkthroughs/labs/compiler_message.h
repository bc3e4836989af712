// What a compiler said of a submission, cut to what its author can use.
#pragma once
#include <cstddef>
#include <string>

namespace paged::labs {

/// The beginning of a compiler's message: its first error with the lines and notes that belong to
/// it. All of it if there is but one, or none that is said as "error: ".
std::string up_to_second_error(const std::string& compiler);

/// How many errors a compiler's message has behind its first.
std::size_t errors_after_first(const std::string& compiler);

}  // namespace paged::labs
