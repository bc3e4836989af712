// paged count: what stages ask of memory, predicted and counted, by phase and source line.
#include "reference/input_error.h"
#include "tests/harness/case_builder.h"
#include "tests/harness/count_run.h"
#include "tests/harness/json_report.h"
#include "tests/harness/named_cases.h"
#include "tests/harness/stage_run.h"
#include "tests/harness/text_table.h"
#include "tests/harness/wrapped_text.h"
#include "tests/paged/commands.h"
#include "tests/paged/options.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <iostream>

namespace paged {
namespace {

struct CountOptions {
  StageOptions stage;
  std::vector<std::string> cases;
  std::optional<std::string> probabilities;
  std::optional<std::string> json;
};

/// "1093", or "1093 (predicted 1092)".
std::string cell(std::uint64_t counted, std::uint64_t predicted) {
  const std::string text = std::to_string(counted);
  return counted == predicted ? text : text + " (predicted " + std::to_string(predicted) + ")";
}

std::string share_of(std::uint64_t useful, std::uint64_t moved) {
  return moved == 0 ? "" : percentage(static_cast<double>(useful) / static_cast<double>(moved));
}

TextTable table_of_counts(std::vector<std::string> heading) {
  const std::size_t keys = heading.size();
  for (const char* name : {"loads", "sectors", "useful", "stores", "sectors", "shared loads",
                           "wavefronts", "shared stores", "wavefronts", "barriers", "shuffles"})
    heading.emplace_back(name);
  return TextTable(std::move(heading), keys);
}

/// The columns of table_of_counts() but the first ones.
std::vector<std::string> cells_of(const Counts& counted, const Counts& predicted) {
  const auto of = [&](std::uint64_t Counts::*member) {
    return cell(counted.*member, predicted.*member);
  };
  return {of(&Counts::global_load_requests),
          of(&Counts::global_load_sectors),
          share_of(counted.global_load_useful_bytes, kSectorBytes * counted.global_load_sectors),
          of(&Counts::global_store_requests),
          of(&Counts::global_store_sectors),
          of(&Counts::shared_load_requests),
          of(&Counts::shared_load_wavefronts),
          of(&Counts::shared_store_requests),
          of(&Counts::shared_store_wavefronts),
          of(&Counts::barriers),
          of(&Counts::shuffles)};
}

void add_row(TextTable& table, std::vector<std::string> first, const Counts& counted,
             const Counts& predicted) {
  for (std::string& text : cells_of(counted, predicted)) first.push_back(std::move(text));
  table.add_row(std::move(first), counted == predicted ? Colour::plain : Colour::bad);
}

std::string verdict(const CountRun& run) {
  if (!run.counted.complete) return "INCOMPLETE: a finding stopped the kernel";
  if (!run.predicted) return "counted only: this stage predicts nothing";
  return *run.predicted == run.counted.phases ? "predicted and counted are equal"
                                              : "PREDICTED AND COUNTED DIFFER";
}

std::string text_of(const Flops& flops, const Counts& counted) {
  std::string text = "flops by formula, for arithmetic is not seen: qk " +
                     std::to_string(flops.qk) + ", softmax " + std::to_string(flops.softmax) +
                     ", pv " + std::to_string(flops.pv);
  if (flops.reduce != 0) text += ", reduce " + std::to_string(flops.reduce);
  text += ", all " + std::to_string(flops.total());
  if (counted.moved_bytes() == 0) return text;
  char per_byte[32];
  std::snprintf(per_byte, sizeof per_byte, "%.2f",
                static_cast<double>(flops.total()) / static_cast<double>(counted.moved_bytes()));
  return text + "; " + per_byte + " for each byte of global memory moved";
}

void print(const CountRun& run) {
  std::cout << coloured(wrapped("stage " + std::to_string(run.stage_number) + " (" + run.stage +
                                    ") on " + run.case_name + ": " + verdict(run),
                                0, text_columns(), 2),
                        run.held() ? Colour::good : Colour::bad);
  for (const std::string& fault : run.faults) std::cout << fault << '\n';
  const CountsByPhase& predicted = run.predicted ? *run.predicted : run.counted.phases;
  TextTable phases = table_of_counts({"phase"});
  for (const CountedPhase& phase : kCountedPhases)
    if (run.counted.phases[phase] != Counts{} || predicted[phase] != Counts{})
      add_row(phases, {name_of(phase)}, run.counted.phases[phase], predicted[phase]);
  add_row(phases, {"all"}, run.counted.phases.total(), predicted.total());
  phases.print(std::cout);
  if (run.flops)
    std::cout << wrapped(text_of(*run.flops, run.counted.phases.total()), 0, text_columns(), 2);
  std::cout << '\n';
  TextTable lines = table_of_counts({"line", "phase"});
  for (const CountedLine& line : run.counted.lines)
    add_row(lines, {line.line, name_of(line.phase)}, line.counts, line.counts);
  lines.print(std::cout);
  std::cout << '\n';
}

int run(const CountOptions& options) {
  const std::vector<const Stage*> stages = options.stage.chosen_stages();
  std::vector<CaseSpec> specs;
  for (const std::string& name :
       options.cases.empty() ? std::vector<std::string>{"worked-example-1-gqa"} : options.cases) {
    specs.push_back(find_case(name));
    set_probabilities(options.probabilities, specs.back());
  }
  const std::unique_ptr<Device> device = make_device(Backend::cpu);
  check_supported(stages, specs, device->limits());
  refuse_overwriting("--json", options.json, specs);
  JsonFile json(options.json);

  std::vector<CountRun> runs;
  {
    Progress progress("counting");
    for (const CaseSpec& spec : specs) {
      const Case c = build_case(spec);
      for (const Stage* stage : stages) {
        progress.show("stage " + std::to_string(stage->number) + " on " + c.name);
        KernelUnderTest kernel(*stage, *device);
        runs.push_back(count_on_case(kernel, c));
      }
    }
  }
  json.write(json_of_counts(runs));
  if (!json.takes_standard_output())
    for (const CountRun& one : runs) print(one);
  const bool all =
      std::all_of(runs.begin(), runs.end(), [](const CountRun& one) { return one.held(); });
  return all ? kAllHeld : kSomethingFailed;
}

}  // namespace

void add_count_command(CLI::App& program, int& status) {
  auto* command = program.add_subcommand(
      "count", "Count what stages ask of memory on the CPU machine, beside what is predicted");
  auto options = std::make_shared<CountOptions>();
  options->stage.add_stage_to(*command);
  add_case_option(*command, options->cases);
  add_probabilities_option(*command, options->probabilities);
  add_json_option(*command, options->json);
  command->callback([options, &status] { status = run(*options); });
}

}  // namespace paged
