// Text in lines of a terminal's or a page's width.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace paged {

/// Columns of a page, and of whatever is no terminal.
inline constexpr std::size_t kPageColumns = 100;

/// Columns on the screen: bytes that do not continue a character of UTF-8.
std::size_t columns_of(std::string_view text);

/// Text broken at blanks into lines of at most so many columns, each after an indent; line ends in
/// the text stay. A word that is longer than a line is broken, too: nothing is left out, and all
/// fits (but for lines of an indent and less than 20 columns). Ends with a line end.
///
/// @param hanging  columns by which lines that go on are indented further
std::string wrapped(const std::string& text, std::size_t indent, std::size_t columns = kPageColumns,
                    std::size_t hanging = 0);

/// The same of one line, made harmless for a terminal (one_line.h), without blanks at its ends and
/// with one between two words. It begins with `first`, what stands there already or an indent;
/// lines that go on begin with as many blanks. "" for a text of blanks alone.
std::string wrapped(const std::string& text, const std::string& first, std::size_t columns);

/// A message of the harness, which says one thing after the other with "; " between: a line for
/// each, with a hanging indent where one is longer than the columns.
std::string wrapped_parts(const std::string& message, std::size_t indent, std::size_t columns,
                          std::size_t hanging = 2);

/// A text of at most so many columns, the last three of which are dots where some was cut off.
std::string shortened(std::string_view text, std::size_t most = 43);

}  // namespace paged
