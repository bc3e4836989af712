// paged explain: what an invariant says, how it is tried, and how to read its failure.
#include "reference/input_error.h"
#include "stages/registry.h"
#include "tests/harness/explanation.h"
#include "tests/harness/stage_run.h"
#include "tests/harness/text_table.h"
#include "tests/paged/commands.h"

#include <iostream>
#include <memory>
#include <string>

namespace paged {
namespace {

struct ExplainOptions {
  std::string invariant;
  bool markdown = false;
};

void print_list() {
  TextTable table({"invariant", "statement"});
  for (const Invariant& invariant : invariants())
    table.add_row({invariant.id, invariant.statement});
  table.print(std::cout);
}

int run(const ExplainOptions& options) {
  if (options.markdown && !options.invariant.empty())
    throw InputError("--markdown writes the page of all invariants; leave out '" +
                     options.invariant + "'");
  if (!options.markdown && options.invariant.empty()) {
    print_list();
    return kAllHeld;
  }
  const Invariant* invariant = options.markdown ? nullptr : &find_invariant(options.invariant);
  // The examples are run on a stage that breaks nothing.
  const std::unique_ptr<Device> device = make_device(Backend::cpu);
  KernelUnderTest kernel(stages(Backend::cpu).back(), *device);
  std::cout << (invariant == nullptr ? page_of_invariants(kernel)
                                     : explanation_of(*invariant, kernel, text_columns()));
  return kAllHeld;
}

}  // namespace

void add_explain_command(CLI::App& program, int& status) {
  auto* command = program.add_subcommand(
      "explain", "Explain an invariant, with an example that is run for it; without ID, list all");
  auto options = std::make_shared<ExplainOptions>();
  command->add_option("ID", options->invariant, "which invariant")->type_name("");
  command->add_flag("--markdown", options->markdown, "all of them, as the page docs/invariants.md");
  command->callback([options, &status] { status = run(*options); });
}

}  // namespace paged
