#include "walkthroughs/labs/printed_text.h"

#include "tests/harness/one_line.h"
#include "tests/harness/text_table.h"
#include "tests/harness/wrapped_text.h"

#include <algorithm>
#include <sstream>

namespace paged::labs {

std::string wrapped_lines(const std::string& text, std::size_t most) {
  std::istringstream lines(text);
  std::string result;
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    if (count >= most) continue;
    // Blanks at the beginning are kept: the compiler points at a place by them.
    const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
    const bool fits = 4 + columns_of(one_line(line)) <= text_columns();
    result +=
        fits ? "    " + one_line(line) + '\n' : wrapped(line.substr(begin), "    ", text_columns());
  }
  if (count > most) result += "    (and " + std::to_string(count - most) + " lines more)\n";
  return result;
}

}  // namespace paged::labs
