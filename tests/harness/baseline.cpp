#include "tests/harness/baseline.h"

#include "reference/input_error.h"
#include "tests/harness/input_file.h"
#include "tests/harness/json_object.h"
#include "tests/harness/wrapped_text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <set>
#include <tuple>

namespace paged {

namespace {

/// Of the keys that comparisons read. A report of a later format may mean other things by them.
constexpr std::int64_t kFormat = 2;
constexpr const char* kReport = "paged check";

/// What a kernel asks for in vain is no use to it: more of these is worse. (More useful bytes are
/// not.)
bool is_cost(const std::string& count) { return !count.ends_with("_useful_bytes"); }

std::map<std::string, std::uint64_t> map_of(const Counts& counts) {
  std::map<std::string, std::uint64_t> map;
  for (const CountName& count : kCountNames) map[count.name] = counts.*count.member;
  return map;
}

std::string numbers(const char* format, double before, double now) {
  char text[96];
  std::snprintf(text, sizeof text, format, before, now);
  return text;
}

CheckSettings settings_in(JsonObject settings) {
  CheckSettings read;
  // A seed may be any of 64 bits, which the numbers of JSON's integers here don't reach.
  const nlohmann::json& seed = settings.at("seed");
  if (!seed.is_number_unsigned()) settings.fail("seed", "must be a whole number");
  read.seed = seed.get<std::uint64_t>();
  read.probabilities = settings.text("probabilities");
  read.schedule = settings.text("schedule");
  read.instances = settings.text("instances");
  return read;
}

bool truth(JsonObject& json, const char* key) {
  const nlohmann::json& value = json.at(key);
  if (!value.is_boolean()) json.fail(key, "must be true or false");
  return value.get<bool>();
}

BaselineRow row_in(JsonObject row) {
  BaselineRow read;
  read.stage = row.text("stage");
  read.invariant = row.text("invariant");
  read.case_name = row.text("case");
  read.backend = row.text("backend");
  read.expected = truth(row, "expected");
  read.as_expected = truth(row, "as_expected");
  read.message = row.text("message");
  read.bits = row.text("bits");
  if (!row.at("bound_used").is_null()) read.bound_share = row.finite_number("bound_used");
  if (row.has("seconds")) read.seconds = row.finite_number("seconds");
  if (row.has("counts")) {
    JsonObject counts = row.object("counts");
    read.counts.emplace();
    for (const CountName& count : kCountNames)
      if (counts.has(count.name))
        (*read.counts)[count.name] =
            static_cast<std::uint64_t>(counts.integer(count.name, 0, INT64_MAX));
  }
  return read;
}

/// Without what is recorded only on request.
BaselineRow row_of(const CheckResult& result) {
  BaselineRow row;
  row.stage = result.stage;
  row.invariant = result.invariant;
  row.case_name = result.case_name;
  row.backend = result.backend;
  row.expected = result.expected;
  row.as_expected = result.as_expected();
  row.message = result.verdict.message;
  row.bits = result.verdict.record.bits;
  if (std::isfinite(result.verdict.bound_used)) row.bound_share = result.verdict.bound_used;
  return row;
}

/// Two rows side by side, and what is said about them.
class RowComparison {
 public:
  RowComparison(const BaselineRow& before, const BaselineRow& now, const Margins& margins)
      : before_(before), now_(now), margins_(margins) {
    const bool was_right = before_.as_expected;
    if (was_right && !now_.as_expected)
      add(ChangeKind::worse, "result",
          now_.expected ? "held before, and fails now: " + now_.message
                        : "broke as stated before, and now holds, or does more than break");
    else if (!was_right && now_.as_expected)
      add(ChangeKind::better, "result", "failed before, and is as stated now");
    else if (before_.expected && !now_.expected)
      add(ChangeKind::worse, "result",
          "was promised before; now the stage states that it breaks it");
    else if (!before_.expected && now_.expected)
      add(ChangeKind::better, "result", "was broken as stated before, and is promised now");
    if (!before_.bits.empty() && !now_.bits.empty() && before_.bits != now_.bits)
      add(ChangeKind::other, "bits", "output bits " + before_.bits + " -> " + now_.bits);
    if (!was_right || !now_.as_expected) return;  // what a failure costs is nobody's concern
    compare_shares();
    compare_counts();
    compare_times();
  }
  std::vector<Change> take() { return std::move(changes_); }

 private:
  void add(ChangeKind kind, std::string aspect, std::string text) {
    changes_.push_back({kind,
                        std::move(aspect),
                        now_.stage,
                        now_.invariant,
                        now_.case_name,
                        now_.backend,
                        std::move(text),
                        {}});
  }

