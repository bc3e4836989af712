#include "walkthroughs/labs/source_rules.h"

#include "reference/input_error.h"
#include "tests/harness/input_file.h"
#include "walkthroughs/labs/code_lines.h"

#include <cctype>
#include <cstddef>
#include <filesystem>
#include <set>
#include <vector>

namespace paged::labs {
namespace {

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
        for (const CodeLine& line : code_lines_of(content_of_input(entry.path())))
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
  if (word == "apply") return "std::apply, which reads what it passes on unseen";
  if (word == "_Pragma" || word == "__pragma") return "pragmas other than #pragma unroll";
  if (is_reserved(word) && !vocabulary().contains(word))
    return "names of the system's that kernels here have no need of";
  return "";
}

/// Names of the library that copy or look at memory where nothing sees it, and what brings them in.
const char* const kUnwatched[] = {
    "::memcpy", "::memmove", "::memset",        "::memcmp",        "::memchr",         "::strlen",
    "::strcpy", "::strncpy", "::strcmp",        "::strncmp",       "::strchr",         "::copy",
    "::copy_n", "::copy_if", "::copy_backward", "::move_backward", "::fill",           "::fill_n",
    "::equal",  "::find",    "::string_view",   "::ranges",        "usingnamespacestd"};

/// Names of the library whose objects take memory of the host's.
const char* const kOfHost[] = {"::string", "::basic_string", "::vector"};

/// The code without blanks, whatever its lines are, and the line of each sign.
struct SqueezedCode {
  std::string text;
  std::vector<std::size_t> lines;
};

SqueezedCode without_blanks(const std::vector<CodeLine>& lines) {
  SqueezedCode code;
  for (const CodeLine& line : lines)
    for (const char c : line.text)
      if (std::isspace(static_cast<unsigned char>(c)) == 0) {
        code.text += c;
        code.lines.push_back(line.number);
      }
  return code;
}

/// The line that has a name of the library's, as a whole word; 0: none has.
std::size_t line_with(const SqueezedCode& code, const std::string& name) {
  for (std::size_t at = 0; (at = code.text.find(name, at)) != std::string::npos; ++at)
    if (at + name.size() == code.text.size() || !is_of_word(code.text[at + name.size()]))
      return code.lines[at];
  return 0;
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
  for (const CodeLine& line : code_lines_of(original))
    if (const std::string squeezed_line = squeezed(line.text); is_directive(squeezed_line))
      directives.insert(squeezed_line);
  const auto refuse = [&](std::size_t line, const std::string& what) {
    throw InputError(file + ", line " + std::to_string(lines_before + line) +
                     ": a submission may not use " + what);
  };
  const std::vector<CodeLine> lines = code_lines_of(text);
  for (const CodeLine& line : lines) {
    if (!line.doubt.empty()) refuse(line.number, line.doubt);
    if (const std::string why = objection_to_line(line.text, directives); !why.empty())
      refuse(line.number, why);
  }
  const SqueezedCode code = without_blanks(lines);
  for (const std::string name : kUnwatched)
    if (const std::size_t line = line_with(code, name); line > 0)
      refuse(line, "what copies or looks at memory unseen ('" +
                       (name == "usingnamespacestd" ? "using namespace std" : "std" + name) + "')");
  for (const std::string name : kOfHost)
    if (const std::size_t line = line_with(code, name); line > 0)
      refuse(line,
             "std" + name +
                 ", which takes memory of the host's: a kernel on a GPU has none; use a local "
                 "array or __shared__");
}

}  // namespace paged::labs
