#include "walkthroughs/labs/trial_report.h"

#include "tests/harness/counted_noun.h"
#include "tests/harness/invariant.h"
#include "tests/harness/message_parts.h"
#include "tests/harness/one_line.h"
#include "tests/harness/shell_word.h"
#include "tests/harness/text_table.h"
#include "tests/harness/wrapped_text.h"
#include "walkthroughs/labs/compiler_message.h"
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
        paragraph_of(waiting + " (" + counted(points_waiting, "point") + ")", "not tried: "),
        Colour::dim);
}

/// What is broken, by its name, what must hold, and how to learn more about it. A finding is about
/// how the kernel runs, whatever step was being tried; so is a process that does not answer.
struct Broken {
  std::string name, statement, explained;
};

Broken broken_of(const CheckOutcome& check) {
  if (!check.ended.empty()) return {check.ended, "Every run of the kernel comes to its end.", ""};
  const Invariant& invariant = find_invariant(check.broken.empty() ? check.id : check.broken);
  return {check.broken.empty() || check.broken == check.id ? check.step : invariant.id,
          invariant.statement, invariant.id};
}

/// What failed, then what must hold, then on which case and where; the likely cause, and what to
/// do.
void print_failure(std::ostream& stream, const CheckOutcome& check) {
  const Broken broken = broken_of(check);
  const bool in_other_step = broken.name != check.step;
  const std::string head =
      "FAILED: " + broken.name + (in_other_step ? ", in step " + check.step : "") + ".";
  const std::string text = paragraph_of(head + " " + check.in_words, "");
  stream << coloured(text.substr(0, head.size()), Colour::bad) << text.substr(head.size())
         << paragraph_of(broken.statement,
                         in_other_step ? "  What must hold in every step: " : "  What must hold: ");
  if (!check.case_in_words.empty())
    stream << paragraph_of(check.case_in_words + " (" + check.case_name + ")", "  The case: ");
  const MessageParts parts = parts_of(one_line(check.message));
  stream << "  What was found:\n"
         << wrapped_parts(parts.found, 4, text_columns(), 0) << paragraph_of(check.reading, "  ")
         << paragraph_of(parts.cause, "  Likely cause: ")
         << paragraph_of(parts.advice, "  What to do: ");
  if (!broken.explained.empty())
    stream << "  More on it: build/bin/paged explain " << broken.explained << '\n';
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

void print_failed_transactions(std::ostream& stream, const TransactionOutcome& transactions) {
  const bool too_many = std::any_of(transactions.counts.begin(), transactions.counts.end(),
                                    [](const CountOutcome& count) { return !count.held(); });
  const std::string head = "FAILED: transactions.";
  stream << coloured(head, Colour::bad)
         << (too_many ? " More are asked for than the stage itself needs.\n"
                      : " What was counted gives no points.\n");
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
  const TransactionOutcome& transactions = outcome.transactions;
  if (transactions.tried && !transactions.held) {
    if (first)
      print_failed_transactions(stream, transactions);
    else
      others += (others.empty() ? "" : ", ") + std::string("transactions");
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

/// What ended the trial before a kernel ran, and what to do about it.
void print_note(std::ostream& stream, const TrialOutcome& outcome) {
  stream << coloured(paragraph_of(outcome.note, ""), Colour::bad)
         << whole_lines(up_to_second_error(outcome.compiler), 40);
  if (const std::size_t more = errors_after_first(outcome.compiler); more > 0)
    stream << "Mend this error first: " << counted(more, "more error")
           << " of the compiler's may come from it.\n";
}

bool was_tried(const TrialOutcome& outcome) {
  return std::any_of(outcome.checks.begin(), outcome.checks.end(),
                     [](const CheckOutcome& check) { return check.tried; });
}

/// The last lines: how to get a hint, or why there is none.
void print_way_to_hints(std::ostream& stream, const TrialOutcome& outcome, std::size_t asked,
                        std::size_t shown, std::size_t all) {
  if (outcome.score() == outcome.max_score()) return;
  if (!was_tried(outcome))
    stream << "Hints are about what a kernel computes. None was run yet: mend the above first.\n";
  else if (shown < all)
    stream << (shown == 0 ? "A hint: " : "One more hint: ") << "bash walkthroughs/lab.sh check "
           << shell_word(one_line(outcome.submission)) << " --hint " << shown + 1 << '\n';
  else if (asked > shown)
    stream << "There are no more hints than these " << all << ".\n";
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
  if (!outcome.note.empty() && !is_told_by_a_step(outcome)) print_note(stream, outcome);
  print_failures(stream, outcome);
  if (outcome.check_seconds > 0) print_table(stream, outcome);
  if (!outcome.transactions.counts.empty()) print_counts(stream, outcome.transactions);
  if (!outcome.printed.empty())
    stream << "\nYour kernel printed:\n" << wrapped_lines(outcome.printed, 20);
  const std::vector<std::string> all = fitting_hints(lab, outcome);
  const auto asked = static_cast<std::size_t>(hints);
  const std::size_t shown = was_tried(outcome) ? std::min(asked, all.size()) : 0;
  print_hints(stream, all, shown);
  print_score(stream, outcome);
  print_way_to_hints(stream, outcome, asked, shown, all.size());
}

}  // namespace paged::labs
