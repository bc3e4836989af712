#include "tests/paged/options.h"

#include "kernels/simt/schedule.h"
#include "reference/input_error.h"
#include "tests/harness/case_builder.h"
#include "tests/harness/output_file.h"
#include "tests/harness/plugin.h"
#include "tests/harness/shell_word.h"

#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <system_error>

namespace paged {

void StageOptions::add_stage_to(CLI::App& command) {
  command.add_option("--stage", stage, "a stage's number or name, or all")
      ->type_name("N|NAME|all")
      ->capture_default_str();
}

void StageOptions::add_to(CLI::App& command) {
  add_stage_to(command);
  command.add_option("--backend", backend, "where kernels run")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->type_name("cpu|cuda")
      ->capture_default_str();
  command.add_flag("--unchecked", unchecked,
                   "cpu: run without watching every memory access (faster)");
  command
      .add_option("--schedule", schedule,
                  "cpu: the order in which threads and blocks run; in-order if it is left out")
      ->check(CLI::IsMember({"in-order", "random", "warp-first", "preemptive"}))
      ->type_name("in-order|random|warp-first|preemptive");
  command
      .add_option("--schedule-seed", schedule_seed,
                  "of the schedule, as a finding names it; 1 if it is left out")
      ->type_name("N");
}

Backend StageOptions::chosen_backend() const {
  return backend == "cuda" ? Backend::cuda : Backend::cpu;
}

std::vector<const Stage*> StageOptions::chosen_stages() const {
  const Checking checking = unchecked ? Checking::unchecked : Checking::checked;
  if (stage != "all") return {&find_stage(stage, chosen_backend(), checking)};
  std::vector<const Stage*> all;
  for (const Stage& one : stages(chosen_backend(), checking)) all.push_back(&one);
  return all;
}

std::string StageOptions::to_repeat() const {
  std::string text = backend == "cpu" ? "" : " --backend " + backend;
  if (unchecked) text += " --unchecked";
  if (schedule) text += " --schedule " + *schedule;
  if (schedule_seed) text += " --schedule-seed " + *schedule_seed;
  return text.empty() ? "" : text.substr(1);
}

std::string PluginOptions::to_repeat() const {
  std::string text = "--kernel " + shell_word(file.value_or(""));
  if (time_limit) text += " --time-limit " + shell_word(*time_limit);
  if (memory_limit) text += " --memory-limit " + shell_word(*memory_limit);
  return text;
}

void StageOptions::set_schedule() const {
  if (!schedule) {
    if (schedule_seed)
      throw InputError("--schedule-seed is " + *schedule_seed +
                       ", but --schedule is not given; add --schedule random, warp-first or "
                       "preemptive");
    return;
  }
  simt::Schedule chosen{simt::schedule_named(*schedule).value()};
  if (schedule_seed) {
    if (chosen.kind == simt::ScheduleKind::in_order)
      throw InputError("--schedule-seed is " + *schedule_seed +
                       ", but --schedule in-order has no seed; leave one of them out");
    chosen.seed =
        whole_number("--schedule-seed", *schedule_seed, std::numeric_limits<std::uint64_t>::max());
  }
  if (chosen_backend() != Backend::cpu)
    throw InputError("--schedule is " + *schedule +
                     ", but a GPU schedules its own threads; use --backend cpu");
  if (unchecked && chosen.kind == simt::ScheduleKind::preemptive)
    throw InputError(
        "--schedule preemptive lets threads give way before memory accesses, which "
        "--unchecked does not see; leave out --unchecked, or use --schedule random");
  simt::set_schedule(chosen);
}

void PluginOptions::add_to(CLI::App& command) {
  auto* kernel = command
                     .add_option("--kernel", file,
                                 "a shared library with a kernel of your own, in place of stages "
                                 "(kernels/paged_decode.h)")
                     ->type_name("LIB.so")
                     ->check(file_name());
  for (const char* option :
       {"--stage", "--backend", "--unchecked", "--schedule", "--schedule-seed", "--probabilities"})
    kernel->excludes(command.get_option(option));
  command
      .add_option("--time-limit", time_limit,
                  "seconds that one call of the kernel may take; 10 if it is left out")
      ->type_name("SECONDS")
      ->needs(kernel);
  command
      .add_option("--memory-limit", memory_limit,
                  "MiB of memory that a kernel of host memory may take for itself; 4096 if it is "
                  "left out, 0 sets none")
      ->type_name("MIB")
      ->needs(kernel);
}

Plugin PluginOptions::load() const {
  CallLimits limits;
  if (time_limit) {
    constexpr double kLeast = 0.01;
    constexpr double kGreatest = 86400;
    const char* const end = time_limit->data() + time_limit->size();
    const auto [rest, error] = std::from_chars(time_limit->data(), end, limits.seconds_per_call);
    if (error != std::errc() || rest != end ||
        !(limits.seconds_per_call >= kLeast && limits.seconds_per_call <= kGreatest))
      throw InputError("--time-limit is '" + *time_limit +
                       "'; it must be a number of seconds from 0.01 to 86400");
  }
  constexpr std::uint64_t kMostMib = std::uint64_t{1} << 40;
  limits.data_bytes = whole_number("--memory-limit", memory_limit.value_or("4096"), kMostMib) << 20;
  return load_plugin(file.value(), limits);
}

CLI::Validator file_name() {
  return CLI::Validator(
      [](std::string& name) { return std::string(name.empty() ? "the file's name is empty" : ""); },
      "");
}

CLI::Validator number_between(double least, double greatest) {
  const CLI::Range range(least, greatest);
  return CLI::Validator(
      [range](std::string& text) {
        double number = 0;
        if (CLI::detail::lexical_cast(text, number) && std::isnan(number))
          return "Value " + text + " is no number";
        return range(text);
      },
      range.get_description());
}

std::uint64_t whole_number(const std::string& option, const std::string& text,
                           std::uint64_t greatest) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest != end || number > greatest)
    throw InputError(option + " is '" + text + "'; it must be a whole number from 0 to " +
                     std::to_string(greatest));
  return number;
}

