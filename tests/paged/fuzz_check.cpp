#include "tests/paged/fuzz_check.h"

#include "reference/input_error.h"
#include "tests/harness/case_file.h"
#include "tests/harness/json_report.h"
#include "tests/harness/one_line.h"
#include "tests/harness/shell_word.h"
#include "tests/harness/text_table.h"
#include "tests/harness/wrapped_text.h"
#include "tests/paged/commands.h"
#include "tests/paged/options.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <iostream>

namespace paged {
namespace {

/// What all targets came to.
struct FuzzTotal {
  std::int64_t cases = 0, refused = 0, tries = 0, failed = 0;  // as in FuzzOutcome
  std::optional<FuzzFailure> failure;
  const Stage* failing_stage = nullptr;
};

FuzzTotal fuzz_all(const FuzzOptions& options, const CheckRequest& request,
                   const std::vector<FuzzTarget>& targets, OffTerminal off_terminal) {
  FuzzTotal total;
  Progress progress("fuzzing", off_terminal);
  FuzzRequest one;
  one.seed = request.seed;
  one.seconds = options.seconds.value() / static_cast<double>(targets.size());
  one.invariants = request.invariants;
  for (const FuzzTarget& target : targets) {
    FuzzOutcome outcome = fuzz(target, one, [&](std::int64_t number) {
      progress.show(target.stage->name + ", case " + std::to_string(number));
    });
    total.cases += outcome.cases;
    total.refused += outcome.refused;
    total.tries += outcome.tries;
    total.failed += outcome.failed;
    if (!outcome.failure) continue;
    total.failure = std::move(outcome.failure);
    total.failing_stage = target.stage;
    break;
  }
  return total;
}

nlohmann::json json_of(const FuzzTotal& total, const std::string& case_file, std::uint64_t seed) {
  std::vector<CheckResult> results;
  if (total.failure) results.push_back(total.failure->result);
  nlohmann::json report = json_of_checks(results, {});
  report["passed"] = total.tries - total.failed;
  report["failed"] = total.failed;
  report["fuzz"] = {
      {"seed", seed}, {"cases", total.cases}, {"refused", total.refused}, {"tries", total.tries}};
  if (total.failure) {
    report["fuzz"]["case_file"] = case_file;
    report["fuzz"]["number"] = total.failure->number;
  }
  return report;
}

/// The command that fails again.
std::string repetition(const FuzzTotal& total, const std::string& case_file, std::uint64_t seed,
                       const std::string& to_repeat) {
  std::string command = "build/bin/paged check";
  if (total.failing_stage->number > 0)
    command += " --stage " + std::to_string(total.failing_stage->number);
  if (!to_repeat.empty()) command += " " + to_repeat;
  command += " --invariant " + total.failure->result.invariant + " --case " + shell_word(case_file);
  return seed == 1 ? command : command + " --seed " + std::to_string(seed);
}

/// The failure, and how to see it again: a command to copy, on one line.
void print(const FuzzTotal& total, const std::string& case_file, const std::string& again) {
  const CheckResult& result = total.failure->result;
  const Invariant& invariant = find_invariant(result.invariant);
  const std::size_t columns = text_columns();
  std::cout << '\n'
            << coloured(wrapped(one_line(result.stage) + " fails " + invariant.id + ": " +
                                    invariant.statement,
                                0, columns, 2),
                        Colour::bad)
            << wrapped("On " + one_line(total.failure->drawn.name) + ", made small:", 2, columns, 2)
            << wrapped_parts(one_line(result.verdict.message), 4, columns) << "\nThe case is in "
            << one_line(case_file) << "; it fails again with\n  " << one_line(again) << '\n';
}

}  // namespace

void FuzzOptions::add_to(CLI::App& command) {
  auto* fuzzing =
      command
          .add_option(
              "--fuzz", seconds,
              "for so long, try random cases, drawn by --seed; make one that fails small and "
              "write it as a case file")
          ->type_name("SECONDS")
          ->check(number_between(0.1, 1e6));
  for (const char* option :
       {"--case", "--probabilities", "--junit", "--baseline", "--counts", "--times"})
    fuzzing->excludes(command.get_option(option));
  command.add_option("--fuzz-case", case_file, "where --fuzz writes a case that fails")
      ->type_name("FILE")
      ->check(file_name())
      ->needs(fuzzing)
      ->capture_default_str();
}

int run_fuzz(const FuzzOptions& options, const CheckRequest& request,
             const std::vector<FuzzTarget>& targets, const std::optional<std::string>& json,
             const std::string& to_repeat) {
  // An id that is none, or that no target states anything about, would be refused for each case.
  for (const std::string& id : request.invariants) find_invariant(id);
  if (json && *json != "-" && same_file(*json, options.case_file))
    throw InputError("--json and --fuzz-case both name '" + *json +
                     "'; give each a file of its own");
  const OutputFile case_file(options.case_file);
  JsonFile json_file(json);
  const FuzzTotal total =
      fuzz_all(options, request, targets, json ? OffTerminal::now_and_then : OffTerminal::silent);
  if (total.cases == 0 && total.refused > 0)
    throw InputError("none of " + std::to_string(total.refused) +
                     " random cases could be tried; ask for other invariants, or for more seconds");
  if (total.failure) case_file.commit(case_file_of(total.failure->spec));
  json_file.write(json_of(total, options.case_file, request.seed));
  if (!json_file.takes_standard_output()) {
    std::cout << "seed " << request.seed << ": " << total.cases << " random cases, " << total.tries
              << " tries of invariants, " << total.failed << " failed";
    if (total.refused > 0)
      std::cout << "; " << total.refused
                << " more cases were drawn that have no answer, or that nothing can be tried on";
    std::cout << '\n';
    if (total.failure)
      print(total, options.case_file,
            repetition(total, options.case_file, request.seed, to_repeat));
  }
  return total.failure ? kSomethingFailed : kAllHeld;
}

}  // namespace paged
