#include "walkthroughs/labs/outside_changes.h"

#include <algorithm>
#include <cstdint>

namespace paged::labs {
namespace {

using Lines = std::vector<std::string>;

/// Above this the lines between the first and the last difference are taken for changed.
constexpr std::size_t kMostCells = 4'000'000;

std::string trimmed_end(const std::string& line) {
  return line.substr(0, line.find_last_not_of(" \t\r") + 1);
}

Lines trimmed(Lines::const_iterator begin, Lines::const_iterator end) {
  Lines lines;
  for (auto line = begin; line != end; ++line) lines.push_back(trimmed_end(*line));
  return lines;
}

/// Lines that are the student's alone, and lines behind which something of the source is missing.
struct Changes {
  std::vector<std::size_t> own;
  std::vector<std::size_t> missing_behind;

  void note_missing(std::size_t line) {
    if (missing_behind.empty() || missing_behind.back() != line) missing_behind.push_back(line);
  }
};

/// longest[i * (m + 1) + j]: of the lines that own from i on and source from j on have in common.
std::vector<std::uint32_t> common_lengths(const Lines& own, const Lines& source) {
  const std::size_t m = source.size();
  std::vector<std::uint32_t> longest((own.size() + 1) * (m + 1), 0);
  for (std::size_t i = own.size(); i-- > 0;)
    for (std::size_t j = m; j-- > 0;)
      longest[i * (m + 1) + j] = own[i] == source[j] ? longest[(i + 1) * (m + 1) + j + 1] + 1
                                                     : std::max(longest[(i + 1) * (m + 1) + j],
                                                                longest[i * (m + 1) + j + 1]);
  return longest;
}

/// Compares two runs of lines; `before` lines of the student's file stand before the first.
void compare(const Lines& own, const Lines& source, std::size_t before, Changes& changes) {
  if (own.size() * source.size() > kMostCells) {
    for (std::size_t i = 0; i < own.size(); ++i)
      if (i >= source.size() || own[i] != source[i]) changes.own.push_back(before + i + 1);
    return;
  }
  const std::vector<std::uint32_t> longest = common_lengths(own, source);
  const auto at = [&](std::size_t i, std::size_t j) {
    return longest[i * (source.size() + 1) + j];
  };
  std::size_t i = 0;
  std::size_t j = 0;
  bool replaces = false;  // the student's lines stand in the place of the missing ones
  while (i < own.size() || j < source.size()) {
    if (i < own.size() && j < source.size() && own[i] == source[j]) {
      ++i;
      ++j;
      replaces = false;
    } else if (i < own.size() && (j == source.size() || at(i + 1, j) >= at(i, j + 1))) {
      changes.own.push_back(before + ++i);
      replaces = true;
    } else {
      ++j;
      const bool is_next_own = i < own.size() && (j == source.size() || own[i] != source[j]);
      if (!replaces && !is_next_own) changes.note_missing(before + i);
    }
  }
}

/// "3, 40 to 42"
std::string ranges(const std::vector<std::size_t>& lines) {
  std::string text;
  for (std::size_t i = 0; i < lines.size();) {
    std::size_t last = i;
    while (last + 1 < lines.size() && lines[last + 1] == lines[last] + 1) ++last;
    text += (text.empty() ? "" : ", ") + std::to_string(lines[i]);
    if (last > i) text += (last > i + 1 ? " to " : ", ") + std::to_string(lines[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace

std::string changes_outside(const Lines& own, const Hole& own_hole, const Lines& source,
                            const Hole& hole) {
  const auto at = [](const Lines& lines, std::size_t i) {
    return lines.begin() + static_cast<std::ptrdiff_t>(i);
  };
  Changes changes;
  compare(trimmed(own.begin(), at(own, own_hole.opening)),
          trimmed(source.begin(), at(source, hole.opening)), 0, changes);
  compare(trimmed(at(own, own_hole.closing + 1), own.end()),
          trimmed(at(source, hole.closing + 1), source.end()), own_hole.closing + 1, changes);
  std::string text;
  if (!changes.own.empty())
    text = (changes.own.size() == 1 ? "line " : "lines ") + ranges(changes.own);
  if (!changes.missing_behind.empty())
    text += (text.empty() ? "" : ", and ") + std::string("what stood behind line ") +
            ranges(changes.missing_behind);
  return text;
}

}  // namespace paged::labs
