#include "tests/harness/text_table.h"

#include "tests/harness/one_line.h"
#include "tests/harness/wrapped_text.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <mutex>
#include <numeric>
#include <sstream>
#include <thread>
#include <utility>

namespace paged {
namespace {

/// Between columns.
constexpr std::size_t kGap = 2;
/// Columns that a text must have to be read when it is broken.
constexpr std::size_t kLeastText = 24;
constexpr std::size_t kAnyWidth = std::numeric_limits<std::size_t>::max() / 2;
constexpr std::size_t kNarrowestTerminal = 80;

std::size_t width_of_all(const std::vector<std::size_t>& widths) {
  return std::accumulate(widths.begin(), widths.end(), kGap * (widths.size() - 1));
}

std::size_t longest_word(const std::string& text) {
  std::size_t longest = 0;
  std::istringstream words(text);
  for (std::string word; words >> word;) longest = std::max(longest, columns_of(word));
  return longest;
}

/// Of standard output; 0 if it is no terminal.
std::size_t columns_of_terminal() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/// What a row may take: in a file, anything.
std::size_t terminal_columns() {
  const std::size_t columns = columns_of_terminal();
  return columns == 0 ? kAnyWidth : std::max(columns, kNarrowestTerminal);
}

}  // namespace

bool wants_colour() {
  static const bool wanted = [] {
    const char* no_colour = std::getenv("NO_COLOR");
    return isatty(STDOUT_FILENO) == 1 && (no_colour == nullptr || *no_colour == '\0');
  }();
  return wanted;
}

std::size_t text_columns() {
  constexpr std::size_t kMost = 120;
  const std::size_t columns = columns_of_terminal();
  return columns == 0 ? kPageColumns : std::clamp(columns, kNarrowestTerminal, kMost);
}

std::string coloured(const std::string& text, Colour colour) {
  if (colour == Colour::plain || !wants_colour()) return text;
  const char* code = colour == Colour::good ? "32" : colour == Colour::bad ? "31" : "2";
  // A line end at the end stays behind the colour.
  const std::size_t end = text.ends_with('\n') ? text.size() - 1 : text.size();
  return std::string("\x1b[") + code + "m" + text.substr(0, end) + "\x1b[0m" + text.substr(end);
}

TextTable::TextTable(std::vector<std::string> heading, std::size_t keys)
    : heading_(std::move(heading)),
      keys_(std::min(keys, std::max(heading_.size(), std::size_t{1}) - 1)) {
  assert(!heading_.empty());
}

void TextTable::add_row(std::vector<std::string> cells, Colour colour) {
  cells.resize(heading_.size());
  for (std::string& cell : cells) cell = one_line(cell);  // names of files, texts of case files
  rows_.push_back(std::move(cells));
  colours_.push_back(colour);
}

TextTable::Widths TextTable::widths() const {
  Widths widths(heading_.size(), 0);
  const auto widen = [&](const std::vector<std::string>& cells) {
    for (std::size_t i = 0; i < cells.size(); ++i)
      widths[i] = std::max(widths[i], columns_of(cells[i]));
  };
  widen(heading_);
  for (const auto& row : rows_) widen(row);
  return widths;
}

bool TextTable::can_break_last(const Widths& widths, std::size_t columns) const {
  const std::size_t before = width_of_all(widths) - widths.back();
  if (before + kLeastText > columns) return false;
  return std::all_of(rows_.begin(), rows_.end(), [&](const std::vector<std::string>& row) {
    return longest_word(row.back()) <= columns - before;
  });
}

void TextTable::print_part(std::ostream& stream, const std::vector<std::size_t>& part,
                           const Widths& widths, std::size_t room) const {
  const auto lines = [&](const std::vector<std::string>& cells) {
    std::string text;
    for (const std::size_t i : part)
      if (i != part.back()) {
        text += cells[i];
        text.append(widths[i] - columns_of(cells[i]) + kGap, ' ');
      }
    const std::string indent(columns_of(text), ' ');
    std::istringstream last(wrapped(cells[part.back()], 0, room));
    std::string line;
    std::getline(last, line);
    text += line;
    while (std::getline(last, line)) text += "\n" + indent + line;
    return text;
  };
  stream << coloured(lines(heading_), Colour::dim) << '\n';
  for (std::size_t i = 0; i < rows_.size(); ++i)
    stream << coloured(lines(rows_[i]), colours_[i]) << '\n';
}

void TextTable::print(std::ostream& stream) const {
  const Widths all_widths = widths();
  const std::size_t columns = terminal_columns();
  std::vector<std::size_t> part(heading_.size());
  std::iota(part.begin(), part.end(), std::size_t{0});
  const std::size_t width = width_of_all(all_widths);
  if (width <= columns) return print_part(stream, part, all_widths, kAnyWidth);
  if (can_break_last(all_widths, columns))
    return print_part(stream, part, all_widths, columns - (width - all_widths.back()));
  for (std::size_t next = keys_; next < heading_.size();) {
    part.resize(keys_);
    std::size_t taken = 0;
    for (std::size_t i = 0; i < keys_; ++i) taken += all_widths[i] + kGap;
    do {
      taken += all_widths[next] + kGap;
      part.push_back(next++);
    } while (next < heading_.size() && taken + all_widths[next] <= columns);
    if (part[keys_] != keys_) stream << '\n';
    print_part(stream, part, all_widths, kAnyWidth);
  }
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

/// Written by write() alone: a process that is forked meanwhile finds no lock of a stream taken.
class Progress::Line {
 public:
  explicit Line(bool is_terminal) : is_terminal_(is_terminal), ticker_([this] { tick(); }) {}
  ~Line() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
    ticker_.join();
    if (is_terminal_) rewrite("");
  }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  void show(std::string text, const std::string& place) {
    const std::lock_guard lock(mutex_);
    text_ = std::move(text);
    place_ = place;
    since_ = Clock::now();
    if (is_terminal_) rewrite(text_);
  }

 private:
  using Clock = std::chrono::steady_clock;

  static void put(const std::string& text) {
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
  }
  /// What doesn't fit on one line of the terminal is cut off: a second line would stay.
  static void rewrite(const std::string& text) {
    std::size_t bytes = text.size();
    if (winsize size{}; ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
      bytes = std::min<std::size_t>(bytes, size.ws_col - 1U);
    while (bytes < text.size() && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) --bytes;
    put("\r\x1b[K" + text.substr(0, bytes));
  }
  static std::chrono::seconds seconds_since(Clock::time_point time) {
    return std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - time);
  }
  void tick() {
    constexpr std::chrono::seconds kUnremarkable(2), kNow(3), kThen(15);
    const Clock::time_point begin = Clock::now();
    std::chrono::seconds next = kNow;
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, std::chrono::seconds(1), [this] { return ended_; })) {
      const auto all = seconds_since(begin), of_this = seconds_since(since_);
      if (is_terminal_) {
        if (of_this >= kUnremarkable)
          rewrite(text_ + " (" + std::to_string(of_this.count()) + " s)");
      } else if (all >= next) {
        put("paged: " + text_ + " (" + place_ + (place_.empty() ? "" : ", ") + "after " +
            std::to_string(all.count()) + " s)\n");
        next = all + kThen;
      }
    }
  }

  bool is_terminal_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  std::string text_;
  std::string place_;
  Clock::time_point since_ = Clock::now();
  std::thread ticker_;  // last: it uses the others
};

Progress::Progress(std::string what, OffTerminal off_terminal)
    : what_(std::move(what)), off_terminal_(off_terminal) {}

Progress::~Progress() = default;

void Progress::show(const std::string& state, const std::string& place) {
  const bool is_terminal = isatty(STDERR_FILENO) == 1;
  if (!is_terminal && off_terminal_ == OffTerminal::silent) return;
  if (!line_) line_ = std::make_unique<Line>(is_terminal);
  line_->show(what_ + ": " + one_line(state), place);
}

}  // namespace paged
