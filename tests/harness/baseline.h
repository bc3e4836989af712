// What `paged check` found now beside what it found before, on another commit.
#pragma once
#include "stages/instance_lists.h"
#include "tests/harness/check_run.h"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace paged {

/// In place of an instance list, for a kernel of somebody else's.
inline constexpr const char* kAsTheLibrarySays = "as the library says";

/// What must be the same for two reports to be comparable: it decides about the cases' data, or
/// about the bits.
struct CheckSettings {
  std::uint64_t seed = 1;
  std::string probabilities = "as the cases have it";  ///< what --probabilities says
  std::string schedule = "in-order";                   ///< of the CPU machine
  /// Of the build, which decides what cases there are; of a library, kAsTheLibrarySays.
  std::string instances = name_of(InstanceList::small);
  friend bool operator==(const CheckSettings&, const CheckSettings&) = default;
};

/// What a report has beside results that are always there.
struct Recorded {
  bool counts = false;  ///< transactions
  bool times = false;   ///< seconds
};

/// Adds to json_of_checks() what makes it a baseline for later: format and settings, and for each
/// result, in the same order, what was recorded.
void add_baseline_keys(nlohmann::json& report, const std::vector<CheckResult>& results,
                       const CheckSettings& settings, Recorded recorded);

/// How much worse counts as worse.
struct Margins {
  double bound_share = 0.05;  ///< added to the share of a bound
  double time_factor = 1.5;   ///< >= 1; differences below 10 ms are noise and never count
};

/// What a run was asked for. What held before, was asked for again and was not tried is worse: a
/// promise was taken back, or a case is gone.
struct Asked {
  bool all_stages = false;      ///< false: those that have results
  bool all_of_a_stage = false;  ///< every invariant on its own cases
  bool is_watched = true;       ///< every access, which some invariants need
};

enum class ChangeKind { worse, better, other, added, missing };
/// "worse", "better", "other", "new", "missing"
const char* name_of(ChangeKind kind);

/// One thing that is not as it was. Of one result there can be several.
struct Change {
  ChangeKind kind = ChangeKind::other;
  std::string aspect;  ///< "result", "bits", "bound share", "counts", "time"
  std::string stage, invariant, case_name, backend;
  std::string text;  ///< "bound share 0.41 -> 0.62"
  /// Index in the results of now; none of what is missing.
  std::optional<std::size_t> result;
};

/// Changes in the order of the results of now, then what is missing.
struct BaselineComparison {
  std::vector<Change> changes;
  std::size_t alike = 0;  ///< results without any
  std::size_t count(ChangeKind kind) const;
  bool got_worse() const { return count(ChangeKind::worse) > 0; }
};

/// One result as far as it is compared.
struct BaselineRow {
  std::string stage, invariant, case_name, backend;  ///< its name
  bool expected = true, as_expected = false;
  std::string message;
  std::string bits;                   ///< "": nothing ran
  std::optional<double> bound_share;  ///< none: not finite
  std::optional<double> seconds;
  std::optional<std::map<std::string, std::uint64_t>> counts;
};

/// A report that --json wrote.
class Baseline {
 public:
  /// Throws InputError, one line with the file's name, for a file that cannot be read, is no report
  /// of `paged check`, was written by an earlier or a later version, was made with other settings
  /// than `now`, or has two results of one name: stage, invariant, case and backend.
  Baseline(const std::filesystem::path& file, const CheckSettings& now);

  /// Results of one name are compared. Worse is: a result that came out as stated and no longer
  /// does; one that held and that the stage now states to break; one that was not tried though it
  /// was asked for; a larger share of the bound, more transactions or more time than the margins
  /// allow, of results that came out as stated both times. Other bits are neither better nor worse.
  /// What only one side recorded is not compared. Throws InputError for two results of one name,
  /// and if no result of now has one of the baseline's names: then nothing would be compared.
  BaselineComparison compare(const std::vector<CheckResult>& results, Recorded recorded,
                             const Margins& margins, Asked asked = {}) const;

 private:
  std::string origin_;  ///< "--baseline 'FILE'", for messages
  std::vector<BaselineRow> rows_;
};

/// The changes as JSON: [{"kind", "aspect", "stage", "invariant", "case", "backend", "text"}].
nlohmann::json json_of(const BaselineComparison& comparison);

}  // namespace paged
