// Numbers in a page's own sentences: each must stand in the block that it speaks of.
#include "reference/input_error.h"
#include "walkthroughs/pages/page_blocks.h"

#include <algorithm>
#include <cctype>
#include <regex>
#include <sstream>
#include <string_view>

namespace paged {
namespace {

const std::string kBegin = "<!--said";
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
  std::string text = line.substr(kBegin.size(), line.size() - kBegin.size() - kEnd.size()) + "|";
  std::vector<std::string> phrases;
  for (std::size_t end = 0; (end = text.find('|')) != text.npos; text.erase(0, end + 1))
    phrases.push_back(plain(text.substr(0, end)));
  return phrases;
}

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

char at(const std::string& text, std::size_t i) { return i < text.size() ? text[i] : ' '; }

/// The end of the number that begins at a place of a text: digits, and places behind a point.
std::size_t end_of_number(const std::string& text, std::size_t i) {
  while (is_digit(at(text, i))) ++i;
  if (at(text, i) != '.' || !is_digit(at(text, i + 1))) return i;
  for (++i; is_digit(at(text, i));) ++i;
  return i;
}

std::size_t places_of(const std::string& number) {
  const std::size_t point = number.find('.');
  return point == number.npos ? 0 : number.size() - point - 1;
}

/// A number rounded to so many places, by its digits: 1.1172 is 1.12 to two. It keeps those that it
/// has not.
std::string rounded(std::string number, std::size_t places) {
  if (places_of(number) <= places) return number;
  const std::size_t end = number.find('.') + 1 + places;
  const bool up = number[end] >= '5';
  number.resize(places == 0 ? end - 1 : end);
  if (!up) return number;
  for (std::size_t i = number.size(); i > 0; --i) {
    char& digit = number[i - 1];
    if (digit == '.') continue;
    if (digit != '9') {
      ++digit;
      return number;
    }
    digit = '0';
  }
  return "1" + number;
}

enum class Numbers { as_said, rounded_to_what_is_said };

/// Whether a phrase stands at a place of a text, word for word and number for number.
bool stands_at(std::size_t i, const std::string& phrase, const std::string& text, Numbers numbers) {
  for (std::size_t k = 0; k < phrase.size();) {
    if (!is_digit(phrase[k])) {
      if (at(text, i++) != phrase[k++]) return false;
      continue;
    }
    const std::size_t end = end_of_number(phrase, k), end_in_text = end_of_number(text, i);
    const std::string said = phrase.substr(k, end - k);
    std::string found = text.substr(i, end_in_text - i);
    if (numbers == Numbers::rounded_to_what_is_said) found = rounded(found, places_of(said));
    if (found != said) return false;
    k = end;
    i = end_in_text;
  }
  return !is_word(phrase.back()) || !is_word(at(text, i));
}

/// Whether what begins at a place of a text begins there as a word or a number: 179 does not in
/// 1179, .179, 1,179 or -179.
bool begins_at(std::size_t i, const std::string& text) {
  if (!is_word(text[i]) || i == 0) return true;
  const char before = text[i - 1];
  const char second = i > 1 ? text[i - 2] : ' ';
  if (is_word(before)) return false;
  if (!is_digit(text[i])) return true;
  return before != '.' && !(before == ',' && is_digit(second)) &&
         !(before == '-' && !is_word(second));
}

bool stands_in(const std::string& phrase, const std::string& text, Numbers numbers) {
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == phrase[0] || (is_digit(text[i]) && is_digit(phrase[0])))
      if (begins_at(i, text) && stands_at(i, phrase, text, numbers)) return true;
  return false;
}

std::vector<std::string> numbers_in(const std::string& text) {
  std::vector<std::string> numbers;
  static const std::regex number("[0-9]+([.][0-9]+)?");
  for (std::sregex_iterator it(text.begin(), text.end(), number), end; it != end; ++it)
    numbers.push_back(it->str());
  return numbers;
}

std::string without_blanks(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(' ');
  return begin == text.npos ? "" : text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

/// "" or why a phrase, "IN THE PROSE" or "IN THE BLOCK => IN THE PROSE", does not hold.
std::string objection_to(const std::string& phrase, const std::string& block,
                         const std::string& prose) {
  constexpr std::string_view kArrow = "=>";
  const std::size_t arrow = phrase.find(kArrow);
  const std::string source = without_blanks(phrase.substr(0, arrow));
  const std::string said =
      arrow == phrase.npos ? source : without_blanks(phrase.substr(arrow + kArrow.size()));
  if (source.empty() || said.empty()) return "'" + phrase + "' says nothing";
  const std::vector<std::string> known = numbers_in(source);
  for (const std::string& number : numbers_in(said))
    if (std::find(known.begin(), known.end(), number) == known.end())
      return "'" + said + "' has a number that '" + source + "' has not";
  if (!stands_in(said, prose, Numbers::as_said)) return "'" + said + "' is not said on the page";
  if (!stands_in(source, block, Numbers::rounded_to_what_is_said))
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
    if (!line.starts_with(kBegin)) continue;
    if (!line.ends_with(kEnd))
      throw InputError(name + ":" + std::to_string(number) + ": '" + line + "' does not end in '" +
                       kEnd + "'");
    marks.emplace_back(number, line);
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
