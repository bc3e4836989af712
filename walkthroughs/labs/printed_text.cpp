#include "walkthroughs/labs/printed_text.h"

#include "tests/harness/one_line.h"

#include <algorithm>
#include <sstream>

namespace paged::labs {
namespace {

/// Bytes that begin a character, as long as whole characters fit into `most` columns.
std::size_t bytes_of_columns(const std::string& text, std::size_t most) {
  std::size_t end = 0;
  for (std::size_t column = 0; end < text.size() && column < most; ++column)
    end += std::max<std::size_t>(printable_length(std::string_view(text).substr(end)), 1);
  return end;
}

std::size_t columns_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

}  // namespace

std::string wrapped_text(const std::string& text, const std::string& first, std::size_t width) {
  const std::string indent(columns_of(first), ' ');
  const std::size_t room = std::max<std::size_t>(width - std::min(width, indent.size()), 20);
  std::istringstream words(one_line(text));
  std::string result;
  std::string line;
  const auto end_line = [&] {
    result += (result.empty() ? first : indent) + line + '\n';
    line.clear();
  };
  for (std::string word; words >> word;) {
    if (!line.empty() && columns_of(line) + 1 + columns_of(word) > room) end_line();
    while (columns_of(word) > room) {
      const std::size_t bytes = bytes_of_columns(word, room);
      line = word.substr(0, bytes);
      word.erase(0, bytes);
      end_line();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  if (!line.empty()) end_line();
  return result;
}

std::string wrapped_lines(const std::string& text, std::size_t most) {
  std::istringstream lines(text);
  std::string result;
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    if (count >= most) continue;
    // Blanks at the beginning are kept: the compiler points at a place by them.
    const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
    const bool fits = 4 + columns_of(one_line(line)) <= text_columns();
    result += fits ? "    " + one_line(line) + '\n' : wrapped_text(line.substr(begin), "    ");
  }
  if (count > most) result += "    (and " + std::to_string(count - most) + " lines more)\n";
  return result;
}

}  // namespace paged::labs
