#include "walkthroughs/labs/gradescope.h"

#include "tests/harness/invariant.h"
#include "walkthroughs/labs/trial_json.h"

#include <nlohmann/json.hpp>

#include <string>

namespace paged::labs {
namespace {

nlohmann::json test_of(const std::string& name, const nlohmann::json& step,
                       const std::string& output) {
  const bool passed = step.at("held").get<bool>() && step.at("tried").get<bool>();
  return {{"name", name},
          {"score", step.at("score")},
          {"max_score", step.at("points")},
          {"status", passed ? "passed" : "failed"},
          {"output", output}};
}

bool was_tried(const nlohmann::json& step) { return step.at("tried").get<bool>(); }

/// Why a step was not tried: what ended all before the first, which its test says alone, or that an
/// earlier one failed.
std::string why_not_tried(const nlohmann::json& trial, bool is_first) {
  if (was_tried(trial.at("invariants").front())) return "not tried: one before it failed";
  if (!is_first) return "not tried: see the first test";
  return "not tried: " + trial.at("note").get<std::string>() +
         first_error(trial.at("compiler").get<std::string>());
}

std::string output_of_check(const nlohmann::json& check, const nlohmann::json& trial) {
  if (!was_tried(check)) return why_not_tried(trial, &check == &trial.at("invariants").front());
  if (check.at("held").get<bool>()) return find_invariant(check.at("id")).statement;
  const std::string case_name = check.at("case");
  return (case_name.empty() ? "" : case_name + ": ") + check.at("message").get<std::string>();
}

std::string output_of_transactions(const nlohmann::json& trial) {
  const nlohmann::json& transactions = trial.at("transactions");
  if (!was_tried(transactions)) return why_not_tried(trial, false);
  std::string text;
  for (const nlohmann::json& count : transactions.at("counts"))
    text += count.at("case").get<std::string>() + ", " +
            count_in_words(count.at("name").get<std::string>()) + ": " +
            count.at("counted").dump() + ", target " + count.at("target").dump() + "\n";
  return text + transactions.at("hint").get<std::string>();
}

/// Students see it, so it has nothing that a submission printed: that could be the values of cases.
std::string whole_output_of(const nlohmann::json& trial) {
  std::string output = trial.at("note");
  const auto add = [&](const std::string& text) {
    if (!text.empty()) output += (output.empty() ? "" : "\n") + text;
  };
  for (const char* more : {"warning", "remark", "untouched", "compiler"}) add(trial.at(more));
  return output;
}

}  // namespace

nlohmann::json gradescope_of(const nlohmann::json& trial) {
  nlohmann::json tests = nlohmann::json::array();
  for (const nlohmann::json& check : trial.at("invariants"))
    tests.push_back(test_of(check.at("step"), check, output_of_check(check, trial)));
  if (!tests.empty())
    tests.push_back(
        test_of("transactions", trial.at("transactions"), output_of_transactions(trial)));
  return {{"score", trial.at("score")},
          {"max_score", trial.at("max_score")},
          {"execution_time",
           trial.at("build_seconds").get<double>() + trial.at("check_seconds").get<double>()},
          {"output", whole_output_of(trial)},
          {"visibility", "visible"},
          {"stdout_visibility", "hidden"},
          {"tests", tests}};
}

}  // namespace paged::labs
