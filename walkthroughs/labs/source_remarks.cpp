#include "walkthroughs/labs/source_remarks.h"

#include "walkthroughs/labs/code_lines.h"

#include <algorithm>
#include <cstddef>

namespace paged::labs {
namespace {

/// Code on one line, without comments, literals and what stands in the heads of its `for` loops.
std::string without_loop_heads(const std::string& text) {
  std::string code;
  for (const CodeLine& line : code_lines_of(text)) code += line.text + ' ';
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
  for (const CodeLine& line : code_lines_of(text)) {
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

}  // namespace paged::labs
