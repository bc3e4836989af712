#include "walkthroughs/labs/trial_json.h"

#include "tests/harness/message_parts.h"
#include "tests/harness/one_line.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <sstream>

namespace paged::labs {
namespace {

/// Lines that others wrote, each made harmless.
std::string harmless(const std::string& text) {
  std::istringstream lines(text);
  std::string result;
  for (std::string line; std::getline(lines, line);)
    result += (result.empty() ? "" : "\n") + one_line(line);
  return result;
}

nlohmann::json json_of(const CheckOutcome& check) {
  return {{"id", check.id},
          {"step", check.step},
          {"points", check.points},
          {"score", check.score()},
          {"tried", check.tried},
          {"held", check.held},
          {"cases", check.cases},
          {"case", check.case_name},
          {"case_in_words", check.case_in_words},
          {"message", one_line(check.message)},
          {"broken", check.broken},
          {"cause", check.cause},
          {"ended", check.ended},
          {"in_words", check.in_words},
          {"reading", check.reading}};
}

CheckOutcome tried_check_of(const nlohmann::json& json) {
  CheckOutcome check;
  check.id = json.at("id");
  check.step = json.at("step");
  check.points = json.at("points");
  check.tried = json.at("tried");
  check.held = json.at("held");
  check.cases = json.at("cases");
  check.case_name = json.at("case");
  check.case_in_words = json.at("case_in_words");
  check.message = json.at("message");
  check.broken = json.at("broken");
  check.cause = json.at("cause");
  check.ended = json.at("ended");
  check.in_words = json.at("in_words");
  check.reading = json.at("reading");
  return check;
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
  for (const std::string& text : explanations_of(transactions)) add_part(hint, one_line(text));
  return {{"points", transactions.points},
          {"score", transactions.score()},
          {"tried", transactions.tried},
          {"held", transactions.held},
          {"counts", counts},
          {"wrong", one_line(transactions.wrong)},
          {"impossible", one_line(transactions.impossible)},
          {"hint", hint}};
}

TransactionOutcome tried_transactions_of(const nlohmann::json& json) {
  TransactionOutcome transactions;
  transactions.points = json.at("points");
  transactions.tried = json.at("tried");
  transactions.held = json.at("held");
  for (const nlohmann::json& count : json.at("counts"))
    transactions.counts.push_back({count.at("case"), count.at("name"), count.at("counted"),
                                   count.at("target"), count.at("where")});
  transactions.wrong = json.at("wrong");
  transactions.impossible = json.at("impossible");
  return transactions;
}

}  // namespace

std::string count_in_words(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

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

std::string warning_of(const TrialOutcome& outcome) {
  return outcome.other_lab.empty() ? ""
                                   : "Warning: its lab.txt says " + outcome.other_lab +
                                         ", but it was tried as " + outcome.lab + " (--lab)";
}

std::string first_error(const std::string& compiler) {
  const std::size_t error = compiler.find("error: ");
  if (error == std::string::npos) return "";
  const std::size_t before = compiler.rfind('\n', error);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  return ": " + compiler.substr(begin, compiler.find('\n', error) - begin);
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
          {"untouched", one_line(outcome.untouched)},
          {"other_lab", one_line(outcome.other_lab)},
          {"warning", one_line(warning_of(outcome))},
          {"compiler", harmless(outcome.compiler)},
          {"printed", harmless(outcome.printed)},
          {"shut_off", outcome.shut_off},
          {"build_seconds", outcome.build_seconds},
          {"check_seconds", outcome.check_seconds},
          {"invariants", checks},
          {"transactions", json_of(outcome.transactions)}};
}

TrialOutcome outcome_of(const nlohmann::json& trial) {
  TrialOutcome outcome;
  outcome.lab = trial.at("lab");
  outcome.submission = trial.at("submission");
  outcome.note = trial.at("note");
  outcome.remark = trial.at("remark");
  outcome.untouched = trial.at("untouched");
  outcome.other_lab = trial.at("other_lab");
  outcome.compiler = trial.at("compiler");
  outcome.printed = trial.at("printed");
  outcome.shut_off = trial.at("shut_off");
  outcome.build_seconds = trial.at("build_seconds");
  outcome.check_seconds = trial.at("check_seconds");
  for (const nlohmann::json& check : trial.at("invariants"))
    outcome.checks.push_back(tried_check_of(check));
  outcome.transactions = tried_transactions_of(trial.at("transactions"));
  return outcome;
}

}  // namespace paged::labs
