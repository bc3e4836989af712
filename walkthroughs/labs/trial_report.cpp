#include "walkthroughs/labs/trial_report.h"

#include "tests/harness/invariant.h"
#include "tests/harness/one_line.h"
#include "tests/harness/text_table.h"
#include "tests/harness/wrapped_text.h"
#include "walkthroughs/labs/printed_text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <ostream>
#include <set>
#include <sstream>

namespace paged::labs {
namespace {

std::string points_of(int score, int points) {
  return std::to_string(score) + " of " + std::to_string(points);
}

/// A message's parts, each a paragraph.
void print_message(std::ostream& stream, const std::string& message) {
  stream << wrapped_parts(one_line(message), 4, text_columns(), 0);
}

/// Lines that others wrote, each made harmless.
std::string harmless(const std::string& text) {
  std::istringstream lines(text);
  std::string result;
  for (std::string line; std::getline(lines, line);)
    result += (result.empty() ? "" : "\n") + one_line(line);
  return result;
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
    add(check.step, check.tried, check.held, check.score(), check.points);
  const TransactionOutcome& transactions = outcome.transactions;
  add("transactions", transactions.tried, transactions.held, transactions.score(),
      transactions.points);
  table.print(stream);
}

void print_failure(std::ostream& stream, const CheckOutcome& check) {
  const Invariant& invariant = find_invariant(check.id);
  const std::string statement =
      wrapped(check.step + ": " + invariant.statement, "", text_columns());
  stream << '\n'
         << coloured(check.step, Colour::bad)
         << statement.substr(check.step.size());  // no step's name is as long as a line
  if (!check.case_name.empty())
    stream << wrapped("On the case " + check.case_name + ":", "  ", text_columns());
  print_message(stream, check.message);
  stream << wrapped(invariant.reading, "  ", text_columns());
  stream << "  More on it: build/bin/paged explain " << check.id << '\n';
}

std::string count_in_words(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

/// Of each count that is over its target, on the first case where it is: where it comes from.
std::vector<std::string> explanations_of(const TransactionOutcome& transactions) {
  std::vector<std::string> texts;
  std::set<std::string> explained;
  if (!transactions.wrong.empty())
    texts.push_back("wrong while it was counted, so there are no points for it: " +
                    transactions.wrong);
  if (!transactions.impossible.empty()) texts.push_back(transactions.impossible);
  for (const CountOutcome& count : transactions.counts)
    if (!count.held() && explained.insert(count.name).second)
      texts.push_back(count_in_words(count.name) + ": " +
                      std::to_string(count.counted - count.target) + " too many on " +
                      count.case_name + "; " + count.where);
  return texts;
}

void print_counts(std::ostream& stream, const TransactionOutcome& transactions) {
  stream << '\n'
         << wrapped(
                "Transactions on the CPU machine; the target is what the stage itself is predicted "
                "to need:",
                "", text_columns());
  TextTable table({"case", "count", "yours", "target", ""});
  for (const CountOutcome& count : transactions.counts) {
    table.add_row({count.case_name, count_in_words(count.name), std::to_string(count.counted),
                   std::to_string(count.target), count.held() ? "" : "too many"},
                  count.held() ? Colour::plain : Colour::bad);
  }
  table.print(stream);
  for (const std::string& text : explanations_of(transactions))
    stream << wrapped(text, "  ", text_columns());
}

/// Explains the first step that fails, and names the others.
void print_failures(std::ostream& stream, const TrialOutcome& outcome) {
  std::string others;
  bool first = true;
  for (const CheckOutcome& check : outcome.checks) {
    if (!check.failed()) continue;
    if (first)
      print_failure(stream, check);
    else
      others += (others.empty() ? "" : ", ") + check.step;
    first = false;
  }
  if (!others.empty())
    stream << wrapped("Also failed, and explained when this one holds: " + others, "  ",
                      text_columns());
}

std::string warning_of(const TrialOutcome& outcome) {
  return outcome.other_lab.empty() ? ""
                                   : "Warning: its lab.txt says " + outcome.other_lab +
                                         ", but it was tried as " + outcome.lab + " (--lab)";
}

nlohmann::json json_of(const CheckOutcome& check) {
  return {{"id", check.id},         {"step", check.step},      {"points", check.points},
          {"score", check.score()}, {"tried", check.tried},    {"held", check.held},
          {"cases", check.cases},   {"case", check.case_name}, {"message", one_line(check.message)},
          {"cause", check.cause}};
}

nlohmann::json json_of(const TransactionOutcome& transactions) {
  nlohmann::json counts = nlohmann::json::array();
  for (const CountOutcome& count : transactions.counts)
    counts.push_back({{"case", count.case_name},
                      {"name", count.name},
                      {"counted", count.counted},
                      {"target", count.target},
                      {"where", one_line(count.where)}});
  std::string hint;
  for (const std::string& text : explanations_of(transactions))
    hint += (hint.empty() ? "" : "; ") + one_line(text);
  return {{"points", transactions.points},
          {"score", transactions.score()},
          {"tried", transactions.tried},
          {"held", transactions.held},
          {"counts", counts},
          {"hint", hint}};
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
  if (!outcome.other_lab.empty()) stream << wrapped(warning_of(outcome), "", text_columns());
  if (!outcome.remark.empty()) stream << wrapped(outcome.remark, "Note: ", text_columns());
  if (!outcome.note.empty())
    stream << coloured(wrapped(outcome.note, "", text_columns()), Colour::bad)
           << wrapped_lines(outcome.compiler, 40);
  if (outcome.check_seconds > 0) print_table(stream, outcome);
  print_failures(stream, outcome);
  if (!outcome.transactions.counts.empty()) print_counts(stream, outcome.transactions);
  if (!outcome.printed.empty()) {
    stream << "\nYour kernel printed:\n" << wrapped_lines(outcome.printed, 20);
  }
  for (int i = 0; i < hints; ++i) {
    stream << "\nHint " << i + 1 << ":\n"
           << wrapped(lab.hints[static_cast<std::size_t>(i)], "  ", text_columns());
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
  if (!full && hints < static_cast<int>(lab.hints.size()))
    stream << "For " << (hints == 0 ? "a hint" : "one more hint") << " add --hint " << hints + 1
           << ".\n";
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
          {"other_lab", one_line(outcome.other_lab)},
          {"warning", one_line(warning_of(outcome))},
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
    tests.push_back(gradescope_test(check.at("step"), check,
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
  counts += transactions.at("hint");
  tests.push_back(gradescope_test("transactions", transactions, counts));
  const double seconds =
      trial.at("build_seconds").get<double>() + trial.at("check_seconds").get<double>();
  std::string output = trial.at("note");
  for (const char* more : {"warning", "remark", "compiler"})
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
