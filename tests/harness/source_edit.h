// Edits of source files that are given as a text and what stands in its place.
#pragma once
#include <string>

namespace paged {

/// Where the nth place of a text begins; npos if there are fewer. Places do not overlap, as the
/// build counts them, too (tests/mutants/edit_sources.cmake).
///
/// @param nth  1, 2 ...; 0: the first
inline std::size_t nth_place(const std::string& source, const std::string& text, int nth) {
  std::size_t at = source.find(text);
  for (int i = 1; i < nth && at != std::string::npos; ++i) at = source.find(text, at + text.size());
  return at;
}

}  // namespace paged
