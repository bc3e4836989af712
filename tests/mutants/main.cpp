// paged_mutants: what `paged mutants` starts. See docs/mutants.md.
#include "reference/input_error.h"
#include "tests/harness/input_file.h"
#include "tests/harness/json_object.h"
#include "tests/harness/json_report.h"
#include "tests/harness/named_cases.h"
#include "tests/harness/nearest_names.h"
#include "tests/harness/one_line.h"
#include "tests/harness/text_table.h"
#include "tests/mutants/cache_trial.h"
#include "tests/mutants/hunt.h"
#include "tests/mutants/hunt_options.h"
#include "tests/mutants/ledger.h"
#include "tests/mutants/mutant_report.h"
#include "tests/mutants/mutant_story.h"
#include "tests/mutants/recipe.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <exception>
#include <functional>
#include <iostream>

namespace paged {
namespace {

MutantRow row_of(const HuntResult& result) {
  const Mutant& mutant = result.mutant;
  const Catch& first = result.first;
  MutantRow row;
  row.name = mutant.name;
  row.group = mutant.group;
  row.mistake = mutant.mistake;
  row.proof = mutant.proof;
  row.meant = mutant.meant;
  row.caught_by = first.caught_by;
  row.invariant = first.invariant;
  row.case_name = first.case_name;
  row.family = first.family;
  row.message = first.message;
  row.cases = first.cases;
  row.complaint = result.complaint;
  row.for_recipes = mutant.kernel->stage != nullptr;
  row.bugs = mutant.bugs;
  for (const auto& [cause, said] : result.causes.causes) row.causes.push_back(cause);
  row.why_no_cause = mutant.why_no_cause;
  return row;
}

/// Throws InputError for a name that no mutant has, with those that it may be meant for.
void check_names(const std::vector<std::string>& asked, const std::vector<std::string>& known) {
  for (const std::string& name : asked) {
    if (contains(known, name)) continue;
    std::string near;
    for (const std::string& other : nearest_names(name, known))
      near += (near.empty() ? "; did you mean " : ", ") + other;
    throw InputError("no mutant is named '" + name + "'" + near + (near.empty() ? ";" : "?") +
                     " `paged mutants --list` shows all");
  }
}

/// Of all groups, or of those asked for.
std::vector<Mutant> mutants_of_groups(const HuntOptions& options) {
  std::vector<Mutant> mutants;
  for (const std::string& group : options.groups.empty() ? mutant_groups() : options.groups)
    for (Mutant& mutant : read_mutants(group)) mutants.push_back(std::move(mutant));
  return mutants;
}

std::vector<Mutant> chosen_mutants(const HuntOptions& options) {
  std::vector<Mutant> mutants = mutants_of_groups(options);
  std::vector<std::string> known;
  for (const Mutant& mutant : mutants) known.push_back(mutant.name);
  check_names(options.names, known);
  if (!options.names.empty())
    std::erase_if(mutants,
                  [&](const Mutant& mutant) { return !contains(options.names, mutant.name); });
  return mutants;
}

/// A mutant that can be caught, by number: any number is one, and what it is doesn't show in it.
Mutant mutant_of_quiz(int number) {
  std::vector<Mutant> mutants = mutants_of_groups({});
  std::erase_if(mutants, [](const Mutant& mutant) {
    return !mutant.proof.empty() || *mutant.kernel->why_missing != '\0';
  });
  const auto place = [](const Mutant& mutant) { return std::hash<std::string>()(mutant.name); };
  std::sort(mutants.begin(), mutants.end(),
            [&](const Mutant& a, const Mutant& b) { return place(a) < place(b); });
  return mutants.at(static_cast<std::size_t>(number - 1) % mutants.size());
}

int print_quiz(int number) {
  const std::unique_ptr<Device> device = make_cpu_device();
  HuntingGround ground;
  std::cout << quiz_of(hunt_mutant(mutant_of_quiz(number), ground, *device), number);
  return 0;
}

/// Group by group.
void print_names(const std::vector<Mutant>& mutants) {
  for (auto first = mutants.begin(); first != mutants.end();) {
    const auto last = std::find_if(
        first, mutants.end(), [&](const Mutant& mutant) { return mutant.group != first->group; });
    std::cout << (first == mutants.begin() ? "" : "\n");
    TextTable table({first->group, "mistake"});
    for (; first != last; ++first) table.add_row({first->name, first->mistake});
    table.print(std::cout);
  }
}

/// Throws InputError if a mutant is not compiled for the types and sizes of a case.
void check_built_for(const Mutant& mutant, const CaseSpec& spec) {
  const DecodeShape shape = shape_of_case(spec);
  if (!is_in(mutant.instances, shape.scalar, shape.cache, shape.head_size, shape.block_size))
    throw InputError("the mutant " + mutant.name + " is compiled for " + name_of(mutant.instances) +
                     " (docs/mutants.md), which has no kernel for the case " + spec.name);
}

/// The right kernels under the same cases, and under others' recipes.
void try_right_kernels(const HuntOptions& options, std::vector<PreparedRecipe>& recipes,
                       Device& device, MutantReport& report, Progress& progress) {
  report.seeds = options.seeds();
  for (int seed = options.first_seed; seed < options.first_seed + options.seeds(); ++seed) {
    HuntingGround ground(seed);
    for (const Stage& stage : stages(Backend::cpu)) {
      progress.show("right stage " + std::to_string(stage.number) + ", seed " +
                    std::to_string(seed));
      const Catch alarm = ground.hunt(stage, device);
      if (!alarm.caught_by.empty())
        report.false_alarms.push_back("seed " + std::to_string(seed) + ", stage " + stage.name +
                                      ", " + alarm.invariant + ", " + alarm.case_name + ": " +
                                      alarm.message);
    }
  }
  if (options.seeds() < 1) return;
  const Catch alarm = try_cache_kernels(cache_kernels(Backend::cpu), device);
  if (!alarm.caught_by.empty())
    report.false_alarms.push_back("cache kernels, " + alarm.case_name + ": " + alarm.message);
  for (const Stage& stage : stages(Backend::cpu))
    for (PreparedRecipe& recipe : recipes)
      if (recipe.catches(stage, device))
        report.false_alarms.push_back("the recipe " + recipe.recipe().name + " rejects stage " +
                                      stage.name);
}

MutantReport hunt_all(const HuntOptions& options) {
  MutantReport report;
  const std::vector<Mutant> mutants =
      options.no_mutants ? std::vector<Mutant>() : chosen_mutants(options);
  const std::unique_ptr<Device> device = make_cpu_device();
  std::vector<PreparedRecipe> recipes;
  if (!options.no_recipes)
    for (Recipe& recipe : read_recipes()) {
      report.recipes.push_back({recipe.name, recipe.who, recipe.inputs, recipe.acceptance});
      recipes.emplace_back(std::move(recipe));
    }
  Progress progress("hunting");
  std::optional<CaseSpec> only_case;
  if (options.case_name) only_case = find_case(*options.case_name);
  HuntingGround ground(1, only_case);
  for (const Mutant& mutant : mutants) {
    if (only_case) check_built_for(mutant, *only_case);
    progress.show(mutant.name);
    const HuntResult result = hunt_mutant(mutant, ground, *device, options.invariant.value_or(""));
    report.mutants.push_back(row_of(result));
    if (!options.names.empty()) report.mutants.back().story = story_of(result, ground, *device);
    if (mutant.kernel->stage == nullptr || !mutant.proof.empty()) continue;
    const Stage stage = stage_of(mutant);
    for (PreparedRecipe& recipe : recipes)
      if (recipe.catches(stage, *device))
        report.mutants.back().recipes.push_back(recipe.recipe().name);
  }
  try_right_kernels(options, recipes, *device, report, progress);
  return report;
}

MutantReport merged(const std::vector<std::string>& files) {
  MutantReport all;
  for (const std::string& file : files) {
    const nlohmann::json json = parse_json(content_of_input(file), "--merge '" + file + "'");
    try {
      all.merge(report_of(json));
    } catch (const nlohmann::json::exception&) {
      throw InputError("--merge '" + file + "' is not what `paged mutants --json FILE` writes");
    }
  }
  return all;
}

/// Whether all documents have the report's tables; says which have not.
bool documents_are_true(const std::vector<std::string>& files, const MutantReport& report) {
  bool all = true;
  for (const std::string& file : files)
    if (const std::string old = content_of_input(file); with_tables(file, old, report) != old) {
      all = false;
      std::cout << file << " says something else; `paged mutants --write-markdown FILE` mends it\n";
    }
  return all;
}

/// Whether the ledger lacks nothing; says what it lacks.
bool ledger_is_whole(const MutantReport& report) {
  const std::vector<std::string> missing =
      missing_partners(ledger_of(report, PAGED_PROJECT_DIRECTORY));
  for (const std::string& partner : missing) std::cout << "docs/ledger.md: " << partner << '\n';
  return missing.empty();
}

int run(HuntOptions options) {
  if (options.invariant) find_invariant(*options.invariant);
  if (options.list) {
    print_names(mutants_of_groups(options));
    return 0;
  }
  if (options.quiz && !options.answer) return print_quiz(*options.quiz);
  if (options.quiz) {
    options.names = {mutant_of_quiz(*options.quiz).name};
    options.no_recipes = true;
  }
  JsonFile json(options.json);
  // Before anything is hunted: a document that is not there is no result of hours.
  for (const auto* files : {&options.written, &options.checked})
    for (const std::string& file : *files) content_of_input(file);
  for (const std::string& file : options.written) OutputFile{file};
  const MutantReport report = options.merged.empty() ? hunt_all(options) : merged(options.merged);
  json.write(json_of(report));
  if (!json.takes_standard_output()) print(report, std::cout);
  for (const std::string& file : options.written)
    OutputFile(file).commit(with_tables(file, content_of_input(file), report));
  const bool true_documents = documents_are_true(options.checked, report);
  const bool whole_ledger = !options.ledger || ledger_is_whole(report);
  return report.all_well() && true_documents && whole_ledger ? 0 : 1;
}

}  // namespace
}  // namespace paged

int main(int argc, char** argv) {
  const auto complain = [](const std::string& message, int status) {
    std::cout.flush();
    std::cerr << "paged: " << paged::one_line(message) << '\n';
    return status;
  };
  try {
    const auto options = paged::parse_hunt_options({argv + 1, argv + argc});
    return options ? paged::run(*options) : 0;
  } catch (const paged::InputError& error) {
    return complain(error.what(), 2);
  } catch (const std::exception& error) {
    return complain(error.what(), 1);
  }
}
