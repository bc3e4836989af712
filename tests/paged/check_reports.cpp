#include "tests/paged/check_reports.h"

#include "reference/input_error.h"
#include "tests/harness/counted_noun.h"
#include "tests/harness/junit_report.h"
#include "tests/harness/one_line.h"
#include "tests/harness/text_table.h"
#include "tests/harness/wrapped_text.h"
#include "tests/paged/options.h"

#include <nlohmann/json.hpp>

#include <iostream>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace paged {
namespace {

/// Two options that must not name one file.
void refuse_same(const char* option, const std::optional<std::string>& file, const char* other,
                 const std::optional<std::string>& other_file) {
  if (file && other_file && *file != "-" && *other_file != "-" && same_file(*file, *other_file))
    throw InputError(std::string(option) + " and " + other + " both name '" + *file +
                     "'; give each a file of its own");
}

/// Two results of one name could not be compared with a baseline; that is better known before they
/// are there.
void refuse_same_names(const std::vector<CaseSpec>& cases) {
  std::set<std::string> names;
  for (const CaseSpec& spec : cases)
    if (!names.insert(spec.name).second)
      throw InputError("--case names '" + spec.name +
                       "' twice, and --baseline tells cases apart by their names; give each one of "
                       "its own");
}

}  // namespace

void CheckReportOptions::add_to(CLI::App& command) {
  add_json_option(command, json);
  command.add_option("--junit", junit, "also write the results as JUnit XML")
      ->type_name("FILE")
      ->check(file_name());
  auto* compared =
      command
          .add_option("--baseline", baseline,
                      "list what changed since --json wrote this, and fail on what got "
                      "worse")
          ->type_name("FILE")
          ->check(file_name());
  command
      .add_option("--bound-margin", margins.bound_share, "what the share of a bound may grow by")
      ->type_name("SHARE")
      ->check(number_between(0.0, 1.0))
      ->needs(compared)
      ->capture_default_str();
  command
      .add_option("--time-margin", margins.time_factor,
                  "what times may grow by, as a factor; under 10 ms nothing counts")
      ->type_name("FACTOR")
      ->check(number_between(1.0, 1000.0))
      ->needs(compared)
      ->capture_default_str();
  command.add_flag("--counts", recorded.counts,
                   "record transactions, which the CPU machine counts, in the JSON");
  command.add_flag("--times", recorded.times,
                   "record the kernels' times in JSON and XML, which then differ from run to run");
}

CheckReports::CheckReports(const CheckReportOptions& options, const CheckSettings& settings,
                           const std::vector<CaseSpec>& cases)
    : options_(options), settings_(settings), json_(options.json) {
  refuse_same("--json", options.json, "--baseline", options.baseline);
  refuse_same("--json", options.json, "--junit", options.junit);
  refuse_same("--junit", options.junit, "--baseline", options.baseline);
  refuse_overwriting("--json", options.json, cases);
  refuse_overwriting("--junit", options.junit, cases);
  if (options.junit) junit_.emplace(*options.junit);
  if (options.baseline) refuse_same_names(cases);
  if (options.baseline) baseline_.emplace(*options.baseline, settings);
}

bool CheckReports::write(nlohmann::json report, const std::vector<CheckResult>& results,
                         const std::vector<NotTried>& not_tried, Asked asked) {
  add_baseline_keys(report, results, settings_, options_.recorded);
  if (baseline_) {
    comparison_ = baseline_->compare(results, options_.recorded, options_.margins, asked);
    report["changes"] = json_of(comparison_);
  }
  json_.write(report);
  if (junit_)
    junit_->commit(junit_of_checks(results, not_tried, comparison_, options_.recorded.times));
  return !comparison_.got_worse();
}

namespace {

void print_change(const Change& change, int more) {
  const std::string others =
      more == 0 ? ""
                : " (and " + std::to_string(more) + (more == 1 ? " more case)" : " more cases)");
  const Colour colour = change.kind == ChangeKind::worse    ? Colour::bad
                        : change.kind == ChangeKind::better ? Colour::good
                                                            : Colour::plain;
  const std::string text = std::string(name_of(change.kind)) + ": " + change.stage + ", " +
                           change.invariant + ", " + change.backend + ", case " + change.case_name +
                           ": " + change.text + others;
  std::cout << coloured(wrapped(one_line(text), 0, text_columns(), 2), colour);
}

/// Other output bits say little of each case: a line for each stage and backend.
void print_other_bits(const std::vector<Change>& changes) {
  struct Bits {
    const Change* first = nullptr;
    std::vector<std::pair<std::string, int>> cases;  ///< of each invariant
    int all = 0;
  };
  std::map<std::pair<std::string, std::string>, Bits> bits;
  for (const Change& change : changes) {
    if (change.kind != ChangeKind::other) continue;
    Bits& of_stage = bits[{change.stage, change.backend}];
    if (of_stage.first == nullptr) of_stage.first = &change;
    if (of_stage.cases.empty() || of_stage.cases.back().first != change.invariant)
      of_stage.cases.emplace_back(change.invariant, 0);
    ++of_stage.cases.back().second;
    ++of_stage.all;
  }
  for (const auto& [stage, of_stage] : bits) {
    if (of_stage.all == 1) {
      print_change(*of_stage.first, 0);
      continue;
    }
    std::string text = std::string(name_of(ChangeKind::other)) + ": " + stage.first + ", " +
                       stage.second + ": other output bits in " + counted(of_stage.all, "result") +
                       " (cases:";
    for (const auto& [invariant, count] : of_stage.cases)
      text += (text.ends_with(':') ? " " : ", ") + invariant + " " + std::to_string(count);
    text += "); the first: " + of_stage.first->invariant + ", case " + of_stage.first->case_name +
            ": " + of_stage.first->text;
    std::cout << wrapped(one_line(text), 0, text_columns(), 2);
  }
}

}  // namespace

void CheckReports::print_changes() const {
  if (!baseline_) return;
  std::cout << "\nsince " << one_line(*options_.baseline) << ": ";
  for (const ChangeKind kind : {ChangeKind::worse, ChangeKind::better, ChangeKind::other,
                                ChangeKind::added, ChangeKind::missing})
    std::cout << comparison_.count(kind) << ' ' << name_of(kind) << ", ";
  std::cout << comparison_.alike << " alike\n";
  // The first of each sort in full, the others as a count.
  std::map<std::tuple<ChangeKind, std::string, std::string, std::string, std::string>, int> seen;
  const auto sort_of = [](const Change& change) {
    return std::tuple(change.kind, change.aspect, change.stage, change.invariant, change.backend);
  };
  for (const Change& change : comparison_.changes) ++seen[sort_of(change)];
  // What matters most stands first.
  for (const ChangeKind kind :
       {ChangeKind::worse, ChangeKind::missing, ChangeKind::better, ChangeKind::added})
    for (const Change& change : comparison_.changes) {
      if (change.kind != kind) continue;
      const int count = std::exchange(seen[sort_of(change)], 0);
      if (count > 0) print_change(change, count - 1);
    }
  print_other_bits(comparison_.changes);
}

}  // namespace paged
