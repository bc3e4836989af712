#include "walkthroughs/labs/trial_report.h"

#include "tests/harness/invariant.h"
#include "tests/harness/one_line.h"
#include "tests/harness/text_table.h"
#include "tests/harness/wrapped_text.h"
#include "walkthroughs/labs/failure_words.h"
#include "walkthroughs/labs/printed_text.h"
#include "walkthroughs/labs/trial_json.h"

#include <algorithm>
#include <cstdio>
#include <ostream>

namespace paged::labs {
namespace {

std::string points_of(int score, int points) {
  return std::to_string(score) + " of " + std::to_string(points);
}

/// A paragraph as wide as the terminal.
std::string paragraph_of(const std::string& text, const std::string& first) {
  return wrapped(text, first, text_columns());
}

/// A message's parts, each a paragraph.
void print_message(std::ostream& stream, const std::string& message) {
  stream << wrapped_parts(one_line(message), 4, text_columns(), 0);
}

/// The steps that were tried; the others on one line.
void print_table(std::ostream& stream, const TrialOutcome& outcome) {
  TextTable table({"step", "result", "points"});
  std::string waiting;
  int points_waiting = 0;
  const auto add = [&](const std::string& step, bool tried, bool held, int score, int points) {
    if (tried)
      return table.add_row({step, held ? "held" : "FAILED", points_of(score, points)},
                           held ? Colour::plain : Colour::bad);
    waiting += (waiting.empty() ? "" : ", ") + step;
    points_waiting += points;
  };
  for (const CheckOutcome& check : outcome.checks)
    add(check.step, check.tried, check.held, check.score(), check.points);
  const TransactionOutcome& transactions = outcome.transactions;
  add("transactions", transactions.tried, transactions.held, transactions.score(),
      transactions.points);
  stream << '\n';
  table.print(stream);
  if (!waiting.empty())
    stream << coloured(
        paragraph_of(waiting + " (" + std::to_string(points_waiting) + " points)", "not tried: "),
        Colour::dim);
}

/// What failed, then what must hold, then on which case and where.
void print_failure(std::ostream& stream, const CheckOutcome& check) {
  // A finding is about how it runs, whatever was being tried.
  const Invariant& invariant = find_invariant(check.broken.empty() ? check.id : check.broken);
  const std::string head = "FAILED: " + check.step + ".";
  const std::string text = paragraph_of(head + " " + check.in_words, "");
  stream << coloured(text.substr(0, head.size()), Colour::bad) << text.substr(head.size())
         << paragraph_of(invariant.statement, "  What must hold: ");
  if (!check.case_in_words.empty())
    stream << paragraph_of(check.case_in_words + " (" + check.case_name + ")", "  The case: ");
  stream << "  What was found:\n";
  print_message(stream, check.message);
  if (!check.reading.empty()) stream << paragraph_of(check.reading, "  ");
  stream << "  More on it: build/bin/paged explain " << invariant.id << '\n';
}

void print_counts(std::ostream& stream, const TransactionOutcome& transactions) {
  stream << '\n'
         << paragraph_of(
                "Transactions on the CPU machine; the target is what the stage itself is predicted "
                "to need:",
                "");
  TextTable table({"case", "count", "yours", "target", ""});
  for (const CountOutcome& count : transactions.counts) {
    table.add_row({count.case_name, count_in_words(count.name), std::to_string(count.counted),
                   std::to_string(count.target), count.held() ? "" : "too many"},
                  count.held() ? Colour::plain : Colour::bad);
  }
  table.print(stream);
  for (const std::string& text : explanations_of(transactions)) stream << paragraph_of(text, "  ");
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
    stream << paragraph_of("Also failed, and explained when this one holds: " + others, "  ");
}

/// What ended the trial is a step's message, too, if a step was under way.
bool is_told_by_a_step(const TrialOutcome& outcome) {
  return std::any_of(outcome.checks.begin(), outcome.checks.end(), [&](const CheckOutcome& check) {
    return check.failed() && check.message == outcome.note;
  });
}

void print_hints(std::ostream& stream, const std::vector<std::string>& hints, std::size_t shown) {
  for (std::size_t i = 0; i < shown; ++i)
    stream << "\nHint " << i + 1 << ":\n" << paragraph_of(hints[i], "  ");
}

void print_score(std::ostream& stream, const TrialOutcome& outcome) {
  char times[100];
  std::snprintf(times, sizeof times,
                outcome.remembered
                    ? " (of the last check; nothing has changed since. --anew tries it again)"
                    : " (built in %.1f s, checked in %.1f s)",
                outcome.build_seconds, outcome.check_seconds);
  const bool full = outcome.score() == outcome.max_score();
  stream << '\n'
         << coloured(points_of(outcome.score(), outcome.max_score()) + " points",
                     full ? Colour::good : Colour::plain)
         << times << '\n';
}

}  // namespace

void print(std::ostream& stream, const Lab& lab, const TrialOutcome& outcome, int hints) {
  if (!outcome.other_lab.empty()) stream << paragraph_of(warning_of(outcome), "");
  if (!outcome.remark.empty()) stream << paragraph_of(outcome.remark, "Note: ");
  if (!outcome.untouched.empty()) stream << paragraph_of(outcome.untouched, "") << '\n';
  if (!outcome.note.empty() && !is_told_by_a_step(outcome))
    stream << coloured(paragraph_of(outcome.note, ""), Colour::bad)
           << wrapped_lines(outcome.compiler, 40);
  print_failures(stream, outcome);
  if (outcome.check_seconds > 0) print_table(stream, outcome);
  if (!outcome.transactions.counts.empty()) print_counts(stream, outcome.transactions);
  if (!outcome.printed.empty())
    stream << "\nYour kernel printed:\n" << wrapped_lines(outcome.printed, 20);
  const bool full = outcome.score() == outcome.max_score();
  const std::vector<std::string> all = fitting_hints(lab, outcome);
  const std::size_t shown = std::min(static_cast<std::size_t>(hints), all.size());
  print_hints(stream, all, shown);
  print_score(stream, outcome);
  if (!full && shown < all.size())
    stream << "For " << (hints == 0 ? "a hint" : "one more hint") << " add --hint " << shown + 1
           << ".\n";
}

}  // namespace paged::labs
