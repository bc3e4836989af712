#include "walkthroughs/labs/remembered_result.h"

#include "tests/harness/input_file.h"
#include "walkthroughs/labs/starter.h"
#include "walkthroughs/labs/trial_json.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <cstdio>

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
  std::uint64_t number() const { return parts_[0]; }

 private:
  std::uint64_t parts_[2] = {0xCBF29CE484222325ULL, 0x84222325CBF29CE4ULL};
};

void add_time_of(const fs::path& file, Digest& digest) {
  std::error_code error;
  const auto time = fs::last_write_time(file, error);
  digest.add(file.string() + " " + (error ? "" : std::to_string(time.time_since_epoch().count())));
}

/// The sources that are compiled with a submission or say how it is tried, and what the build made
/// of the others.
void add_times_of_lab(const Kit& kit, Digest& digest) {
  for (const char* folder : {"reference", "kernels", "stages", "walkthroughs/labs", "tests/cases"})
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(kit.root) / folder))
      add_time_of(entry.path(), digest);
  add_time_of("/proc/self/exe", digest);
  add_time_of(kit.compile.front(), digest);
  add_time_of(kit.v1, digest);
  for (const std::vector<std::string>* command : {&kit.compile, &kit.link})
    for (const std::string& word : *command) {
      digest.add(word);
      if (word.starts_with('/')) add_time_of(word, digest);
    }
}

}  // namespace

RememberedResult::RememberedResult(const fs::path& folder, const Kit& kit, const Lab& lab,
                                   const Submission& submission, const std::string& options) {
  constexpr std::uint64_t kMostFolders = 512;
  Digest place;
  place.add(fs::weakly_canonical(folder).string());
  place.add(lab.name);
  file_ = fs::path(PAGED_BUILD_DIRECTORY) / "labs/results" /
          (std::to_string(place.number() % kMostFolders) + ".json");
  Digest state;
  state.add(place.text());
  state.add(options);
  for (const auto& [path, text] : submission.files) {
    state.add(path);
    state.add(text);
  }
  state.add(submission.note);
  add_times_of_lab(kit, state);
  state_ = state.text();
}

std::optional<TrialOutcome> RememberedResult::read() const {
  try {
    if (!fs::exists(file_)) return {};
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
  try {
    write_text(file_, nlohmann::json{{"state", state_}, {"trial", json_of(outcome)}}.dump());
  } catch (const std::exception&) {
    // A build folder that is another user's: then each check is tried.
  }
}

}  // namespace paged::labs
