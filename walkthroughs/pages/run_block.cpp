// Blocks of output: a command as a reader would type it, and what it prints.
#include "reference/input_error.h"
#include "walkthroughs/pages/page_blocks.h"

#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace paged {
namespace {

struct Output {
  std::vector<std::string> lines;
  int exit_status = 0;
};

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
    text.replace(at, from.size(), to);
}

/// Runs a command of a shell in the repository's root, with both outputs as one.
Output run(std::string command, const PagePlace& place) {
  setenv("NO_COLOR", "1", 1);
  setenv("PAGE_ROOT", place.root.c_str(), 1);
  setenv("PAGE_PROGRAMS", place.programs.c_str(), 1);
  replace_all(command, "build/bin/", "\"$PAGE_PROGRAMS\"/");
  const auto close = [](std::FILE* stream) { pclose(stream); };
  std::unique_ptr<std::FILE, decltype(close)> stream(
      popen(("cd \"$PAGE_ROOT\" && { " + command + "\n} 2>&1 </dev/null").c_str(), "r"), close);
  if (!stream) throw std::runtime_error("cannot start a shell");
  std::string text;
  char piece[4096];
  while (const std::size_t count = std::fread(piece, 1, sizeof piece, stream.get()))
    text.append(piece, count);
  const int status = pclose(stream.release());
  Output output;
  output.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  replace_all(text, place.programs.string(), "build/bin");
  replace_all(text, place.root.string() + "/", "");
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) output.lines.push_back(line);
  while (!output.lines.empty() && output.lines.back().empty()) output.lines.pop_back();
  return output;
}

/// First and last line of "lines=2-5", "lines=2-" or "lines=2"; all of them for "".
struct LineRange {
  std::size_t first = 1;
  std::size_t last = static_cast<std::size_t>(-1);
};

LineRange range_of(const std::string& options) {
  LineRange range;
  if (options.empty()) return range;
  char dash = 0;
  std::istringstream text(options.starts_with("lines=") ? options.substr(6) : "");
  if (!(text >> range.first) || range.first == 0)
    throw InputError("a run block takes the option lines=2-5, lines=2- or lines=2, not '" +
                     options + "'");
  if (!(text >> dash))
    range.last = range.first;
  else if (dash != '-' || (!(text >> range.last) && !text.eof()) || range.last < range.first)
    throw InputError("'" + options + "' is no range of lines");
  else if (range.last == 0 || options.back() == '-')
    range.last = static_cast<std::size_t>(-1);
  return range;
}

}  // namespace

std::string run_lines(const MarkedBlock& block, const PagePlace& place) {
  LineRange range = range_of(block.options);
  const Output output = run(block.argument, place);
  if (output.exit_status >= 126)
    throw InputError("'" + block.argument + "' " +
                     (output.exit_status > 128
                          ? "ended by signal " + std::to_string(output.exit_status - 128)
                          : "does not start") +
                     (output.lines.empty() ? "" : ": " + output.lines.back()));
  if (range.first > 1 && range.first > output.lines.size())
    throw InputError("'" + block.argument + "' prints " + std::to_string(output.lines.size()) +
                     " lines, and the block begins with line " + std::to_string(range.first));
  range.last = std::min(range.last, output.lines.size());
  std::string text = "```console\n$ " + block.argument + "\n";
  if (range.first > 1) text += "...\n";
  for (std::size_t i = range.first; i <= range.last; ++i) text += output.lines[i - 1] + "\n";
  if (range.last < output.lines.size()) text += "...\n";
  if (output.exit_status != 0) text += "[exit status " + std::to_string(output.exit_status) + "]\n";
  return text + "```\n";
}

}  // namespace paged
