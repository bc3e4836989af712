// paged run: stages on cases, compared with the reference.
#include "reference/input_error.h"
#include "tests/harness/case_builder.h"
#include "tests/harness/counted_noun.h"
#include "tests/harness/json_report.h"
#include "tests/harness/named_cases.h"
#include "tests/harness/npy.h"
#include "tests/harness/one_line.h"
#include "tests/harness/output_file.h"
#include "tests/harness/plugin.h"
#include "tests/harness/stage_run.h"
#include "tests/harness/text_table.h"
#include "tests/harness/wrapped_text.h"
#include "tests/paged/commands.h"
#include "tests/paged/options.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>
#include <map>

namespace paged {
namespace {

struct RunRequest {
  StageOptions stage;
  PluginOptions plugin;
  std::vector<std::string> cases;
  std::map<std::string, std::optional<std::string>> tensors;  // by the name they have in case files
  std::optional<std::string> probabilities;
  std::optional<std::string> output;
  std::optional<std::string> json;
};

/// @param plugin  the kernel to run; null: stages, which take every type of the case that is tried
///                where nobody asks for another
std::vector<CaseSpec> chosen_cases(const RunRequest& request, const Plugin* plugin) {
  std::vector<std::string> names = request.cases;
  if (names.empty()) names = {"worked-example-1-gqa"};
  std::vector<CaseSpec> specs;
  for (const std::string& name : names) {
    specs.push_back(find_case(name));
    if (plugin != nullptr && request.cases.empty()) {
      specs.back().scalar = plugin->stage.supports.scalars.front();
      specs.back().cache.reset();
    }
    set_probabilities(request.probabilities, specs.back());
    for (const auto& [tensor, file] : request.tensors)
      if (file) specs.back().tensors[tensor] = *file;
  }
  return specs;
}

/// Refuses before anything is built or run: a request is served whole or not at all.
void check(const RunRequest& request, const std::vector<const Stage*>& stages,
           const std::vector<CaseSpec>& specs, const DeviceLimits& limits) {
  if (request.output && stages.size() * specs.size() != 1)
    throw InputError("--output takes one stage and one case; this request has " +
                     counted(stages.size(), "stage") + " and " + counted(specs.size(), "case"));
  if (request.output == "-")
    throw InputError("--output writes a file; only --json can be standard output (-)");
  if (request.output && request.json && same_file(*request.output, *request.json))
    throw InputError("--output and --json name the same file '" + *request.output + "'");
  refuse_overwriting("--output", request.output, specs);
  refuse_overwriting("--json", request.json, specs);
  check_supported(stages, specs, limits);
}

std::string name_of(const StageRun& run) {
  return run.stage_number == 0 ? run.stage : std::to_string(run.stage_number) + " " + run.stage;
}

void print(const std::vector<StageRun>& runs) {
  const std::string backend = runs.empty() ? "" : runs.front().backend;
  TextTable table({"stage on " + backend, "case", "error", "of bound", "result"});
  for (const StageRun& run : runs)
    table.add_row(
        {name_of(run), run.case_name, short_number(run.comparison.max_abs_error),
         percentage(run.comparison.bound_used), run.comparison.passed ? "passed" : "FAILED"},
        run.comparison.passed ? Colour::plain : Colour::bad);
  table.print(std::cout);
  const std::size_t columns = text_columns();
  for (const StageRun& run : runs) {
    const std::string who =
        one_line((run.stage_number == 0 ? "kernel " + run.stage
                                        : "stage " + std::to_string(run.stage_number)) +
                 " on " + run.case_name);
    const auto print_message = [&](const std::string& message) {
      std::cout << '\n'
                << wrapped(who + ":", 0, columns) << wrapped_parts(one_line(message), 2, columns);
    };
    if (!run.comparison.message.empty()) print_message(run.comparison.message);
    for (const std::string& fault : run.faults) print_message(fault);
    if (!run.hint.empty())
      std::cout << coloured(wrapped("hint: " + who + ": " + one_line(run.hint), 0, columns, 2),
                            Colour::dim);
  }
}

std::vector<Case> build_cases(const std::vector<CaseSpec>& specs) {
  Progress progress("building");
  std::vector<Case> cases;
  for (const CaseSpec& spec : specs) {
    progress.show(spec.name);
    cases.push_back(build_case(spec));
  }
  return cases;
}

/// Every stage on every case.
std::vector<StageRun> run_all(const std::vector<const Stage*>& stages,
                              const std::vector<Case>& cases, Device& device) {
  std::vector<StageRun> runs;
  Progress progress("running");
  for (const Case& c : cases)
    for (const Stage* stage : stages) {
      progress.show(title_of(*stage) + " on " + c.name);
      KernelUnderTest kernel(*stage, device);
      runs.push_back(run_on_case(kernel, c, LoadHints::yes));
    }
  return runs;
}

std::vector<StageRun> run_all(const Plugin& plugin, const std::vector<Case>& cases) {
  std::vector<StageRun> runs;
  Progress progress("running");
  for (const Case& c : cases) {
    progress.show(plugin.stage.name + " on " + c.name);
    runs.push_back(run_plugin_on_case(plugin, c));
  }
  return runs;
}

int run(const RunRequest& request) {
  std::vector<const Stage*> stages;
  std::unique_ptr<Device> device;
  std::optional<Plugin> plugin;
  if (request.plugin.file) {
    refuse_overwriting_kernel("--output", request.output, *request.plugin.file);
    refuse_overwriting_kernel("--json", request.json, *request.plugin.file);
    plugin = request.plugin.load();
  }
  const std::vector<CaseSpec> specs = chosen_cases(request, plugin ? &*plugin : nullptr);
  if (plugin) {
    check(request, {&plugin->stage}, specs, {plugin->stage.name, ~std::size_t{0}});
  } else {
    stages = request.stage.chosen_stages();
    request.stage.set_schedule();
    device = make_device(request.stage.chosen_backend());
    check(request, stages, specs, device->limits());
  }
  JsonFile json(request.json);
  std::unique_ptr<OutputFile> output;
  if (request.output) output = std::make_unique<OutputFile>(*request.output);

  const std::vector<Case> cases = build_cases(specs);
  const std::vector<StageRun> runs =
      plugin ? run_all(*plugin, cases) : run_all(stages, cases, *device);
  // Of a kernel that crashed there is none.
  if (output && !runs.front().outputs.output.shape().empty())
    output->commit(npy_of(runs.front().outputs.output));
  json.write(json_of_runs(runs));
  if (!json.takes_standard_output()) print(runs);
  const bool all_passed =
      std::all_of(runs.begin(), runs.end(), [](const StageRun& r) { return r.comparison.passed; });
  return all_passed ? kAllHeld : kSomethingFailed;
}

}  // namespace

void add_run_command(CLI::App& program, int& status) {
  auto* command =
      program.add_subcommand("run", "Run stages on cases and compare them with the reference");
  auto request = std::make_shared<RunRequest>();
  request->stage.add_to(*command);
  add_case_option(*command, request->cases);
  add_probabilities_option(*command, request->probabilities);
  request->plugin.add_to(*command);
  const auto tensor = [&](const char* option, const char* name, const char* help) {
    command->add_option(option, request->tensors[name], help)
        ->type_name("FILE.npy")
        ->check(file_name());
  };
  tensor("--query", "query", "query [num_seqs, num_heads, head_size] in place of the case's");
  tensor("--key-cache", "key_cache", "paged key cache in place of the case's");
  tensor("--value-cache", "value_cache", "paged value cache in place of the case's");
  tensor("--keys", "keys", "keys [num_tokens, num_kv_heads, head_size] of one text");
  tensor("--values", "values", "values [num_tokens, num_kv_heads, head_size] of one text");
  command->add_option("--output", request->output, "write the stage's output")
      ->type_name("FILE.npy")
      ->check(file_name());
  add_json_option(*command, request->json);
  command->callback([request, &status] { status = run(*request); });
}

}  // namespace paged
