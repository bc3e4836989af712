// Text in lines of a terminal's or a page's width.
#pragma once
#include <cstddef>
#include <sstream>
#include <string>

namespace paged {

/// Columns of a page, and of whatever is no terminal.
inline constexpr std::size_t kPageColumns = 100;

/// Text broken at spaces into lines of at most so many columns, each after an indent; line ends in
/// the text stay. Ends with a line end.
///
/// @param hanging  columns by which lines that go on are indented further
inline std::string wrapped(const std::string& text, std::size_t indent,
                           std::size_t columns = kPageColumns, std::size_t hanging = 0) {
  std::string result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::size_t begin = indent;  // of the words in a row
    std::string row(begin, ' ');
    std::istringstream words(line);
    for (std::string word; std::getline(words, word, ' ');) {
      if (row.size() + word.size() + 1 > columns && row.size() > begin) {
        result += row.substr(0, row.find_last_not_of(' ') + 1) + "\n";
        begin = indent + hanging;
        row = std::string(begin, ' ');
      }
      row += (row.size() > begin ? " " : "") + word;
    }
    result += row + "\n";
  }
  return result;
}

/// A message of the harness, which says one thing after the other with "; " between: a line for each,
/// with a hanging indent where one is longer than the columns.
inline std::string wrapped_parts(const std::string& message, std::size_t indent,
                                 std::size_t columns) {
  constexpr std::size_t kHanging = 2;
  std::string result;
  for (std::size_t begin = 0; begin < message.size();) {
    std::size_t end = message.find("; ", begin);
    if (end == std::string::npos) end = message.size();
    result += wrapped(message.substr(begin, end - begin), indent, columns, kHanging);
    begin = end + 2;
  }
  return result;
}

}  // namespace paged
