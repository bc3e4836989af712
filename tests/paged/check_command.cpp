// paged check: the invariants that stages promise, and those they state to break.
#include "kernels/simt/schedule.h"
#include "reference/input_error.h"
#include "tests/harness/check_run.h"
#include "tests/harness/count_run.h"
#include "tests/harness/json_report.h"
#include "tests/harness/named_cases.h"
#include "tests/harness/one_line.h"
#include "tests/harness/plugin.h"
#include "tests/harness/text_table.h"
#include "tests/paged/check_reports.h"
#include "tests/paged/commands.h"
#include "tests/paged/fuzz_check.h"
#include "tests/paged/options.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>
#include <limits>
#include <map>
#include <utility>

namespace paged {
namespace {

struct CheckOptions {
  StageOptions stage;
  PluginOptions plugin;
  std::vector<std::string> invariants;  // each may be several, with commas
  std::vector<std::string> cases;
  std::optional<std::string> probabilities;
  std::string seed = "1";
  CheckReportOptions reports;
  FuzzOptions fuzz;
};

/// What came out otherwise than stated: the first case of each stage and invariant in full, the
/// others as a count. All are in the JSON.
void print_surprises(const std::vector<CheckResult>& results) {
  std::map<std::pair<std::string, std::string>, int> seen;
  for (const CheckResult& result : results) {
    if (result.as_expected() || seen[{result.stage, result.invariant}]++ > 0) continue;
    std::cout << "\n"
              << one_line(result.stage + ", " + result.invariant + ", case " + result.case_name)
              << ":\n  "
              << one_line(result.expected ? result.verdict.message
                                          : "held, although the stage states that it breaks this")
              << '\n';
  }
  for (const auto& [where, count] : seen)
    if (count > 1)
      std::cout << "\n"
                << where.first << ", " << where.second << ": " << count - 1
                << " more failing cases; --json FILE has all\n";
}

/// One row a stage and invariant.
void print(const std::vector<CheckResult>& results) {
  TextTable table({"stage", "invariant", "backend", "cases", "of bound", "result"});
  for (auto first = results.begin(); first != results.end();) {
    auto last = std::find_if(first, results.end(), [&](const CheckResult& r) {
      return r.invariant != first->invariant || r.stage != first->stage;
    });
    double used = 0;
    for (auto r = first; r != last; ++r) used = std::max(used, r->verdict.bound_used);
    const auto surprises =
        std::count_if(first, last, [](const CheckResult& r) { return !r.as_expected(); });
    const std::string exact =
        find_invariant(first->invariant).needs_watching ? "findings" : "bitwise";
    const std::string good = first->expected ? "held" : "broken, as stated";
    // Beside a failure, the share that the other cases used would only mislead.
    const std::string share =
        first->expected && used > 0 ? (surprises > 0 && used <= 1 ? "" : percentage(used)) : exact;
    table.add_row({first->stage, first->invariant, first->backend, std::to_string(last - first),
                   share, surprises == 0 ? good : std::to_string(surprises) + " FAILED"},
                  surprises == 0 ? Colour::plain : Colour::bad);
    first = last;
  }
  table.print(std::cout);
  print_surprises(results);
}

/// The ids in lists with commas, each once, in order.
std::vector<std::string> split(const std::vector<std::string>& lists) {
  std::vector<std::string> ids;
  for (const std::string& list : lists)
    for (std::size_t begin = 0, end = 0; end != list.npos; begin = end + 1) {
      end = list.find(',', begin);
      const std::string id = list.substr(begin, end - begin);
      if (id.empty()) throw InputError("--invariant is '" + list + "', with an empty entry");
      if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
    }
  return ids;
}

CheckRequest request_of(const CheckOptions& options) {
  CheckRequest request;
  request.invariants = split(options.invariants);
  for (const std::string& name : options.cases) {
    request.cases.push_back(find_case(name));
    set_probabilities(options.probabilities, request.cases.back());
  }
  if (options.probabilities)
    request.probabilities = scalar_type_named(*options.probabilities).value();
  request.seed = whole_number("--seed", options.seed, std::numeric_limits<std::uint64_t>::max());
  return request;
}

CheckSettings settings_of(const CheckOptions& options, const CheckRequest& request) {
  CheckSettings settings;
  settings.seed = request.seed;
  settings.probabilities = options.probabilities.value_or(settings.probabilities);
  const std::string schedule = simt::describe(simt::current_schedule());
  if (!schedule.empty()) settings.schedule = schedule;
  return settings;
}

/// Of what a baseline has, what must be there again.
Asked asked_for(const CheckRequest& request, bool all_stages, bool is_watched) {
  return {all_stages, request.invariants.empty() && request.cases.empty(), is_watched};
}

int status_of(const std::vector<CheckResult>& results) {
  const bool all = std::all_of(results.begin(), results.end(),
                               [](const CheckResult& r) { return r.as_expected(); });
  return all ? kAllHeld : kSomethingFailed;
}

/// A line for each reason.
void print(const std::vector<NotTried>& not_tried) {
  if (!not_tried.empty()) std::cout << "\nnot tried:\n";
  std::vector<std::pair<std::string, std::string>> lines;  // ids, their reason
  for (const NotTried& left_out : not_tried) {
    const auto same = std::find_if(lines.begin(), lines.end(), [&](const auto& line) {
      return line.second == left_out.reason;
    });
    if (same == lines.end())
      lines.emplace_back(left_out.invariant, left_out.reason);
    else
      same->first += ", " + left_out.invariant;
  }
  for (const auto& [ids, reason] : lines) std::cout << one_line("  " + ids + ": " + reason) << '\n';
}

int run_on_plugin(const CheckOptions& options, const CheckRequest& request) {
  if (options.reports.recorded.counts)
    throw InputError(
        "--counts is given with --kernel, whose transactions nobody sees; leave it out");
  const Plugin plugin = options.plugin.load();
  if (options.fuzz.seconds) {
    const FuzzTarget target{&plugin.stage, [&](const CheckRequest& one_case) {
                              return check_plugin(plugin, one_case).results;
                            }};
    return run_fuzz(options.fuzz, request, {target}, options.reports.json,
                    "--kernel " + plugin.file);
  }
  CheckReports reports(options.reports, settings_of(options, request), request.cases);
  PluginCheck check;
  {
    Progress progress("checking");
    progress.show(plugin.stage.name + ", building cases");
    check = check_plugin(plugin, request, [&](const CheckResult& r) {
      progress.show(r.stage + ", " + r.invariant + ", " + r.case_name);
    });
  }
  const bool no_worse = reports.write(json_of_plugin_check(check), check.results, check.not_tried,
                                      asked_for(request, false, false));
  if (!reports.takes_standard_output()) {
    print(check.results);
    print(check.not_tried);
    reports.print_changes();
  }
  return no_worse ? status_of(check.results) : kSomethingFailed;
}

int fuzz_stages(const CheckOptions& options, const CheckRequest& request,
                const std::vector<const Stage*>& stages, Device& device) {
  std::vector<FuzzTarget> targets;
  for (const Stage* stage : stages)
    targets.push_back({stage, [stage, &device](const CheckRequest& one_case) {
                         KernelUnderTest kernel(*stage, device);
                         return run_checks(kernel, one_case);
                       }});
  return run_fuzz(options.fuzz, request, targets, options.reports.json, options.stage.to_repeat());
}

int run(const CheckOptions& options) {
  const CheckRequest request = request_of(options);
  if (options.plugin.file) return run_on_plugin(options, request);
  const std::vector<const Stage*> stages = options.stage.chosen_stages();
  options.stage.set_schedule();
  const std::unique_ptr<Device> device = make_device(options.stage.chosen_backend());
  if (options.fuzz.seconds) return fuzz_stages(options, request, stages, *device);
  check_supported(stages, request.cases, device->limits());
  if (options.reports.recorded.counts &&
      (options.stage.unchecked || device->backend() != Backend::cpu))
    throw InputError(
        "--counts takes the CPU machine, which sees every access: use --backend cpu without "
        "--unchecked, or leave it out");
  CheckReports reports(options.reports, settings_of(options, request), request.cases);
  std::optional<CountingScope> counting;
  if (options.reports.recorded.counts) counting.emplace(*device);
  std::vector<CheckResult> results;
  std::vector<NotTried> not_tried;
  {
    Progress progress("checking");
    for (const Stage* stage : stages) {
      progress.show(std::string(stage->name) + ", building cases");
      KernelUnderTest kernel(*stage, *device);
      const auto of_stage = run_checks(
          kernel, request,
          [&](const CheckResult& r) {
            progress.show(r.stage + ", " + r.invariant + ", " + r.case_name);
          },
          &not_tried);
      results.insert(results.end(), of_stage.begin(), of_stage.end());
    }
  }
  const bool no_worse =
      reports.write(json_of_checks(results), results, not_tried,
                    asked_for(request, options.stage.stage == "all",
                              !options.stage.unchecked && device->watches_accesses()));
  if (!reports.takes_standard_output()) {
    print(results);
    reports.print_changes();
  }
  return no_worse ? status_of(results) : kSomethingFailed;
}

}  // namespace

void add_check_command(CLI::App& program, int& status) {
  auto* command = program.add_subcommand(
      "check", "Try the invariants that stages, or a kernel of your own, promise");
  auto options = std::make_shared<CheckOptions>();
  options->stage.add_to(*command);
  command->add_option("--invariant", options->invariants, "only these")
      ->type_name("ID,...")
      ->allow_extra_args(false);
  add_case_option(*command, options->cases);
  add_probabilities_option(*command, options->probabilities);
  options->plugin.add_to(*command);
  command->add_option("--seed", options->seed, "of the generated cases")
      ->type_name("N")
      ->capture_default_str();
  options->reports.add_to(*command);
  options->fuzz.add_to(*command);
  command->callback([options, &status] { status = run(*options); });
}

}  // namespace paged
