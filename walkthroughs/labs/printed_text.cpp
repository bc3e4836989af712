#include "walkthroughs/labs/printed_text.h"

#include "tests/harness/one_line.h"
#include "tests/harness/text_table.h"
#include "tests/harness/wrapped_text.h"

#include <sstream>

namespace paged::labs {
namespace {

const char* const kIndent = "    ";

std::string whole(const std::string& line) { return kIndent + one_line(line) + '\n'; }

/// Blanks at its beginning are kept where it fits.
std::string broken(const std::string& line) {
  if (columns_of(whole(line)) <= text_columns() + 1) return whole(line);  // and the line end
  return wrapped(line, kIndent, text_columns());
}

template <typename Show>
std::string shown_lines(const std::string& text, std::size_t most, Show show) {
  std::istringstream lines(text);
  std::string result;
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count)
    if (count < most) result += show(line);
  const std::size_t more = count > most ? count - most : 0;
  if (more > 0)
    result += kIndent + ("(and " + std::to_string(more)) +
              (more == 1 ? " line more)\n" : " lines more)\n");
  return result;
}

}  // namespace

std::string wrapped_lines(const std::string& text, std::size_t most) {
  return shown_lines(text, most, broken);
}

std::string whole_lines(const std::string& text, std::size_t most) {
  return shown_lines(text, most, whole);
}

}  // namespace paged::labs
