#include "tests/mutants/hunt_options.h"

#include "reference/input_error.h"

#include <CLI/CLI.hpp>

#include <iostream>

namespace paged {
namespace {

/// Which mutants, on what.
void add_choices(CLI::App& program, HuntOptions& options) {
  program.add_flag("--list", options.list,
                   "show the names of all mutants, or of --group, and hunt none");
  program.add_option("--group", options.groups, "only this group; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  program.add_option("--mutant", options.names, "only this mutant, told in full; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  program.add_option("--invariant", options.invariant, "try this invariant alone; with --mutant")
      ->type_name("ID");
  program.add_option("--case", options.case_name, "on this case alone; with --mutant")
      ->type_name("NAME|FILE");
  program
      .add_option("--seeds", options.seeds_asked,
                  "how many seeds the right kernels are tried with; 1, or 0 with --mutant")
      ->check(CLI::Range(0, 1000000));
  program
      .add_option("--first-seed", options.first_seed,
                  "the first of these seeds, to try many in slices")
      ->check(CLI::Range(0, 1000000000))
      ->capture_default_str();
  program.add_flag("--no-mutants", options.no_mutants, "try the right kernels alone");
  program.add_flag("--no-recipes", options.no_recipes, "leave others' recipes out");
}

/// A mutant to be guessed: nothing else is asked for.
void add_quiz(CLI::App& program, HuntOptions& options) {
  CLI::Option* const quiz =
      program
          .add_option("--quiz", options.quiz,
                      "show what is reported of mutant number N, and not what its mistake is")
          ->type_name("N")
          ->check(CLI::Range(1, 1000000));
  for (CLI::Option* const other : program.get_options())
    if (other != quiz && other->get_name() != "--help") quiz->excludes(other);
  program.add_flag("--answer", options.answer, "with --quiz: tell the mutant in full")->needs(quiz);
}

/// What is done with the results.
void add_outputs(CLI::App& program, HuntOptions& options) {
  program
      .add_option("--json", options.json, "also write the results as JSON; - is standard output")
      ->type_name("FILE");
  program
      .add_option("--merge", options.merged, "hunt nothing: put together what --json has written")
      ->type_name("FILE...");
  program.add_flag("--ledger", options.ledger,
                   "with --merge of all groups: fail where an invariant lacks a test, a mutant, a "
                   "stage or a walkthrough");
  program.add_option("--write-markdown", options.written, "write the tables into these documents")
      ->type_name("FILE...");
  program
      .add_option("--check-markdown", options.checked,
                  "fail unless these documents have the tables")
      ->type_name("FILE...");
}

/// --list goes with --group alone.
void let_list_exclude_others(CLI::App& program) {
  CLI::Option* const list = program.get_option("--list");
  for (CLI::Option* const other : program.get_options())
    if (const std::string name = other->get_name();
        name != "--list" && name != "--group" && name != "--help")
      list->excludes(other);
}

}  // namespace

std::optional<HuntOptions> parse_hunt_options(const std::vector<std::string>& arguments) {
  CLI::App program(
      "The harness against kernels broken on purpose, and others' recipes against them.");
  program.name("paged mutants");
  HuntOptions options;
  add_choices(program, options);
  add_outputs(program, options);
  add_quiz(program, options);
  let_list_exclude_others(program);
  try {
    program.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    std::cout << program.help();
    return {};
  } catch (const CLI::ParseError& error) {
    throw InputError(error.what() + std::string("; paged mutants --help shows what there is"));
  }
  if ((options.invariant || options.case_name) && options.names.empty())
    throw InputError("--invariant and --case go with --mutant NAME");
  return options;
}

}  // namespace paged
