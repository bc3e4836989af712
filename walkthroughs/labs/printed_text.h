// Text for people, in lines as wide as their terminal.
#pragma once
#include "tests/harness/text_table.h"

#include <cstddef>
#include <string>

namespace paged::labs {

/// A text, made harmless for a terminal, broken at blanks into lines of at most `width`. The first
/// begins with `first` (what stands there already, or an indent), the others with as many blanks. A
/// word that is longer than a line is broken, too: nothing is left out. Ends with a line end.
std::string wrapped_text(const std::string& text, const std::string& first,
                         std::size_t width = text_columns());

/// At most so many lines of what others wrote, each made harmless and wrapped, with an indent; says
/// how many are left out.
std::string wrapped_lines(const std::string& text, std::size_t most);

}  // namespace paged::labs
