// Messages for a terminal, whatever names and files brought into them.
#pragma once
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

namespace paged {

/// Characters that print nothing but change how the text around them is shown, or break the line:
/// writing direction, line and paragraph ends, zero width, tags; and what is no character.
constexpr bool is_hidden(unsigned code) {
  constexpr unsigned ranges[][2] = {
      {0xAD, 0xAD},     {0x61C, 0x61C},   {0x180E, 0x180E}, {0x200B, 0x200F}, {0x2028, 0x202E},
      {0x2060, 0x206F}, {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0xFFFE, 0xFFFF}, {0xE0000, 0xE007F}};
  for (const auto& [first, last] : ranges)
    if (code >= first && code <= last) return true;
  return false;
}

/// Length of the character that a text begins with: valid UTF-8 that prints as itself, else 0.
inline std::size_t printable_length(std::string_view text) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return first >= 0x20 && first != 0x7F ? 1 : 0;
  const std::size_t length = first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if (length == 0 || first > 0xF4) return 0;
  unsigned code = first & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3F);
  }
  const unsigned least = length == 2 ? 0xA0 : length == 3 ? 0x800 : 0x10000;  // 0x80 up: controls
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  return code < least || code > 0x10FFFF || surrogate || is_hidden(code) ? 0 : length;
}

/// A text on one line, as whatever goes to people shows it: line ends, other control characters,
/// hidden characters and what is no UTF-8 as `\xNN`, byte by byte.
inline std::string one_line(std::string_view text) {
  std::string line;
  while (!text.empty()) {
    std::size_t length = printable_length(text);
    if (length > 0) {
      line += text.substr(0, length);
    } else {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\x%02X", static_cast<unsigned char>(text.front()));
      line += escaped;
      length = 1;
    }
    text.remove_prefix(length);
  }
  return line;
}

}  // namespace paged
