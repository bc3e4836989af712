#include "walkthroughs/labs/remembered_result.h"

#include "tests/harness/input_file.h"
#include "tests/harness/output_file.h"
#include "walkthroughs/labs/trial_json.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <system_error>
#include <utility>
#include <vector>

namespace paged::labs {
namespace {

namespace fs = std::filesystem;

/// FNV-1a, twice from different beginnings: nobody gains by two states that look like one.
class Digest {
 public:
  void add(const std::string& text) {
    for (const char c : text + '\0')
      for (std::uint64_t& part : parts_) {
        part ^= static_cast<unsigned char>(c);
        part *= 0x100000001B3ULL;
        part += part >> 47;
      }
  }
  std::string text() const {
    char hex[40];
    std::snprintf(hex, sizeof hex, "%016llx%016llx", static_cast<unsigned long long>(parts_[0]),
                  static_cast<unsigned long long>(parts_[1]));
    return hex;
  }

 private:
  std::uint64_t parts_[2] = {0xCBF29CE484222325ULL, 0x84222325CBF29CE4ULL};
};

void add_time_of(const fs::path& file, Digest& digest) {
  std::error_code error;
  const auto time = fs::last_write_time(file, error);
  digest.add(file.string() + " " + (error ? "" : std::to_string(time.time_since_epoch().count())));
}

/// The sources that are compiled with a submission or say how it is tried, and what the build made
/// of the others. False if a folder cannot be read to its end: then nobody knows the state.
bool add_times_of_lab(const Kit& kit, Digest& digest) {
  for (const char* folder :
       {"reference", "kernels", "stages", "walkthroughs/labs", "tests/cases"}) {
    std::error_code error;
    fs::recursive_directory_iterator entry(fs::path(kit.root) / folder, error);
    for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error))
      add_time_of(entry->path(), digest);
    if (error) return false;
  }
  add_time_of("/proc/self/exe", digest);
  add_time_of(kit.compile.front(), digest);
  add_time_of(kit.v1, digest);
  for (const std::vector<std::string>* command : {&kit.compile, &kit.link})
    for (const std::string& word : *command) {
      digest.add(word);
      if (word.starts_with('/')) add_time_of(word, digest);
    }
  return true;
}

/// Results that are a month old go, and the oldest of more than some hundreds. What another check
/// removes meanwhile is gone, and no error.
void remove_old_results(const fs::path& folder) {
  constexpr std::size_t kMostResults = 512;
  constexpr std::chrono::days kLongest{30};
  std::vector<std::pair<fs::file_time_type, fs::path>> results;  // the newest first, below
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::error_code gone;
    const fs::file_time_type time = entry->last_write_time(gone);
    if (!gone && entry->path().extension() == ".json") results.emplace_back(time, entry->path());
  }
  std::sort(results.rbegin(), results.rend());
  const fs::file_time_type oldest = fs::file_time_type::clock::now() - kLongest;
  for (std::size_t i = 0; i < results.size(); ++i)
    if (i >= kMostResults || results[i].first < oldest) fs::remove(results[i].second, error);
}

}  // namespace

RememberedResult::RememberedResult(const fs::path& folder, const Kit& kit, const Lab& lab,
                                   const Submission& submission, const std::string& options) {
  Digest place;
  std::error_code error;
  place.add(fs::weakly_canonical(folder, error).string());
  place.add(lab.name);
  file_ = fs::path(PAGED_BUILD_DIRECTORY) / "labs/results" / (place.text() + ".json");
  Digest state;
  state.add(place.text());
  state.add(options);
  for (const auto& [path, text] : submission.files) {
    state.add(path);
    state.add(text);
  }
  state.add(submission.note);
  if (!error && add_times_of_lab(kit, state)) state_ = state.text();
}

std::optional<TrialOutcome> RememberedResult::read() const {
  try {
    if (state_.empty() || !fs::exists(file_)) return {};
    const nlohmann::json json = nlohmann::json::parse(content_of_input(file_));
    if (json.at("state") != state_) return {};
    TrialOutcome outcome = outcome_of(json.at("trial"));
    outcome.remembered = true;
    return outcome;
  } catch (const std::exception&) {
    return {};  // of another version, or not whole
  }
}

void RememberedResult::write(const TrialOutcome& outcome) const {
  if (state_.empty() || outcome.by_chance) return;
  try {
    fs::create_directories(file_.parent_path());
    OutputFile(file_).commit(nlohmann::json{{"state", state_}, {"trial", json_of(outcome)}}.dump());
    remove_old_results(file_.parent_path());
  } catch (const std::exception&) {
    // A build folder that is another user's: then each check is tried.
  }
}

}  // namespace paged::labs
