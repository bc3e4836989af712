#include "walkthroughs/labs/source_rules.h"

#include "reference/input_error.h"
#include "tests/harness/input_file.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <set>
#include <vector>

namespace paged::labs {
namespace {

/// A line of code without comments and without the characters of literals.
struct CodeLine {
  std::string text;
  std::size_t number = 0;  ///< from 1
  std::string doubt;       ///< what a compiler could read in another way, or ""
};

bool is_of_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

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
    const bool part = is_of_word(c);
    if (part) words.back() += c;
    if (!part && !words.back().empty()) words.emplace_back();
  }
  return words;
}

/// Names that are the system's and the compiler's: macros of theirs can be anything.
bool is_reserved(const std::string& word) {
  return word.starts_with("__") ||
         (word.size() > 1 && word[0] == '_' && std::isupper(static_cast<unsigned char>(word[1])));
}

/// Of these, what CUDA has and the sources of kernels use, as far as the CPU machine knows it.
const std::set<std::string>& vocabulary() {
  static const std::set<std::string> words = [] {
    std::set<std::string> found = {"__restrict", "__restrict__", "__func__", "__LINE__"};
    const std::filesystem::path root = PAGED_SOURCE_ROOT;
    for (const char* folder : {"kernels", "kernels/simt", "stages"})
      for (const auto& entry : std::filesystem::directory_iterator(root / folder)) {
        const std::string kind = entry.path().extension().string();
        if (kind != ".h" && kind != ".cuh" && kind != ".cu") continue;
        for (const CodeLine& line : CodeReader(content_of_input(entry.path())).lines())
          for (const std::string& word : words_of(line.text))
            if (is_reserved(word)) found.insert(word);
      }
    return found;
  }();
  return words;
}

/// "" or why a word may not be there.
std::string objection_to(const std::string& word) {
  if (word == "asm" || word == "__asm" || word == "__asm__") return "assembly";
  if (word.starts_with("__attribute") || word == "gnu" || word == "__gnu__")
    return "attributes of the compiler";
  if (word == "simt" || word.starts_with("__tsan") || word.starts_with("__builtin"))
    return "what is inside of the CPU machine or the compiler";
  if (word == "throw" || word == "try" || word == "catch")
    return "exceptions: a kernel cannot throw on a GPU";
  if (word == "_Pragma" || word == "__pragma") return "pragmas other than #pragma unroll";
  if (is_reserved(word) && !vocabulary().contains(word))
    return "names of the system's that kernels here have no need of";
  return "";
}

/// Names of the library that copy or look at memory where nothing sees it, and what brings them in.
const char* const kUnwatched[] = {
    "::memcpy",         "::memmove",     "::memset",       "::memcmp",  "::memchr",
    "::strlen",         "::strcpy",      "::strncpy",      "::strcmp",  "::strncmp",
    "::strchr",         "::copy",        "::copy_n",       "::copy_if", "::copy_backward",
    "::move_backward",  "::fill",        "::fill_n",       "::equal",   "::find",
    "::string",         "::string_view", "::basic_string", "::vector",  "::ranges",
    "usingnamespacestd"};

/// "" or the unwatched name that the code has, however its blanks and lines are; the line of it.
std::string unwatched_name(const std::vector<CodeLine>& lines, std::size_t& line) {
  std::string all;
  std::vector<std::size_t> numbers;
  for (const CodeLine& code : lines)
    for (const char c : code.text)
      if (std::isspace(static_cast<unsigned char>(c)) == 0) {
        all += c;
        numbers.push_back(code.number);
      }
  for (const std::string name : kUnwatched)
    for (std::size_t at = 0; (at = all.find(name, at)) != std::string::npos; ++at)
      if (at + name.size() == all.size() || !is_of_word(all[at + name.size()])) {
        line = numbers[at];
        return name == "usingnamespacestd" ? "using namespace std" : "std" + name;
      }
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

/// Code on one line, without comments, literals and what stands in the heads of its `for` loops.
std::string without_loop_heads(const std::string& text) {
  std::string code;
  for (const CodeLine& line : CodeReader(text).lines()) code += line.text + ' ';
  for (std::size_t at = 0; (at = code.find("for", at)) != std::string::npos; ++at) {
    const std::size_t open = code.find_first_not_of(' ', at + 3);
    if (open == std::string::npos || code[open] != '(' || (at > 0 && is_of_word(code[at - 1])))
      continue;
    int depth = 0;
    std::size_t end = open;
    do depth += code[end] == '(' ? 1 : code[end] == ')' ? -1 : 0;
    while (++end < code.size() && depth > 0);
    code.replace(at, end - at, " ");
  }
  return code;
}

bool is_printing(const std::string& word) {
  return word == "printf" || word == "puts" || word == "putchar";
}

}  // namespace

std::string unmatched_braces(const std::string& text) {
  std::ptrdiff_t opened = 0, closed = 0;
  for (const CodeLine& line : CodeReader(text).lines()) {
    opened += std::count(line.text.begin(), line.text.end(), '{');
    closed += std::count(line.text.begin(), line.text.end(), '}');
  }
  return opened == closed
             ? ""
             : "has " + std::to_string(opened) + " '{' and " + std::to_string(closed) + " '}'";
}

bool only_prints(const std::string& text) {
  const std::string code = without_loop_heads(text);
  if (code.find_first_of("=") != std::string::npos || code.find("++") != std::string::npos)
    return false;
  bool prints = false;
  for (std::size_t i = 0; i < code.size();) {
    const std::size_t begin = i;
    while (i < code.size() && is_of_word(code[i])) ++i;
    if (i == begin) {
      ++i;
      continue;
    }
    const std::string word = code.substr(begin, i - begin);
    const std::size_t next = code.find_first_not_of(' ', i);
    if (next == std::string::npos || code[next] != '(' || word == "if") continue;
    if (!is_printing(word)) return false;
    prints = true;
  }
  return prints;
}

std::size_t line_of_word(const std::string& text, const std::string& word) {
  for (const CodeLine& line : CodeReader(text).lines())
    for (const std::string& known : words_of(line.text))
      if (known == word) return line.number;
  return 0;
}

void check_source(const std::string& text, const std::string& original, const std::string& file,
                  std::size_t lines_before) {
  std::set<std::string> directives;
  for (const CodeLine& line : CodeReader(original).lines())
    if (const std::string squeezed_line = squeezed(line.text); is_directive(squeezed_line))
      directives.insert(squeezed_line);
  const auto refuse = [&](std::size_t line, const std::string& what) {
    throw InputError(file + ", line " + std::to_string(lines_before + line) +
                     ": a submission may not use " + what);
  };
  const std::vector<CodeLine> lines = CodeReader(text).lines();
  for (const CodeLine& line : lines) {
    if (!line.doubt.empty()) refuse(line.number, line.doubt);
    if (const std::string why = objection_to_line(line.text, directives); !why.empty())
      refuse(line.number, why);
  }
  std::size_t line = 0;
  if (const std::string name = unwatched_name(lines, line); !name.empty())
    refuse(line, "what copies or looks at memory unseen ('" + name + "')");
}

}  // namespace paged::labs
