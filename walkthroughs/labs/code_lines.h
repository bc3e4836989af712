// A text's code: without comments, and without what stands in literals.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace paged::labs {

/// A line of code without comments and without the characters of literals.
struct CodeLine {
  std::string text;
  std::size_t number = 0;  ///< from 1
  std::string doubt;       ///< what a compiler could read in another way, or ""
};

/// It knows comments, numbers and literals, and need not know all that a compiler does: what the
/// two might read differently is a doubt.
std::vector<CodeLine> code_lines_of(const std::string& text);

/// Whether a character can be in a name.
bool is_of_word(char c);

/// Names, keywords and numbers of a line of code.
std::vector<std::string> words_of(const std::string& line);

/// The line, counted from 1, on which a word stands in a text's code; 0 if it does not. Comments
/// and literals are no code.
std::size_t line_of_word(const std::string& text, const std::string& word);

}  // namespace paged::labs