  void compare_shares() {
    if (!now_.expected || !before_.bound_share || !now_.bound_share) return;
    const double grown = *now_.bound_share - *before_.bound_share;
    if (std::abs(grown) <= margins_.bound_share) return;
    add(grown > 0 ? ChangeKind::worse : ChangeKind::better, "bound share",
        numbers("bound share %.3f -> %.3f", *before_.bound_share, *now_.bound_share));
  }

  void compare_counts() {
    if (!before_.counts || !now_.counts) return;
    bool more = false, less = false;
    std::string text;
    for (const auto& [name, now] : *now_.counts) {
      const auto before = before_.counts->find(name);
      if (before == before_.counts->end() || before->second == now || !is_cost(name)) continue;
      (now > before->second ? more : less) = true;
      text += (text.empty() ? "" : ", ") + name + " " + std::to_string(before->second) + " -> " +
              std::to_string(now);
    }
    if (more || less) add(more ? ChangeKind::worse : ChangeKind::better, "counts", text);
  }

  void compare_times() {
    constexpr double kNoise = 0.01;
    if (!before_.seconds || !now_.seconds) return;
    const double before = *before_.seconds, now = *now_.seconds;
    const bool slower = now > before * margins_.time_factor && now > before + kNoise;
    const bool faster = before > now * margins_.time_factor && before > now + kNoise;
    if (slower || faster)
      add(slower ? ChangeKind::worse : ChangeKind::better, "time",
          numbers("%.3f s -> %.3f s", before, now));
  }

