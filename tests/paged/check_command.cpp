// paged check: the invariants that stages promise, and those they state to break.
#include "tests/harness/check_run.h"
#include "tests/harness/json_report.h"
#include "tests/harness/named_cases.h"
#include "tests/harness/text_table.h"
#include "tests/paged/commands.h"
#include "tests/paged/options.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>
#include <map>
#include <utility>

namespace paged {
namespace {

struct CheckOptions {
  StageOptions stage;
  CheckRequest request;
  std::vector<std::string> cases;
  std::optional<std::string> json;
};

/// What came out otherwise than stated: the first case of each stage and invariant in full, the
/// others as a count. All are in the JSON.
void print_surprises(const std::vector<CheckResult>& results) {
  std::map<std::pair<std::string, std::string>, int> seen;
  for (const CheckResult& result : results) {
    if (result.as_expected() || seen[{result.stage, result.invariant}]++ > 0) continue;
    std::cout << "\n"
              << result.stage << ", " << result.invariant << ", case " << result.case_name
              << ":\n  "
              << (result.expected ? result.verdict.message
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
    const std::string good = first->expected ? "held" : "broken, as stated";
    table.add_row({first->stage, first->invariant, first->backend, std::to_string(last - first),
                   first->expected && used > 0 ? percentage(used) : "bitwise",
                   surprises == 0 ? good : std::to_string(surprises) + " FAILED"},
                  surprises == 0 ? Colour::plain : Colour::bad);
    first = last;
  }
  table.print(std::cout);
  print_surprises(results);
}

int run(CheckOptions& options) {
  for (const std::string& name : options.cases) options.request.cases.push_back(find_case(name));
  const std::vector<const Stage*> stages = options.stage.chosen_stages();
  const std::unique_ptr<Device> device = make_device(options.stage.chosen_backend());
  JsonFile json(options.json);
  std::vector<CheckResult> results;
  {
    Progress progress("checking");
    for (const Stage* stage : stages) {
      KernelUnderTest kernel(*stage, *device);
      const auto of_stage = run_checks(kernel, options.request, [&](const CheckResult& r) {
        progress.show(r.stage + ", " + r.invariant + ", " + r.case_name);
      });
      results.insert(results.end(), of_stage.begin(), of_stage.end());
    }
  }
  const bool all = std::all_of(results.begin(), results.end(),
                               [](const CheckResult& r) { return r.as_expected(); });
  json.write(json_of_checks(results));
  if (!json.takes_standard_output()) print(results);
  return all ? kAllHeld : kSomethingFailed;
}

}  // namespace

void add_check_command(CLI::App& program, int& status) {
  auto* command = program.add_subcommand("check", "Try the invariants that stages promise");
  auto options = std::make_shared<CheckOptions>();
  options->stage.add_to(*command);
  command->add_option("--invariant", options->request.invariants, "only these")
      ->delimiter(',')
      ->type_name("ID,...")
      ->allow_extra_args(false);
  add_case_option(*command, options->cases);
  command->add_option("--seed", options->request.seed, "of the generated cases")
      ->capture_default_str();
  add_json_option(*command, options->json);
  command->callback([options, &status] { status = run(*options); });
}

}  // namespace paged
