// Many submissions, each tried by a process of its own.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace paged::labs {

struct GradingRequest {
  std::vector<std::filesystem::path> submissions;
  std::string lab;  ///< "": the one that each submission names
  std::uint64_t seed = 1;
  std::optional<int> seconds_per_run;  ///< in place of the rubric's
  bool one_kernel = false;             ///< of f16, head size 64 and block size 16 alone
  int jobs = 1;                        ///< how many are tried at a time
};

/// Tries each with `program check`, and calls `done` with its result (trial_report.h) when it and
/// all before it are done. A submission that its grader does not survive, or that names no lab,
/// gets 0 points and a note.
std::vector<nlohmann::json> grade(const std::string& program, const GradingRequest& request,
                                  const std::function<void(const nlohmann::json&)>& done);

}  // namespace paged::labs