  const BaselineRow& before_;
  const BaselineRow& now_;
  const Margins& margins_;
  std::vector<Change> changes_;
};

/// Names a result: in two reports, what has one name is the same.
using ResultName = std::tuple<std::string, std::string, std::string, std::string>;

ResultName name_of(const BaselineRow& row) {
  return {row.stage, row.invariant, row.case_name, row.backend};
}

std::string title_of(const BaselineRow& row) {
  return row.stage + ", " + row.invariant + ", " + row.backend + ", case '" +
         shortened(row.case_name, 83) + "'";
}

/// Which of two results of one name is which, nobody can say.
[[noreturn]] void refuse_same_names(const std::string& where, const BaselineRow& row) {
  throw InputError(where + " two results of " + title_of(row) +
                   ": they cannot be told apart; give each case a name of its own");
}

bool needs_watching(const std::string& invariant) {
  const auto& all = invariants();
  return std::any_of(all.begin(), all.end(),
                     [&](const Invariant& i) { return i.id == invariant && i.needs_watching; });
}

/// A row of before that this run should have again.
bool is_asked_for(const BaselineRow& row, const std::vector<CheckResult>& results, Asked asked) {
  if (!row.as_expected || !asked.all_of_a_stage) return false;
  if (!asked.is_watched && needs_watching(row.invariant)) return false;
  return asked.all_stages || std::any_of(results.begin(), results.end(), [&](const CheckResult& r) {
           return r.stage == row.stage && r.backend == row.backend;
         });
}

}  // namespace

const char* name_of(ChangeKind kind) {
  constexpr const char* names[] = {"worse", "better", "other", "new", "missing"};
  return names[static_cast<int>(kind)];
}

std::size_t BaselineComparison::count(ChangeKind kind) const {
  return static_cast<std::size_t>(std::count_if(
      changes.begin(), changes.end(), [&](const Change& change) { return change.kind == kind; }));
}

void add_baseline_keys(nlohmann::json& report, const std::vector<CheckResult>& results,
                       const CheckSettings& settings, Recorded recorded) {
  report["report"] = kReport;
  report["format"] = kFormat;
  report["settings"] = {{"seed", settings.seed},
                        {"probabilities", settings.probabilities},
                        {"schedule", settings.schedule},
                        {"instances", settings.instances}};
  for (std::size_t i = 0; i < results.size(); ++i) {
    nlohmann::json& row = report.at("results").at(i);
    if (recorded.counts) row["counts"] = map_of(results[i].verdict.counts);
    if (recorded.times) row["seconds"] = results[i].verdict.record.seconds;
  }
}

Baseline::Baseline(const std::filesystem::path& file, const CheckSettings& now)
    : origin_("--baseline '" + file.string() + "'") {
  const nlohmann::json document = parse_json(content_of_input(file), origin_);
  JsonObject json(document, origin_, "");
  if (!json.has("report") || json.at("report") != kReport || !json.has("format"))
    throw InputError(
        origin_ + " is not what `paged check --json FILE` writes" +
        (json.has("results") ? ", or from before there were baselines; write it again" : ""));
  const std::int64_t format = json.integer("format", 1, INT64_MAX);
  if (format < kFormat)
    throw InputError(origin_ + " has format " + std::to_string(format) +
                     ", which does not say for which instance list it was made; write it again");
  if (format > kFormat)
    throw InputError(origin_ + " has format " + std::to_string(format) +
                     ", and this program knows formats up to " + std::to_string(kFormat) +
                     "; use the program that wrote it, or a later one");
  const CheckSettings then = settings_in(json.object("settings"));
  const auto differs = [&](const std::string& option, const std::string& before,
                           const std::string& asked) {
    if (before == asked) return;
    throw InputError(origin_ + " was made with " + option + " " + shortened(before) +
                     ", and this is " + asked +
                     ": other cases, data or bits; ask for the same, or write the baseline again");
  };
  differs("--seed", std::to_string(then.seed), std::to_string(now.seed));
  differs("--probabilities", then.probabilities, now.probabilities);
  differs("--schedule", then.schedule, now.schedule);
  if (then.instances != now.instances)
    for (const auto& [instances, whose] :
         {std::pair(then.instances, " is of a kernel from a library, and this check is of stages"),
          std::pair(now.instances,
                    " is of stages, and this check is of a kernel from a library (--kernel)")})
      if (instances == kAsTheLibrarySays)
        throw InputError(origin_ + whose +
                         ", which are tried on other cases; take a file that was written for it");
  differs("-DPAGED_INSTANCES", then.instances, now.instances);
  const nlohmann::json& results = json.at("results");
  if (!results.is_array()) json.fail("results", "must be a list");
  for (std::size_t i = 0; i < results.size(); ++i)
    rows_.push_back(row_in(JsonObject(results[i], origin_, "results[" + std::to_string(i) + "]")));
  std::set<ResultName> names;
  for (const BaselineRow& row : rows_)
    if (!names.insert(name_of(row)).second) refuse_same_names(origin_ + " has", row);
}

BaselineComparison Baseline::compare(const std::vector<CheckResult>& results, Recorded recorded,
                                     const Margins& margins, Asked asked) const {
  std::map<ResultName, const BaselineRow*> before;
  std::set<ResultName> names_now;
  for (const BaselineRow& row : rows_) before[name_of(row)] = &row;
  BaselineComparison comparison;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const CheckResult& result = results[i];
    BaselineRow now = row_of(result);
    if (recorded.times) now.seconds = result.verdict.record.seconds;
    if (recorded.counts) now.counts = map_of(result.verdict.counts);
    if (!names_now.insert(name_of(now)).second) refuse_same_names("there are now", now);
    const auto found = before.find(name_of(now));
    std::vector<Change> changes;
    if (found == before.end()) {
      changes.push_back({ChangeKind::added,
                         "result",
                         now.stage,
                         now.invariant,
                         now.case_name,
                         now.backend,
                         now.as_expected ? "as stated" : "FAILED",
                         {}});
    } else {
      changes = RowComparison(*found->second, now, margins).take();
      before.erase(found);
    }
    comparison.alike += changes.empty() ? 1 : 0;
    for (Change& change : changes) {
      change.result = i;
      comparison.changes.push_back(std::move(change));
    }
  }
  if (!rows_.empty() && !results.empty() && before.size() == rows_.size())
    throw InputError(origin_ + " has no result that this check has, too: its first is " +
                     title_of(rows_[0]) + ", and this one's " + title_of(row_of(results[0])) +
                     "; ask for what was asked for then, of a kernel of the same name");
  for (const auto& [key, row] : before)
    comparison.changes.push_back(
        {is_asked_for(*row, results, asked) ? ChangeKind::worse : ChangeKind::missing,
         "result",
         row->stage,
         row->invariant,
         row->case_name,
         row->backend,
         "was tried before, and not now",
         {}});
  return comparison;
}

nlohmann::json json_of(const BaselineComparison& comparison) {
  nlohmann::json list = nlohmann::json::array();
  for (const Change& change : comparison.changes)
    list.push_back({{"kind", name_of(change.kind)},
                    {"aspect", change.aspect},
                    {"stage", change.stage},
                    {"invariant", change.invariant},
                    {"case", change.case_name},
                    {"backend", change.backend},
                    {"text", change.text}});
  return list;
}

}  // namespace paged
