// Text of others, in lines as wide as the terminal.
#pragma once
#include <cstddef>
#include <string>

namespace paged::labs {

/// At most so many lines of what others wrote, each made harmless and wrapped, with an indent; says
/// how many are left out.
std::string wrapped_lines(const std::string& text, std::size_t most);

}  // namespace paged::labs
