// Holes in source files: the lines between two markers, `// [name]` and `// [/name]`.
#pragma once
#include "walkthroughs/labs/lab.h"

#include <string>
#include <vector>

namespace paged::labs {

/// Lines of a text, without their ends.
std::vector<std::string> lines_of(const std::string& text);
std::string text_of(const std::vector<std::string>& lines);

/// Where a hole lies: the markers' own lines, counted from 0.
struct Hole {
  std::size_t opening = 0;
  std::size_t closing = 0;
};

/// Finds a file's hole. Throws InputError that names the marker which is missing or stands there
/// twice.
Hole find_hole(const std::vector<std::string>& lines, const LabFile& file);

/// Without the markers of other pages and labs.
std::vector<std::string> without_other_markers(const std::vector<std::string>& lines,
                                               const LabFile& file);

/// The lines with others in the hole.
std::vector<std::string> with_hole_filled(const std::vector<std::string>& lines, const Hole& hole,
                                          const std::vector<std::string>& content);

/// The lines of code among these, without blanks at their ends: comments and blank lines left out.
std::vector<std::string> code_in(const std::vector<std::string>& lines);

/// How many lines of code are in the hole, comments and blank lines left out.
int lines_of_code(const std::vector<std::string>& lines, const Hole& hole);

}  // namespace paged::labs
