#include "walkthroughs/labs/trial_report.h"

#include "tests/harness/invariant.h"
#include "tests/harness/one_line.h"
#include "tests/harness/text_table.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <ostream>
#include <sstream>

namespace paged::labs {
namespace {

std::string points_of(int score, int points) {
  return std::to_string(score) + " of " + std::to_string(points);
}

/// Prints text in lines of at most 96 columns, each with an indent.
void print_wrapped(std::ostream& stream, const std::string& text, const std::string& indent) {
  std::istringstream words(one_line(text));
  std::string line;
  for (std::string word; words >> word;) {
    if (!line.empty() && indent.size() + line.size() + 1 + word.size() > 96) {
      stream << indent << line << '\n';
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  if (!line.empty()) stream << indent << line << '\n';
}

/// A message's parts, which it separates by "; ", each a paragraph.
void print_message(std::ostream& stream, const std::string& message) {
  for (std::size_t begin = 0; begin < message.size();) {
    std::size_t end = message.find("; ", begin);
    if (end == std::string::npos) end = message.size();
    print_wrapped(stream, message.substr(begin, end - begin), "    ");
    begin = end + 2;
  }
}

/// Lines that others wrote, each made harmless.
std::string harmless(const std::string& text) {
  std::istringstream lines(text);
  std::string result;
  for (std::string line; std::getline(lines, line);)
    result += (result.empty() ? "" : "\n") + one_line(line);
  return result;
}

/// At most so many lines of what others wrote, each made harmless for a terminal.
void print_lines(std::ostream& stream, const std::string& text, int most) {
  std::istringstream lines(text);
  std::string line;
  for (int i = 0; std::getline(lines, line); ++i) {
    if (i == most) {
      stream << "    ...\n";
      return;
    }
    stream << "    " << one_line(line.substr(0, 200)) << '\n';
  }
}

void print_table(std::ostream& stream, const TrialOutcome& outcome) {
  TextTable table({"step", "result", "points"});
  const auto add = [&](const std::string& step, bool tried, bool held, int score, int points) {
    table.add_row({step,
                   !tried ? "not tried"
                   : held ? "held"
                          : "FAILED",
                   points_of(score, points)},
                  !tried ? Colour::dim
                  : held ? Colour::plain
                         : Colour::bad);
  };
  for (const CheckOutcome& check : outcome.checks)
    add(check.id, check.tried, check.held, check.score(), check.points);
  const TransactionOutcome& transactions = outcome.transactions;
  add("transactions", transactions.tried, transactions.held, transactions.score(),
      transactions.points);
  table.print(stream);
}

void print_failure(std::ostream& stream, const CheckOutcome& check) {
  const Invariant& invariant = find_invariant(check.id);
  stream << '\n' << coloured(check.id, Colour::bad) << ": " << invariant.statement << '\n';
  if (!check.case_name.empty()) stream << "  On the case " << check.case_name << ":\n";
  print_message(stream, check.message);
  print_wrapped(stream, invariant.reading, "  ");
  stream << "  More on it: build/bin/paged explain " << check.id << '\n';
}

void print_counts(std::ostream& stream, const TransactionOutcome& transactions) {
  stream
      << "\nTransactions on the CPU machine; the target is what the stage itself is predicted to "
         "need:\n";
  TextTable table({"case", "count", "yours", "target"});
  for (const CountOutcome& count : transactions.counts) {
    std::string name = count.name;
    for (char& c : name)
      if (c == '_') c = ' ';
    table.add_row(
        {count.case_name, name, std::to_string(count.counted), std::to_string(count.target)},
        count.held() ? Colour::plain : Colour::bad);
  }
  table.print(stream);
  if (!transactions.hint.empty()) print_wrapped(stream, transactions.hint, "  ");
}

const CheckOutcome* failure_in(const TrialOutcome& outcome) {
  for (const CheckOutcome& check : outcome.checks)
    if (check.tried && !check.held) return &check;
  return nullptr;
}

nlohmann::json json_of(const CheckOutcome& check) {
  return {{"id", check.id},          {"points", check.points},
          {"score", check.score()},  {"tried", check.tried},
          {"held", check.held},      {"cases", check.cases},
          {"case", check.case_name}, {"message", one_line(check.message)},
          {"cause", check.cause}};
}

nlohmann::json json_of(const TransactionOutcome& transactions) {
  nlohmann::json counts = nlohmann::json::array();
  for (const CountOutcome& count : transactions.counts)
    counts.push_back({{"case", count.case_name},
                      {"name", count.name},
                      {"counted", count.counted},
                      {"target", count.target}});
  return {{"points", transactions.points},
          {"score", transactions.score()},
          {"tried", transactions.tried},
          {"held", transactions.held},
          {"counts", counts},
          {"hint", one_line(transactions.hint)}};
}

std::string gradescope_status(const nlohmann::json& step) {
  return step.at("held").get<bool>() && step.at("tried").get<bool>() ? "passed" : "failed";
}

nlohmann::json gradescope_test(const std::string& name, const nlohmann::json& step,
                               const std::string& output) {
  return {{"name", name},
          {"score", step.at("score")},
          {"max_score", step.at("points")},
          {"status", gradescope_status(step)},
          {"output", step.at("tried").get<bool>() ? output : "not tried: one before it failed"}};
}

}  // namespace

void print(std::ostream& stream, const Lab& lab, const TrialOutcome& outcome, int hints) {
  if (!outcome.remark.empty()) stream << "Note: " << one_line(outcome.remark) << '\n';
  if (!outcome.note.empty()) {
    stream << coloured(one_line(outcome.note), Colour::bad) << '\n';
    print_lines(stream, outcome.compiler, 40);
  }
  if (outcome.check_seconds > 0) print_table(stream, outcome);
  if (const CheckOutcome* failure = failure_in(outcome)) print_failure(stream, *failure);
  if (!outcome.transactions.counts.empty()) print_counts(stream, outcome.transactions);
  if (!outcome.printed.empty()) {
    stream << "\nYour kernel printed:\n";
    print_lines(stream, outcome.printed, 20);
  }
  for (int i = 0; i < hints; ++i) {
    stream << "\nHint " << i + 1 << ":\n";
    print_wrapped(stream, lab.hints[static_cast<std::size_t>(i)], "  ");
  }
  char times[80];
  std::snprintf(times, sizeof times, " (built in %.1f s, checked in %.1f s)", outcome.build_seconds,
                outcome.check_seconds);
  const bool full = outcome.score() == outcome.max_score();
  stream << '\n'
         << coloured(std::to_string(outcome.score()) + " of " +
                         std::to_string(outcome.max_score()) + " points",
                     full ? Colour::good : Colour::plain)
         << times << '\n';
}

nlohmann::json json_of(const TrialOutcome& outcome) {
  nlohmann::json checks = nlohmann::json::array();
  for (const CheckOutcome& check : outcome.checks) checks.push_back(json_of(check));
  return {{"lab", outcome.lab},
          {"submission", one_line(outcome.submission)},
          {"score", outcome.score()},
          {"max_score", outcome.max_score()},
          {"note", one_line(outcome.note)},
          {"remark", one_line(outcome.remark)},
          {"compiler", harmless(outcome.compiler)},
          {"shut_off", outcome.shut_off},
          {"build_seconds", outcome.build_seconds},
          {"check_seconds", outcome.check_seconds},
          {"invariants", checks},
          {"transactions", json_of(outcome.transactions)}};
}

nlohmann::json gradescope_of(const nlohmann::json& trial) {
  nlohmann::json tests = nlohmann::json::array();
  for (const nlohmann::json& check : trial.at("invariants")) {
    const std::string case_name = check.at("case");
    tests.push_back(gradescope_test(check.at("id"), check,
                                    check.at("held").get<bool>()
                                        ? find_invariant(check.at("id")).statement
                                        : (case_name.empty() ? "" : case_name + ": ") +
                                              check.at("message").get<std::string>()));
  }
  const nlohmann::json& transactions = trial.at("transactions");
  std::string counts;
  for (const nlohmann::json& count : transactions.at("counts"))
    counts += count.at("name").get<std::string>() + ": " + count.at("counted").dump() +
              ", target " + count.at("target").dump() + "\n";
  tests.push_back(gradescope_test("transactions", transactions, counts));
  const double seconds =
      trial.at("build_seconds").get<double>() + trial.at("check_seconds").get<double>();
  std::string output = trial.at("note");
  for (const char* more : {"remark", "compiler"})
    if (const std::string text = trial.at(more); !text.empty())
      output += (output.empty() ? "" : "\n") + text;
  return {{"score", trial.at("score")},
          {"max_score", trial.at("max_score")},
          {"execution_time", seconds},
          {"output", output},
          {"visibility", "visible"},
          {"stdout_visibility", "hidden"},
          {"tests", tests}};
}

}  // namespace paged::labs
