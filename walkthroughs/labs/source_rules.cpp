#include "walkthroughs/labs/source_rules.h"

#include "reference/input_error.h"

#include <cctype>
#include <set>
#include <vector>

namespace paged::labs {
namespace {

/// A line of code as the compiler reads it: lines that end in a backslash joined, no comments, no
/// characters of literals.
struct CodeLine {
  std::string text;
  std::size_t number = 0;  ///< of its first line, from 1
};

/// Reads a text character by character; knows comments and literals.
class CodeReader {
 public:
  explicit CodeReader(const std::string& text) : text_(text) {}

  std::vector<CodeLine> lines() {
    begin_line();
    while (position_ < text_.size()) step();
    return std::move(lines_);
  }

 private:
  bool at(const char* what) const {
    return text_.compare(position_, std::char_traits<char>::length(what), what) == 0;
  }

  void begin_line() { lines_.push_back({"", number_}); }

  void skip(std::size_t count) {
    for (; count > 0 && position_ < text_.size(); --count)
      if (text_[position_++] == '\n') ++number_;
  }

  void step() {
    if (at("\\\n")) return skip(2);
    if (at("//")) {
      while (position_ < text_.size() && text_[position_] != '\n') skip(at("\\\n") ? 2 : 1);
      return;
    }
    if (at("/*")) {
      skip(2);
      while (position_ < text_.size() && !at("*/")) skip(1);
      lines_.back().text += ' ';
      return skip(2);
    }
    if (at("\n")) {
      skip(1);
      return begin_line();
    }
    if (at("\"")) return literal('"');
    // 1'000 has no character literal in it.
    const bool after_digit =
        !lines_.back().text.empty() &&
        std::isalnum(static_cast<unsigned char>(lines_.back().text.back())) != 0;
    if (at("'") && !after_digit) return literal('\'');
    lines_.back().text += text_[position_];
    skip(1);
  }

  void literal(char quote) {
    lines_.back().text += quote;
    skip(1);
    while (position_ < text_.size() && text_[position_] != quote && text_[position_] != '\n')
      skip(text_[position_] == '\\' ? 2 : 1);
    lines_.back().text += quote;
    if (position_ < text_.size() && text_[position_] == quote) skip(1);
  }

  const std::string& text_;
  std::size_t position_ = 0;
  std::size_t number_ = 1;
  std::vector<CodeLine> lines_;
};

/// A line's words and signs, blanks between them made one: to compare directives.
std::string squeezed(const std::string& line) {
  std::string result;
  for (const char c : line) {
    const bool blank = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (!blank) result += c;
    if (blank && !result.empty() && result.back() != ' ') result += ' ';
  }
  if (result.ends_with(' ')) result.pop_back();
  return result;
}

bool is_directive(const std::string& line) { return line.starts_with('#'); }

bool is_unroll(const std::string& line) {
  const std::string unroll = "#pragma unroll";
  return line.starts_with(unroll) &&
         line.find_first_not_of(" 0123456789", unroll.size()) == std::string::npos;
}

std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words(1);
  for (const char c : line) {
    const bool part = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    if (part) words.back() += c;
    if (!part && !words.back().empty()) words.emplace_back();
  }
  return words;
}

/// "" or why a word may not be there.
std::string objection_to(const std::string& word) {
  if (word == "asm" || word == "__asm" || word == "__asm__") return "assembly";
  if (word.starts_with("__attribute") || word == "gnu" || word == "__gnu__")
    return "attributes of the compiler";
  if (word == "simt" || word.starts_with("__tsan") || word.starts_with("__builtin"))
    return "what is inside of the CPU machine or the compiler";
  if (word == "_Pragma" || word == "__pragma") return "pragmas other than #pragma unroll";
  return "";
}

std::string objection_to_line(const std::string& line, const std::set<std::string>& directives) {
  for (const char* hidden : {"%:", "??", "##"})
    if (line.find(hidden) != std::string::npos) return std::string("the signs ") + hidden;
  if (line.find('\\') != std::string::npos) return "a backslash outside of a literal";
  for (std::size_t i = line.find('"'); i != std::string::npos && i > 0; i = line.find('"', i + 1))
    if (line[i - 1] == 'R') return "raw string literals";
  const std::string squeezed_line = squeezed(line);
  if (is_directive(squeezed_line) && !is_unroll(squeezed_line) &&
      !directives.contains(squeezed_line))
    return "preprocessor directives of one's own (only #pragma unroll)";
  if (is_directive(squeezed_line)) return "";
  for (const std::string& word : words_of(line))
    if (const std::string why = objection_to(word); !why.empty()) return why + " ('" + word + "')";
  return "";
}

}  // namespace

void check_source(const std::string& text, const std::string& original, const std::string& file,
                  std::size_t lines_before) {
  std::set<std::string> directives;
  for (const CodeLine& line : CodeReader(original).lines())
    if (const std::string squeezed_line = squeezed(line.text); is_directive(squeezed_line))
      directives.insert(squeezed_line);
  for (const CodeLine& line : CodeReader(text).lines())
    if (const std::string why = objection_to_line(line.text, directives); !why.empty())
      throw InputError(file + ", line " + std::to_string(lines_before + line.number) +
                       ": a submission may not use " + why);
}

}  // namespace paged::labs
