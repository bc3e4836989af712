// Blocks of code: included from the tested source, never pasted.
#include "reference/input_error.h"
#include "tests/harness/input_file.h"
#include "walkthroughs/pages/page_blocks.h"

#include <algorithm>
#include <sstream>
#include <vector>

namespace paged {
namespace {

std::string without_indentation(const std::string& line) {
  const std::size_t first = line.find_first_not_of(' ');
  return first == line.npos ? "" : line.substr(first);
}

/// A line that only marks where a piece of code begins or ends.
bool is_marker(const std::string& line) {
  const std::string bare = without_indentation(line);
  return bare.starts_with("// [") && bare.ends_with("]") && bare.find(' ', 3) == bare.npos;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// The lines between two markers, without those of others.
std::vector<std::string> lines_between_markers(const std::string& file, const std::string& text,
                                               const std::string& marker) {
  const std::string begin = "// [" + marker + "]";
  const std::string end = "// [/" + marker + "]";
  std::vector<std::string> lines;
  int begins = 0;
  int ends = 0;
  for (const std::string& line : lines_of(text)) {
    const std::string bare = without_indentation(line);
    begins += bare == begin;
    ends += bare == end;
    if (begins > ends && !is_marker(line)) lines.push_back(line);
  }
  if (begins != 1 || ends != 1)
    throw InputError(file + " has " + std::to_string(begins) + " lines '" + begin + "' and " +
                     std::to_string(ends) + " lines '" + end + "'; it must have one of each");
  if (lines.empty()) throw InputError(file + " has nothing between '" + begin + "' and its end");
  return lines;
}

/// Directives stand in the first column wherever they are.
std::size_t common_indentation(const std::vector<std::string>& lines) {
  std::size_t least = std::string::npos;
  for (const std::string& line : lines)
    if (!line.starts_with('#')) least = std::min(least, line.find_first_not_of(' '));
  return least == std::string::npos ? 0 : least;
}

}  // namespace

std::string code_lines(const MarkedBlock& block, const PagePlace& place) {
  std::istringstream words(block.argument);
  std::string file;
  std::string marker;
  std::string more;
  if (!(words >> file >> marker) || words >> more)
    throw InputError("a code block takes a file and a marker, not '" + block.argument + "'");
  const std::vector<std::string> lines =
      lines_between_markers(file, content_of_input(place.root / file), marker);
  const std::size_t indentation = common_indentation(lines);
  const std::string link =
      std::filesystem::relative(place.root / file, place.page.parent_path()).generic_string();
  std::string text = "From [" + file + "](" + link + "):\n\n```cpp\n";
  for (const std::string& line : lines)
    text += line.starts_with('#')       ? line + "\n"
            : line.size() < indentation ? "\n"
                                        : line.substr(indentation) + "\n";
  return text + "```\n";
}

}  // namespace paged
