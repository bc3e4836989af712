#include "walkthroughs/labs/grading.h"

#include "reference/input_error.h"
#include "tests/harness/input_file.h"
#include "walkthroughs/labs/limited_process.h"
#include "walkthroughs/labs/submission.h"
#include "walkthroughs/labs/submission_build.h"
#include "walkthroughs/labs/trial_json.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <mutex>
#include <thread>

namespace paged::labs {
namespace {

nlohmann::json without_result(const Lab& lab, const std::filesystem::path& submission,
                              const std::string& note) {
  TrialOutcome outcome = untried(lab, submission.string());
  outcome.note = note;
  return json_of(outcome);
}

/// A text without the folder that all paths of a submission begin with.
std::string without(std::string text, const std::string& folder) {
  for (std::size_t at = 0; (at = text.find(folder, at)) != std::string::npos;)
    text.erase(at, folder.size());
  return text;
}

/// Of a submission whose lab nobody knows: 0 of the points that every lab has.
nlohmann::json without_lab(const std::filesystem::path& submission, const std::string& note) {
  nlohmann::json trial = without_result(Lab{}, submission, note);
  trial["max_score"] = kMostPoints;
  return trial;
}

nlohmann::json grade_one(const std::string& program, const GradingRequest& request,
                         const std::filesystem::path& submission) {
  if (!std::filesystem::is_directory(submission))
    throw InputError("'" + submission.string() +
                     "' is no folder: unpack what was handed in, one folder a submission");
  const Lab lab = find_lab(request.lab.empty() ? lab_of_folder(submission) : request.lab);
  const ScratchFolder scratch;
  const std::filesystem::path result = scratch.path() / "result.json";
  std::vector<std::string> command = {program,
                                      "check",
                                      std::filesystem::absolute(submission).string(),
                                      "--lab",
                                      lab.name,
                                      "--seed",
                                      std::to_string(request.seed),
                                      "--no-gpu",
                                      "--remember-nothing",
                                      "--json",
                                      result.string()};
  if (request.one_kernel) command.emplace_back("--one-kernel");
  if (request.seconds_per_run) {
    command.emplace_back("--seconds-per-run");
    command.push_back(std::to_string(*request.seconds_per_run));
  }
  // Time is limited inside; this is for a grader that hangs itself.
  const int seconds = 2 * lab.limits.compile_seconds + lab.limits.seconds + 60;
  ProgramLimits limits;
  limits.offline = false;
  const ProcessOutcome outcome = run_limited(command, limits, seconds);
  if (!std::filesystem::exists(result))
    return without_result(lab, submission,
                          outcome.timed_out
                              ? "the grader did not come to an end: look at this one"
                              : "the grader failed: " + outcome.output.substr(0, 300));
  try {
    nlohmann::json trial = nlohmann::json::parse(content_of_input(result));
    trial["submission"] = submission.string();
    trial["compiler"] = without(trial.at("compiler"), std::filesystem::absolute(submission) / "");
    return trial;
  } catch (const std::exception& error) {
    return without_result(lab, submission, std::string("the grader's result: ") + error.what());
  }
}

/// Whatever is wrong with one submission, the others are graded.
nlohmann::json grade_or_explain(const std::string& program, const GradingRequest& request,
                                const std::filesystem::path& submission) {
  try {
    return grade_one(program, request, submission);
  } catch (const std::exception& error) {
    return without_lab(submission, error.what());
  }
}

}  // namespace

std::vector<nlohmann::json> grade(const std::string& program, const GradingRequest& request,
                                  const std::function<void(const nlohmann::json&)>& done) {
  std::vector<nlohmann::json> results(request.submissions.size());
  std::size_t next = 0;
  std::size_t announced = 0;
  std::mutex mutex;
  const auto work = [&] {
    for (;;) {
      std::unique_lock lock(mutex);
      if (next == results.size()) return;
      const std::size_t own = next++;
      lock.unlock();
      nlohmann::json result = grade_or_explain(program, request, request.submissions[own]);
      lock.lock();
      results[own] = std::move(result);
      for (; announced < results.size() && !results[announced].is_null(); ++announced)
        done(results[announced]);
    }
  };
  std::vector<std::thread> workers;
  for (int i = 0; i < std::max(request.jobs, 1); ++i) workers.emplace_back(work);
  for (std::thread& worker : workers) worker.join();
  return results;
}

}  // namespace paged::labs
