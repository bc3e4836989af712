#include "walkthroughs/labs/grading_list.h"

#include "tests/harness/message_parts.h"
#include "tests/harness/one_line.h"
#include "tests/harness/text_table.h"
#include "tests/harness/wrapped_text.h"
#include "walkthroughs/labs/trial_json.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>

namespace paged::labs {
namespace {

/// Longer names push their text to the next line.
constexpr std::size_t kMostOfName = 30;

/// What ended a trial stands there a second time if a step was under way.
bool is_message_of_a_step(const nlohmann::json& trial, const std::string& note) {
  for (const nlohmann::json& check : trial.at("invariants"))
    if (check.at("message") == note) return true;
  return false;
}

/// What a course's list says of a submission: the first step that fails, on which case, and which
/// others do.
std::string summary_of(const nlohmann::json& trial) {
  if (const std::string note = trial.at("note");
      !note.empty() && !is_message_of_a_step(trial, note))
    return note + first_error(trial.at("compiler"));
  std::string summary;
  std::string others;
  const auto add = [&](const std::string& step, const std::string& case_name,
                       const std::string& message) {
    if (summary.empty())
      summary = step + (case_name.empty() ? "" : " on " + case_name) + ": " + message;
    else
      others += (others.empty() ? "" : ", ") + step;
  };
  for (const nlohmann::json& check : trial.at("invariants"))
    if (check.at("tried").get<bool>() && !check.at("held").get<bool>())
      add(check.at("step"), check.at("case"), check.at("message"));
  const nlohmann::json& transactions = trial.at("transactions");
  if (transactions.at("tried").get<bool>() && !transactions.at("held").get<bool>())
    add("transactions", "", transactions.at("hint"));
  return others.empty() ? summary : summary + " (also failed: " + others + ")";
}

/// The last so many names of a path: "a/b" of "x/a/b".
std::string last_parts(const std::string& folder, std::size_t count) {
  std::filesystem::path path = std::filesystem::path(folder).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  std::vector<std::filesystem::path> parts(path.begin(), path.end());
  std::filesystem::path last;
  for (std::size_t i = parts.size() - std::min(count, parts.size()); i < parts.size(); ++i)
    last /= parts[i];
  return last.string();
}

}  // namespace

std::string name_of_submission(const std::string& folder) {
  const std::filesystem::path path = std::filesystem::path(folder).lexically_normal();
  return (path.has_filename() ? path : path.parent_path()).filename().string();
}

std::vector<std::string> listed_names(const std::vector<std::string>& folders) {
  std::vector<std::string> names;
  for (const std::string& folder : folders) names.push_back(one_line(name_of_submission(folder)));
  for (std::size_t parts = 2;; ++parts) {
    std::map<std::string, int> uses;
    for (const std::string& name : names) ++uses[name];
    bool longer = false;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (uses[names[i]] == 1) continue;
      const std::string name = one_line(last_parts(folders[i], parts));
      longer = longer || name != names[i];
      names[i] = name;
    }
    if (!longer) return names;
  }
}

std::size_t width_of(const std::vector<std::string>& names) {
  std::size_t widest = 0;
  for (const std::string& name : names)
    if (name.size() <= kMostOfName) widest = std::max(widest, name.size());
  return widest;
}

std::string entry_of(const nlohmann::json& trial, const std::string& listed, std::size_t width) {
  std::string name = listed;
  if (name.size() < width) name.resize(width, ' ');
  char points[32];
  std::snprintf(points, sizeof points, "%3d of %d  ", trial.at("score").get<int>(),
                trial.at("max_score").get<int>());
  std::string text;
  for (const std::string& part :
       {trial.at("warning").get<std::string>(), trial.at("untouched").get<std::string>(),
        summary_of(trial), trial.at("remark").get<std::string>()})
    add_part(text, part);
  if (text.empty()) return points + name.substr(0, name.find_last_not_of(' ') + 1) + '\n';
  if (name.size() > width)
    return points + name + '\n' + wrapped(text, "            ", text_columns());
  return wrapped(text, points + name + "  ", text_columns());
}

std::string warning_about(const std::vector<nlohmann::json>& others, std::size_t all) {
  std::string names;
  for (const nlohmann::json& trial : others)
    names += (names.empty() ? "" : ", ") + name_of_submission(trial.at("submission")) + " (" +
             trial.at("other_lab").get<std::string>() + ")";
  return wrapped("lab.sh: warning: " + std::to_string(others.size()) + " of " +
                     std::to_string(all) + (all == 1 ? " submission was" : " submissions were") +
                     " graded as " + others.front().at("lab").get<std::string>() +
                     ", and their lab.txt names another lab: " + names +
                     ". Is --lab right? Without it each is graded as the lab that it names.",
                 "", text_columns());
}

}  // namespace paged::labs
