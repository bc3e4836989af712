// Text of others, in lines as wide as the terminal.
#pragma once
#include <cstddef>
#include <string>

namespace paged::labs {

/// At most so many lines of what others wrote, each made harmless and wrapped, with an indent; says
/// how many are left out.
std::string wrapped_lines(const std::string& text, std::size_t most);

/// The same without a line end that is not there: what a compiler says points at places of the line
/// above.
std::string whole_lines(const std::string& text, std::size_t most);

}  // namespace paged::labs
