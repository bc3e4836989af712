// On a terminal of 80 columns no line is longer, whatever is shown.
#include "tests/harness/text_table.h"
#include "tests/paged_tests/child_process.h"

#include <gtest/gtest.h>

#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <sstream>

namespace paged {
namespace {

using testing::kTerminalColumns;
using testing::OutputKind;
using testing::ProcessResult;
using testing::run_paged;

/// What stands on the screen: of a line that is rewritten, as progress is, its last state.
std::vector<std::string> lines_on_screen(const std::string& shown) {
  std::vector<std::string> lines;
  std::istringstream stream(shown);
  for (std::string line; std::getline(stream, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (const std::size_t rewritten = line.rfind("\x1b[K"); rewritten != line.npos)
      line.erase(0, rewritten + 3);
    lines.push_back(std::move(line));
  }
  return lines;
}

class TerminalWidthTest : public ::testing::TestWithParam<std::vector<std::string>> {};

TEST_P(TerminalWidthTest, LinesFit) {
  ASSERT_EQ(kTerminalColumns, 80);
  const ProcessResult result = run_paged(GetParam(), {"NO_COLOR=1"}, OutputKind::terminal);
  EXPECT_EQ(result.exit_status, 0) << result.out;
  const std::vector<std::string> lines = lines_on_screen(result.out);
  EXPECT_GT(lines.size(), 2U);
  for (const std::string& line : lines)
    EXPECT_LE(line.size(), std::size_t{kTerminalColumns}) << line;
}

INSTANTIATE_TEST_SUITE_P(
    Commands, TerminalWidthTest,
    ::testing::Values(
        std::vector<std::string>{"list"}, std::vector<std::string>{"explain"},
        std::vector<std::string>{"explain", "tail-isolation"},
        std::vector<std::string>{"run", "--case", "worked-example-2-partitions"},
        std::vector<std::string>{"check", "--invariant", "partition-invariance", "--stage", "5"},
        std::vector<std::string>{"trace", "--case", "worked-example-3-address-walk"},
        std::vector<std::string>{"trace", "--case", "worked-example-3-address-walk", "--token",
                                 "16"},
        std::vector<std::string>{"count", "--stage", "4"},
        std::vector<std::string>{"mutants", "--list"},
        std::vector<std::string>{"mutants", "--group", "cache_operations", "--seeds", "0"},
        std::vector<std::string>{"mutants", "--mutant", "softmax-guard-too-large"}),
    [](const auto& tested) {
      std::string name;
      for (const std::string& argument : tested.param)
        for (const char c : argument)
          if (std::isalnum(static_cast<unsigned char>(c)) != 0) name += c;
      return name;
    });

std::size_t times(const std::string& part, const std::string& text) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != text.npos; at += part.size()) ++count;
  return count;
}

/// A table of numbers comes in parts, each with the columns that say what a row is about; in a file
/// it is whole, a row a line.
TEST(TableInPartsTest, EachPartHasTheKeys) {
  const std::vector<std::string> count = {"count", "--stage", "4"};
  const ProcessResult shown = run_paged(count, {"NO_COLOR=1"}, OutputKind::terminal);
  EXPECT_EQ(times("\ngather ", shown.out), 2U) << shown.out;
  const ProcessResult written = run_paged(count);
  EXPECT_EQ(times("\ngather ", written.out), 1U) << written.out;
  for (const ProcessResult* result : {&shown, &written})
    for (const char* column : {" useful ", " barriers ", " shuffles"})
      EXPECT_EQ(times(column, result->out), 2U) << column << "\n" << result->out;
}

/// What this terminal of 80 columns shows of a table.
void show_on_terminal(const TextTable& table, std::string& shown) {
  const winsize size{.ws_row = 50, .ws_col = kTerminalColumns, .ws_xpixel = 0, .ws_ypixel = 0};
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, &size);
  ASSERT_GE(child, 0) << "there is no terminal";
  if (child == 0) {
    table.print(std::cout);
    std::cout.flush();
    _exit(0);
  }
  char piece[4096];
  for (ssize_t n = 0; (n = read(terminal, piece, sizeof piece)) > 0;)
    shown.append(piece, static_cast<std::size_t>(n));
  close(terminal);
  waitpid(child, nullptr, 0);
}

TEST(TableInPartsTest, ATableOfKeysAloneLosesNoColumn) {
  const std::string first(60, 'x');
  const std::string second(60, 'y');
  TextTable table({"one", "other"}, 2);
  table.add_row({first, second});
  std::string shown;
  ASSERT_NO_FATAL_FAILURE(show_on_terminal(table, shown));
  EXPECT_NE(shown.find(first), std::string::npos) << shown;
  EXPECT_NE(shown.find(second), std::string::npos) << shown;
}

}  // namespace
}  // namespace paged
