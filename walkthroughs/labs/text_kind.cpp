#include "walkthroughs/labs/text_kind.h"

#include <algorithm>

namespace paged::labs {
namespace {

/// With its mark at the beginning, or, without one, with every other byte of the first line 0.
bool is_utf16(const std::string& content) {
  if (content.starts_with("\xFF\xFE") || content.starts_with("\xFE\xFF")) return true;
  const std::size_t end = std::min<std::size_t>(content.size(), 64);
  std::size_t zeros[2] = {0, 0};
  for (std::size_t i = 0; i < end; ++i) zeros[i % 2] += content[i] == 0 ? 1 : 0;
  return end >= 8 && (4 * zeros[0] > end || 4 * zeros[1] > end) && (zeros[0] == 0 || zeros[1] == 0);
}

}  // namespace

std::string objection_to_text(const std::string& content) {
  if (content.find_first_not_of(" \t\r\n") == std::string::npos) return "is empty";
  if (is_utf16(content)) return "is UTF-16; save it as UTF-8";
  if (content.find('\0') != std::string::npos)
    return "is no text, but a program, a picture or an archive; hand in the source file itself";
  return "";
}

}  // namespace paged::labs
