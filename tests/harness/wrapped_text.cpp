#include "tests/harness/wrapped_text.h"

#include "tests/harness/one_line.h"

#include <algorithm>
#include <sstream>

namespace paged {
namespace {

constexpr std::size_t kLeastColumns = 20;

bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

/// Bytes of the characters that fit into so many columns.
std::size_t bytes_of_columns(std::string_view text, std::size_t columns) {
  std::size_t end = 0;
  while (end < text.size() && (columns > 0 || !begins_character(text[end])))
    columns -= begins_character(text[end++]) ? 1 : 0;
  return end;
}

/// One line of text as lines that fit.
class Lines {
 public:
  Lines(const std::string& first, std::string following, std::size_t columns)
      : beginning_(first), following_(std::move(following)), columns_(columns) {}

  void add(std::string word) {
    if (!row_.empty() && columns_of(row_) + 1 + columns_of(word) > room()) end_row();
    while (columns_of(word) > room()) {
      const std::size_t bytes = bytes_of_columns(word, room());
      row_ = word.substr(0, bytes);
      word.erase(0, bytes);
      end_row();
    }
    if (!row_.empty()) row_ += ' ';
    row_ += word;
  }
  /// @param whole  whether the last line's blanks stay
  std::string take(bool whole) {
    return result_ + beginning_ + (whole ? row_ : trimmed(row_)) + '\n';
  }

 private:
  static std::string trimmed(const std::string& row) {
    return row.substr(0, row.find_last_not_of(' ') + 1);
  }
  std::size_t room() const {
    return std::max(columns_ - std::min(columns_, columns_of(beginning_)), kLeastColumns);
  }
  void end_row() {
    result_ += beginning_ + trimmed(row_) + '\n';
    beginning_ = following_;
    row_.clear();
  }

  std::string result_, beginning_, following_, row_;
  std::size_t columns_;
};

}  // namespace

std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

std::string wrapped(const std::string& text, std::size_t indent, std::size_t columns,
                    std::size_t hanging) {
  std::string result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    Lines broken(std::string(indent, ' '), std::string(indent + hanging, ' '), columns);
    std::istringstream words(line);
    // Empty words are blanks within the line, which stay: formulas are aligned by them.
    for (std::string word; std::getline(words, word, ' ');) broken.add(word);
    result += broken.take(true);
  }
  return result;
}

std::string wrapped(const std::string& text, const std::string& first, std::size_t columns) {
  Lines broken(first, std::string(columns_of(first), ' '), columns);
  std::istringstream words(one_line(text));
  bool any = false;
  for (std::string word; words >> word; any = true) broken.add(word);
  return any ? broken.take(false) : "";
}

std::string wrapped_parts(const std::string& message, std::size_t indent, std::size_t columns,
                          std::size_t hanging) {
  std::string result;
  for (std::size_t begin = 0; begin < message.size();) {
    std::size_t end = message.find("; ", begin);
    if (end == std::string::npos) end = message.size();
    result += wrapped(message.substr(begin, end - begin), indent, columns, hanging);
    begin = end + 2;
  }
  return result;
}

std::string shortened(std::string_view text, std::size_t most) {
  if (columns_of(text) <= most) return std::string(text);
  return std::string(
             text.substr(0, bytes_of_columns(text, most - std::min<std::size_t>(most, 3)))) +
         "...";
}

}  // namespace paged
