#include "tests/paged/options.h"

#include "reference/input_error.h"

namespace paged {

void StageOptions::add_to(CLI::App& command) {
  command.add_option("--stage", stage, "a stage's number or name, or all")
      ->type_name("N|NAME|all")
      ->capture_default_str();
  command.add_option("--backend", backend, "where kernels run")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->type_name("cpu|cuda")
      ->capture_default_str();
  command.add_flag("--unchecked", unchecked,
                   "cpu: run without watching every memory access (faster)");
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

void add_json_option(CLI::App& command, std::optional<std::string>& file) {
  command.add_option("--json", file, "also write the results as JSON; - is standard output")
      ->type_name("FILE");
}

void add_case_option(CLI::App& command, std::vector<std::string>& cases) {
  command.add_option("--case", cases, "a named case or a case file; may be repeated")
      ->type_name("NAME|FILE")
      ->allow_extra_args(false);
}

}  // namespace paged
