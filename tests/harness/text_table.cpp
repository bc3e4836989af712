#include "tests/harness/text_table.h"

#include "tests/harness/one_line.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>

namespace paged {
namespace {

/// Columns on the screen: bytes that do not continue a UTF-8 character.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

}  // namespace

bool wants_colour() {
  static const bool wanted = [] {
    const char* no_colour = std::getenv("NO_COLOR");
    return isatty(STDOUT_FILENO) == 1 && (no_colour == nullptr || *no_colour == '\0');
  }();
  return wanted;
}

std::string coloured(const std::string& text, Colour colour) {
  if (colour == Colour::plain || !wants_colour()) return text;
  const char* code = colour == Colour::good ? "32" : colour == Colour::bad ? "31" : "2";
  return std::string("\x1b[") + code + "m" + text + "\x1b[0m";
}

TextTable::TextTable(std::vector<std::string> heading) : heading_(std::move(heading)) {}

void TextTable::add_row(std::vector<std::string> cells, Colour colour) {
  cells.resize(heading_.size());
  for (std::string& cell : cells) cell = one_line(cell);  // names of files, texts of case files
  rows_.push_back(std::move(cells));
  colours_.push_back(colour);
}

void TextTable::print(std::ostream& stream) const {
  std::vector<std::size_t> widths(heading_.size(), 0);
  const auto widen = [&](const std::vector<std::string>& cells) {
    for (std::size_t i = 0; i < cells.size(); ++i)
      widths[i] = std::max(widths[i], width_of(cells[i]));
  };
  widen(heading_);
  for (const auto& row : rows_) widen(row);
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string text;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      text += cells[i];
      if (i + 1 < cells.size()) text.append(widths[i] - width_of(cells[i]) + 2, ' ');
    }
    return text;
  };
  stream << coloured(line(heading_), Colour::dim) << '\n';
  for (std::size_t i = 0; i < rows_.size(); ++i)
    stream << coloured(line(rows_[i]), colours_[i]) << '\n';
}

std::string short_number(double value) {
  if (value == 0) return "0";
  if (!std::isfinite(value)) return "not finite";
  char text[32];
  std::snprintf(text, sizeof text, "%.1e", value);
  return text;
}

std::string percentage(double share) {
  char text[32];
  if (!std::isfinite(share)) return "-";
  if (share > 10) return "> 10 x";
  std::snprintf(text, sizeof text, "%.0f %%", share * 100);
  return text;
}

Progress::Progress(std::string what) : what_(std::move(what)) {}

void Progress::show(const std::string& state) {
  if (isatty(STDERR_FILENO) != 1) return;
  std::fprintf(stderr, "\r\x1b[K%s: %s", what_.c_str(), one_line(state).c_str());
  std::fflush(stderr);
  shown_ = true;
}

Progress::~Progress() {
  if (shown_) std::fprintf(stderr, "\r\x1b[K");
}

}  // namespace paged
