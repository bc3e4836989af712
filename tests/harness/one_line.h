// Messages for a terminal, whatever names and files brought into them.
#pragma once
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

namespace paged {

/// Length of the character that a text begins with: valid UTF-8 and no control character, else 0.
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
  return code < least || code > 0x10FFFF || surrogate ? 0 : length;
}

/// A message on one line: line ends, other control characters and what is no UTF-8 as \xNN.
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
