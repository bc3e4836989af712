#include "walkthroughs/labs/grading_list.h"

#include "tests/harness/one_line.h"
#include "tests/harness/text_table.h"
#include "tests/harness/wrapped_text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>

namespace paged::labs {
namespace {

/// Longer names push their text to the next line.
constexpr std::size_t kMostOfName = 30;

/// The compiler's first error, if a submission does not compile.
std::string first_error(const std::string& compiler) {
  const std::size_t error = compiler.find("error: ");
  if (error == std::string::npos) return "";
  const std::size_t before = compiler.rfind('\n', error);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  return ": " + compiler.substr(begin, compiler.find('\n', error) - begin);
}

/// What a course's list says of a submission: the first step that fails, and which others do.
std::string summary_of(const nlohmann::json& trial) {
  if (const std::string note = trial.at("note"); !note.empty())
    return note + first_error(trial.at("compiler"));
  std::string summary;
  std::string others;
  const auto add = [&](const std::string& step, const std::string& message) {
    if (summary.empty())
      summary = step + ": " + message;
    else
      others += (others.empty() ? "" : ", ") + step;
  };
  for (const nlohmann::json& check : trial.at("invariants"))
    if (check.at("tried").get<bool>() && !check.at("held").get<bool>())
      add(check.at("step"), check.at("message"));
  const nlohmann::json& transactions = trial.at("transactions");
  if (transactions.at("tried").get<bool>() && !transactions.at("held").get<bool>())
    add("transactions", transactions.at("hint"));
  return others.empty() ? summary : summary + " (also failed: " + others + ")";
}

}  // namespace

std::string name_of_submission(const std::string& folder) {
  const std::filesystem::path path = std::filesystem::path(folder).lexically_normal();
  return (path.has_filename() ? path : path.parent_path()).filename().string();
}

std::size_t width_of_names(const std::vector<std::string>& folders) {
  std::size_t widest = 0;
  for (const std::string& folder : folders) {
    const std::size_t size = one_line(name_of_submission(folder)).size();
    if (size <= kMostOfName) widest = std::max(widest, size);
  }
  return widest;
}

std::string entry_of(const nlohmann::json& trial, std::size_t width) {
  std::string name = one_line(name_of_submission(trial.at("submission")));
  if (name.size() < width) name.resize(width, ' ');
  char points[32];
  std::snprintf(points, sizeof points, "%3d of %d  ", trial.at("score").get<int>(),
                trial.at("max_score").get<int>());
  std::string text = summary_of(trial);
  if (const std::string warning = trial.at("warning"); !warning.empty())
    text = warning + (text.empty() ? "" : "; " + text);
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
                     std::to_string(all) + " submissions were graded as " +
                     others.front().at("lab").get<std::string>() +
                     ", and their lab.txt names another lab: " + names +
                     ". Is --lab right? Without it each is graded as the lab that it names.",
                 "", text_columns());
}

}  // namespace paged::labs
