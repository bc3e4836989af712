#include "walkthroughs/labs/compiler_message.h"

#include <sstream>
#include <vector>

namespace paged::labs {
namespace {

bool is_error(const std::string& line) { return line.find("error: ") != std::string::npos; }

/// Lines that say where the next message comes from: "FILE: In function ...", "In file included
/// from ...", "FILE:1:2:   required from here". No line of source begins so: it is indented.
bool leads_to_next(const std::string& line) {
  if (line.empty() || line.front() == ' ') return false;
  if (line.starts_with("In file included from ") || line.starts_with("compilation terminated"))
    return true;
  for (const char* words : {": In ", ": At global scope", ":   required ", ": warning: "})
    if (line.find(words) != std::string::npos) return true;
  return false;
}

std::vector<std::string> lines_in(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace

std::string up_to_second_error(const std::string& compiler) {
  std::string result;
  bool seen = false;
  for (const std::string& line : lines_in(compiler)) {
    if (seen && (is_error(line) || leads_to_next(line))) break;
    seen = seen || is_error(line);
    result += line + '\n';
  }
  return result;
}

std::size_t errors_after_first(const std::string& compiler) {
  std::size_t errors = 0;
  for (const std::string& line : lines_in(compiler)) errors += is_error(line) ? 1 : 0;
  return errors > 0 ? errors - 1 : 0;
}

}  // namespace paged::labs
