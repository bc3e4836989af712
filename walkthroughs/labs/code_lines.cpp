#include "walkthroughs/labs/code_lines.h"

#include <cctype>
#include <utility>

namespace paged::labs {
namespace {

/// Reads a text character by character; knows comments, numbers and literals. It need not know all
/// that a compiler does: what the two might read differently is a doubt, and refused.
class CodeReader {
 public:
  explicit CodeReader(const std::string& text) : text_(text) {}

  std::vector<CodeLine> lines() {
    begin_line();
    while (position_ < text_.size()) step();
    return std::move(lines_);
  }

 private:
  char next(std::size_t ahead = 0) const {
    return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\n';
  }
  bool at(const char* what) const {
    return text_.compare(position_, std::char_traits<char>::length(what), what) == 0;
  }

  void begin_line() { lines_.push_back({"", number_, ""}); }
  void doubt(const char* what) {
    if (lines_.back().doubt.empty()) lines_.back().doubt = what;
  }

  /// Passes a character; in all that a text is made of, some are doubtful.
  void pass() {
    const char c = next();
    if (c == '\n') {
      ++number_;
      ++position_;
      return begin_line();
    }
    const bool carriage_return = c == '\r' && next(1) == '\n';
    if (static_cast<unsigned char>(c) < 0x20 && c != '\t' && !carriage_return)
      doubt("control characters");
    const std::size_t after = text_.find_first_not_of(" \t\r\v\f", position_ + 1);
    if ((c == '\\' || at("?\?/")) && (after == std::string::npos || text_[after] == '\n'))
      doubt("a backslash at the end of a line");
    ++position_;
  }
  void take() {
    if (next() != '\n') lines_.back().text += next();
    pass();
  }

  void step() {
    if (at("//")) {
      while (position_ < text_.size() && next() != '\n') pass();
    } else if (at("/*")) {
      comment();
    } else if (next() == '"' || next() == '\'') {
      literal();
    } else if (std::isdigit(static_cast<unsigned char>(next())) != 0 ||
               (next() == '.' && std::isdigit(static_cast<unsigned char>(next(1))) != 0)) {
      number();
    } else if (is_of_word(next())) {
      while (position_ < text_.size() && is_of_word(next())) take();
      if (next() == '"' || next() == '\'') doubt("a literal right behind a word");
    } else {
      take();
    }
  }

  void comment() {
    pass();
    pass();
    while (position_ < text_.size() && !at("*/")) pass();
    if (position_ == text_.size()) return doubt("a comment without an end");
    pass();
    pass();
    lines_.back().text += ' ';
  }

  void literal() {
    const char quote = next();
    take();
    while (position_ < text_.size() && next() != quote && next() != '\n') {
      if (next() == '\\') pass();
      if (next() != '\n') pass();
    }
    if (position_ == text_.size() || next() != quote) return doubt("a literal without an end");
    take();
  }

  /// 1'000 has no character literal in it.
  void number() {
    while (position_ < text_.size() &&
           (is_of_word(next()) || next() == '.' || (next() == '\'' && is_of_word(next(1)))))
      take();
    if (next() == '"' || next() == '\'') doubt("a literal right behind a number");
  }

  const std::string& text_;
  std::size_t position_ = 0;
  std::size_t number_ = 1;
  std::vector<CodeLine> lines_;
};

}  // namespace

std::vector<CodeLine> code_lines_of(const std::string& text) { return CodeReader(text).lines(); }

bool is_of_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words(1);
  for (const char c : line) {
    const bool part = is_of_word(c);
    if (part) words.back() += c;
    if (!part && !words.back().empty()) words.emplace_back();
  }
  return words;
}

std::size_t line_of_word(const std::string& text, const std::string& word) {
  for (const CodeLine& line : code_lines_of(text))
    for (const std::string& known : words_of(line.text))
      if (known == word) return line.number;
  return 0;
}

}  // namespace paged::labs
