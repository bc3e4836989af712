// Text in lines of a terminal's or a page's width.
#pragma once
#include <cstddef>
#include <sstream>
#include <string>

namespace paged {

/// Text broken at spaces into lines of at most 100 columns, each after an indent; line ends in the
/// text stay. Ends with a line end.
inline std::string wrapped(const std::string& text, std::size_t indent) {
  constexpr std::size_t kColumns = 100;
  std::string result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::string row(indent, ' ');
    std::istringstream words(line);
    for (std::string word; std::getline(words, word, ' ');) {
      if (row.size() + word.size() + 1 > kColumns && row.size() > indent) {
        result += row.substr(0, row.find_last_not_of(' ') + 1) + "\n";
        row = std::string(indent, ' ');
      }
      row += (row.size() > indent ? " " : "") + word;
    }
    result += row + "\n";
  }
  return result;
}

}  // namespace paged