void refuse_overwriting_kernel(const std::string& option, const std::optional<std::string>& file,
                               const std::string& kernel) {
  if (file && *file != "-" && same_file(*file, kernel))
    throw InputError(option + " names '" + *file +
                     "', the library of --kernel; name another file to write");
}

void refuse_overwriting(const std::string& option, const std::optional<std::string>& file,
                        const std::vector<CaseSpec>& cases) {
  if (!file || *file == "-") return;
  const auto refuse_if_read = [&](const std::filesystem::path& input) {
    if (!input.empty() && same_file(*file, input))
      throw InputError(option + " names '" + *file + "', which the request reads");
  };
  for (const CaseSpec& spec : cases) {
    refuse_if_read(spec.file);
    for (const auto& [name, tensor] : spec.tensors) refuse_if_read(tensor);
  }
}

void check_supported(const std::vector<const Stage*>& stages, const std::vector<CaseSpec>& cases,
                     const DeviceLimits& limits) {
  for (const CaseSpec& spec : cases) {
    const DecodeShape shape = shape_of_case(spec);
    for (const Stage* stage : stages) try {
        check_supported(*stage, shape, limits);
      } catch (const InputError& error) {
        throw InputError(spec.name + ": " + error.what());
      }
  }
}

void add_probabilities_option(CLI::App& command, std::optional<std::string>& type) {
  command
      .add_option("--probabilities", type,
                  "type of the probabilities that multiply values, in place of the case's; f16, as "
                  "in vLLM v0.6.0, takes stage 4 or 5, scalar f16 and an f16 cache")
      ->check(CLI::IsMember({"f32", "f16"}))
      ->type_name("f32|f16");
}

void set_probabilities(const std::optional<std::string>& type, CaseSpec& spec) {
  if (type) spec.probabilities = scalar_type_named(*type).value();
}

void add_json_option(CLI::App& command, std::optional<std::string>& file) {
  command.add_option("--json", file, "also write the results as JSON; - is standard output")
      ->type_name("FILE")
      ->check(file_name());
}

void add_case_option(CLI::App& command, std::vector<std::string>& cases) {
  command.add_option("--case", cases, "a named case or a case file; may be repeated")
      ->type_name("NAME|FILE")
      ->check(file_name())
      ->allow_extra_args(false);
}

}  // namespace paged
