#include "walkthroughs/labs/hole.h"

#include "reference/input_error.h"

namespace paged::labs {
namespace {

std::string trimmed(const std::string& line) {
  const std::size_t first = line.find_first_not_of(" \t");
  if (first == std::string::npos) return "";
  return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

/// "name" of `// [name]`, "/name" of `// [/name]`, "" of every other line.
std::string marker_in(const std::string& line) {
  const std::string text = trimmed(line);
  if (!text.starts_with("// [") || !text.ends_with("]")) return "";
  const std::string name = text.substr(4, text.size() - 5);
  const bool is_name = name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-",
                                              name[0] == '/' ? 1 : 0) == std::string::npos;
  return is_name ? name : "";
}

std::size_t line_with_marker(const std::vector<std::string>& lines, const std::string& name,
                             const std::string& file) {
  std::size_t found = lines.size();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (marker_in(lines[i]) != name) continue;
    if (found < lines.size())
      throw InputError("the line `// [" + name + "]` stands twice in " + file);
    found = i;
  }
  if (found == lines.size()) throw InputError(file + " has no line `// [" + name + "]`");
  return found;
}

}  // namespace

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) end = text.size();
    lines.push_back(text.substr(begin, end - begin));
    if (lines.back().ends_with('\r')) lines.back().pop_back();
    begin = end + 1;
  }
  return lines;
}

std::string text_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return text;
}

Hole find_hole(const std::vector<std::string>& lines, const LabFile& file) {
  const Hole hole{line_with_marker(lines, file.first, file.path),
                  line_with_marker(lines, "/" + file.last, file.path)};
  if (hole.closing < hole.opening)
    throw InputError("in " + file.path + " the line `// [/" + file.last + "]` stands before `// [" +
                     file.first + "]`");
  return hole;
}

std::vector<std::string> without_other_markers(const std::vector<std::string>& lines,
                                               const LabFile& file) {
  std::vector<std::string> kept;
  for (const std::string& line : lines) {
    const std::string marker = marker_in(line);
    if (marker.empty() || marker == file.first || marker == "/" + file.last) kept.push_back(line);
  }
  return kept;
}

std::vector<std::string> with_hole_filled(const std::vector<std::string>& lines, const Hole& hole,
                                          const std::vector<std::string>& content) {
  std::vector<std::string> filled(lines.begin(), lines.begin() + hole.opening + 1);
  filled.insert(filled.end(), content.begin(), content.end());
  filled.insert(filled.end(), lines.begin() + hole.closing, lines.end());
  return filled;
}

std::vector<std::string> code_in(const std::vector<std::string>& lines) {
  std::vector<std::string> code;
  for (const std::string& line : lines)
    if (const std::string text = trimmed(line); !text.empty() && !text.starts_with("//"))
      code.push_back(text);
  return code;
}

int lines_of_code(const std::vector<std::string>& lines, const Hole& hole) {
  const auto at = [&](std::size_t i) { return lines.begin() + static_cast<std::ptrdiff_t>(i); };
  return static_cast<int>(code_in({at(hole.opening + 1), at(hole.closing)}).size());
}

}  // namespace paged::labs
