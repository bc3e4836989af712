// Tables and marks for people on a terminal.
#pragma once
#include <cstddef>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

namespace paged {

/// Whether standard output is a terminal that wants colour: a terminal, and NO_COLOR is not set.
bool wants_colour();

/// Columns for text on standard output: those of its terminal, but from 80 to 120; 100 where it is
/// none.
std::size_t text_columns();

enum class Colour { plain, good, bad, dim };

/// Text in a colour, or the text itself where no colour is wanted.
std::string coloured(const std::string& text, Colour colour);

/// Rows of cells under a heading, each column as wide as its widest cell. Where standard output is
/// a terminal that is too narrow for that, the last column is broken at spaces; where this does not
/// help, the table is printed in parts, one below the other, each with as many columns as fit. In a
/// file each row is one line.
class TextTable {
 public:
  /// @param heading  at least one column
  /// @param keys  first columns that say what a row is about: each part begins with them. Of a
  ///              table of nothing else, all but the last one do: a part has one column more.
  explicit TextTable(std::vector<std::string> heading, std::size_t keys = 1);
  /// As many cells as the heading has.
  void add_row(std::vector<std::string> cells, Colour colour = Colour::plain);
  void print(std::ostream& stream) const;

 private:
  using Widths = std::vector<std::size_t>;
  Widths widths() const;
  /// Whether the last column can be broken so that rows have so many columns of the screen.
  bool can_break_last(const Widths& widths, std::size_t columns) const;
  /// The table's columns of these numbers, the last one within `room`.
  void print_part(std::ostream& stream, const std::vector<std::size_t>& part, const Widths& widths,
                  std::size_t room) const;

  std::vector<std::string> heading_;
  std::size_t keys_;
  std::vector<std::vector<std::string>> rows_;
  std::vector<Colour> colours_;
};

/// 0.00123 -> "1.2e-03"; 0 -> "0".
std::string short_number(double value);
/// 0.4567 -> "46 %".
std::string percentage(double share);

/// What Progress writes where standard error is no terminal.
enum class OffTerminal {
  silent,
  now_and_then  ///< of work that takes more than some seconds, a line every quarter of a minute
};

/// A line on standard error that is rewritten as work goes on. What takes more than some seconds
/// has their number behind it, so that one sees that it goes on.
class Progress {
 public:
  explicit Progress(std::string what, OffTerminal off_terminal = OffTerminal::silent);
  ~Progress();
  /// @param place  how far it is, which lines off a terminal have, too: "try 12"
  void show(const std::string& state, const std::string& place = "");

 private:
  class Line;
  std::string what_;
  OffTerminal off_terminal_;
  std::unique_ptr<Line> line_;  ///< from the first show() on, if anything is written
};

}  // namespace paged
