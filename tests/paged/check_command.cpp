// paged check: the invariants that stages promise, and those they state to break.
#include "kernels/simt/schedule.h"
#include "reference/input_error.h"
#include "tests/harness/check_run.h"
#include "tests/harness/count_run.h"
#include "tests/harness/json_report.h"
#include "tests/harness/named_cases.h"
#include "tests/harness/plugin.h"
#include "tests/harness/text_table.h"
#include "tests/paged/check_reports.h"
#include "tests/paged/check_tables.h"
#include "tests/paged/commands.h"
#include "tests/paged/fuzz_check.h"
#include "tests/paged/options.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>
#include <limits>
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
  bool first = false;
  CheckReportOptions reports;
  FuzzOptions fuzz;
};

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
  request.stops_at_first_failure = options.first;
  request.seed = whole_number("--seed", options.seed, std::numeric_limits<std::uint64_t>::max());
  return request;
}

/// What stages with compile-time sizes are built for; the others take every size.
std::string built_instances() {
  for (const Stage& stage : stages(Backend::cpu))
    if (stage.supports.instances != InstanceList::all) return name_of(stage.supports.instances);
  return name_of(InstanceList::all);
}

CheckSettings settings_of(const CheckOptions& options, const CheckRequest& request,
                          const std::string& instances) {
  CheckSettings settings;
  settings.seed = request.seed;
  settings.probabilities = options.probabilities.value_or(settings.probabilities);
  const std::string schedule = simt::describe(simt::current_schedule());
  if (!schedule.empty()) settings.schedule = schedule;
  settings.instances = instances;
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

/// What people see. Invariants that were asked for by id are all shown whole where they fail.
void print(const CheckRequest& request, const std::vector<CheckResult>& results,
           const std::vector<NotTried>& not_tried) {
  print_table(std::cout, results, not_tried);
  print_failures(std::cout, results, request.invariants.empty() ? Whole::simplest : Whole::each);
}

/// Stages one after the other, up to the end that --first sets.
struct StageChecks {
  std::vector<CheckResult> results;
  std::vector<NotTried> not_tried;
  std::vector<NotTried> cut_off;  ///< what --first left out, as people are told of it
  std::vector<std::pair<const Stage*, std::vector<CasesLeftOut>>> cases_left_out;
};

/// Says on standard error what is tried now. Off a terminal, only who has asked for a file waits
/// for it without seeing anything.
class TriesShown {
 public:
  explicit TriesShown(const CheckReportOptions& reports)
      : progress_("checking", reports.json || reports.junit ? OffTerminal::now_and_then
                                                            : OffTerminal::silent) {}
  void building(const Stage& stage) { progress_.show(stage.name + ", building cases"); }
  void trying(const Stage& stage, const PlannedTry& planned) {
    progress_.show(stage.name + ", " + planned.invariant->id + ", " + planned.c.name(),
                   "try " + std::to_string(++tries_));
  }

 private:
  Progress progress_;
  int tries_ = 0;
};

int run_on_plugin(const CheckOptions& options, const CheckRequest& request) {
  if (options.reports.recorded.counts)
    throw InputError(
        "--counts is given with --kernel, whose transactions nobody sees; leave it out");
  const std::string& library = options.plugin.file.value();
  refuse_overwriting_kernel("--json", options.reports.json, library);
  refuse_overwriting_kernel("--junit", options.reports.junit, library);
  if (options.fuzz.seconds)
    refuse_overwriting_kernel("--fuzz-case", options.fuzz.case_file, library);
  const Plugin plugin = options.plugin.load();
  if (options.fuzz.seconds) {
    const FuzzTarget target{&plugin.stage, [&](const CheckRequest& one_case) {
                              return check_plugin(plugin, one_case).results;
                            }};
    return run_fuzz(options.fuzz, request, {target}, options.reports.json,
                    options.plugin.to_repeat());
  }
  CheckReports reports(options.reports, settings_of(options, request, kAsTheLibrarySays),
                       request.cases);
  PluginCheck check;
  {
    TriesShown shown(options.reports);
    shown.building(plugin.stage);
    check = check_plugin(plugin, request,
                         [&](const PlannedTry& planned) { shown.trying(plugin.stage, planned); });
  }
  const bool no_worse = reports.write(json_of_checks(check.results, check.not_tried), check.results,
                                      check.not_tried, asked_for(request, false, false));
  if (!reports.takes_standard_output()) {
    print(request, check.results, check.not_tried);
    print_not_tried(std::cout, check.not_tried, check.cases_left_out);
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

void check_stage(const Stage& stage, Device& device, const CheckRequest& request, TriesShown& shown,
                 StageChecks& checks) {
  shown.building(stage);
  KernelUnderTest kernel(stage, device);
  const CheckPlan plan = plan_checks(kernel, request);
  const bool is_over = request.stops_at_first_failure && status_of(checks.results) != kAllHeld;
  std::vector<CheckResult> results;
  if (!is_over)
    results = run_checks(kernel, plan, request.seed,
                         [&](const PlannedTry& planned) { shown.trying(stage, planned); });
  const std::vector<NotTried> cut_off = left_out_after(kernel, plan, results.size());
  if (is_over)
    checks.cut_off.push_back({title_of(stage), cut_off.front().reason});
  else
    checks.cut_off.insert(checks.cut_off.end(), cut_off.begin(), cut_off.end());
  checks.cases_left_out.emplace_back(&stage, plan.cases_left_out);
  for (const std::vector<NotTried>* left_out : {&plan.not_tried, &cut_off})
    checks.not_tried.insert(checks.not_tried.end(), left_out->begin(), left_out->end());
  checks.results.insert(checks.results.end(), results.begin(), results.end());
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
  CheckReports reports(options.reports, settings_of(options, request, built_instances()),
                       request.cases);
  std::optional<CountingScope> counting;
  if (options.reports.recorded.counts) counting.emplace(*device);
  StageChecks checks;
  {
    TriesShown shown(options.reports);
    for (const Stage* stage : stages) check_stage(*stage, *device, request, shown, checks);
  }
  const bool no_worse = reports.write(
      json_of_checks(checks.results, checks.not_tried), checks.results, checks.not_tried,
      asked_for(request, options.stage.stage == "all",
                !options.stage.unchecked && device->watches_accesses()));
  if (!reports.takes_standard_output()) {
    print(request, checks.results, checks.cut_off);
    print_not_tried(std::cout, checks.cut_off, {});
    for (const auto& [stage, cases] : checks.cases_left_out)
      print_left_out(std::cout, *stage, cases);
    reports.print_changes();
  }
  return no_worse ? status_of(checks.results) : kSomethingFailed;
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
  command->add_flag("--first", options->first,
                    "stop at the first invariant that fails, and explain it alone");
  options->reports.add_to(*command);
  options->fuzz.add_to(*command);
  for (const char* option : {"--fuzz", "--baseline"})
    command->get_option("--first")->excludes(command->get_option(option));
  command->callback([options, &status] { status = run(*options); });
}

}  // namespace paged
