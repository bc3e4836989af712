// Numbers in a page's own sentences: each must stand in the block that it speaks of.
#include "reference/input_error.h"
#include "walkthroughs/pages/page_blocks.h"

#include <algorithm>
#include <cctype>
#include <regex>
#include <sstream>

namespace paged {
namespace {

const std::string kBegin = "<!--said ";
const std::string kEnd = "-->";

/// Words with one blank between, without marks of Markdown.
std::string plain(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '`' || c == '*') continue;
    const bool blank = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (!blank) result += c;
    if (blank && !result.empty() && result.back() != ' ') result += ' ';
  }
  return result;
}

std::vector<std::string> phrases_of(const std::string& line) {
  std::string text = line.substr(kBegin.size(), line.size() - kBegin.size() - kEnd.size()) + " | ";
  std::vector<std::string> phrases;
  for (std::size_t end = 0; (end = text.find(" | ")) != text.npos; text.erase(0, end + 3))
    phrases.push_back(plain(text.substr(0, end)));
  return phrases;
}

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// The phrase as it may stand in a run, where a number can have more places behind the point.
std::regex pattern_of(const std::string& phrase) {
  std::string pattern;
  bool has_point = false;
  for (std::size_t i = 0; i < phrase.size(); ++i) {
    const char c = phrase[i];
    const char next = i + 1 < phrase.size() ? phrase[i + 1] : ' ';
    if (std::ispunct(static_cast<unsigned char>(c)) != 0) pattern += '\\';
    pattern += c;
    if (c == '.' && is_digit(next)) has_point = true;
    if (!is_digit(c) || is_digit(next) ||
        (next == '.' && i + 2 < phrase.size() && is_digit(phrase[i + 2])))
      continue;
    pattern += has_point ? "[0-9]*" : "([.][0-9]+)?";
    has_point = false;
  }
  const std::string before = is_digit(phrase.front()) ? "(^|[^0-9.])" : "";
  return std::regex(before + pattern + (is_digit(phrase.back()) ? "($|[^0-9])" : ""));
}

std::vector<std::string> numbers_in(const std::string& text) {
  std::vector<std::string> numbers;
  static const std::regex number("[0-9]+([.][0-9]+)?");
  for (std::sregex_iterator it(text.begin(), text.end(), number), end; it != end; ++it)
    numbers.push_back(it->str());
  return numbers;
}

/// "" or why a phrase, "IN THE PROSE" or "IN THE BLOCK => IN THE PROSE", does not hold.
std::string objection_to(const std::string& phrase, const std::string& block,
                         const std::string& prose) {
  const std::size_t arrow = phrase.find(" => ");
  const std::string source = phrase.substr(0, arrow);
  const std::string said = arrow == phrase.npos ? phrase : phrase.substr(arrow + 4);
  const std::vector<std::string> known = numbers_in(source);
  for (const std::string& number : numbers_in(said))
    if (std::find(known.begin(), known.end(), number) == known.end())
      return "'" + said + "' has a number that '" + source + "' has not";
  if (prose.find(said) == prose.npos) return "'" + said + "' is not said on the page";
  if (!std::regex_search(block, pattern_of(source)))
    return "'" + source + "' does not stand in the block before it";
  return "";
}

}  // namespace

std::vector<std::string> wrong_numbers(const MarkedText& page, const std::string& name) {
  std::string prose;
  std::vector<std::pair<int, std::string>> marks;  // by their lines
  std::istringstream lines(page.text());
  for (const std::string& part : page.around) {
    std::istringstream own(part);
    for (std::string line; std::getline(own, line);)
      if (!line.starts_with("<!--")) prose += line + '\n';
  }
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.starts_with(kBegin) && line.ends_with(kEnd)) marks.emplace_back(number, line);
  }
  prose = plain(prose);
  std::vector<std::string> wrong;
  for (const auto& [at, line] : marks) {
    const MarkedBlock* before = nullptr;
    for (const MarkedBlock& block : page.blocks)
      if (block.line < at) before = &block;
    if (before == nullptr)
      throw InputError(name + ":" + std::to_string(at) + ": there is no block before it");
    for (const std::string& phrase : phrases_of(line))
      if (const std::string why = objection_to(phrase, plain(before->content), prose); !why.empty())
        wrong.push_back(name + ":" + std::to_string(at) + ": " + why + " (of line " +
                        std::to_string(before->line) + ")");
  }
  return wrong;
}

}  // namespace paged
