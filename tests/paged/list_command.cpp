// paged list: stages, invariants and cases.
#include "tests/harness/invariant.h"
#include "tests/harness/json_report.h"
#include "tests/harness/named_cases.h"
#include "tests/harness/text_table.h"
#include "tests/paged/commands.h"
#include "tests/paged/options.h"

#include <nlohmann/json.hpp>

#include <iostream>

namespace paged {
namespace {

std::string joined(const nlohmann::json& list) {
  std::string text;
  for (const auto& item : list)
    text += (text.empty() ? "" : " ") + (item.is_string() ? item.get<std::string>() : item.dump());
  return text;
}

void print_stages() {
  TextTable table({"stage", "adds", "backends", "scalars", "caches", "head sizes", "block sizes"});
  const nlohmann::json all = json_of_stages().at("stages");
  for (const auto& stage : all)
    table.add_row({stage["number"].dump() + " " + stage["name"].get<std::string>(),
                   stage["idea"].get<std::string>(), joined(stage["backends"]),
                   joined(stage["scalars"]), joined(stage["caches"]), joined(stage["head_sizes"]),
                   joined(stage["block_sizes"])});
  table.print(std::cout);
  for (const auto& stage : all) {
    std::cout << "\nstage " << stage["number"] << " promises: " << joined(stage["promises"])
              << '\n';
    for (const auto& [invariant, reason] : stage["why_broken"].items())
      std::cout << "stage " << stage["number"] << " knowingly breaks: " << invariant << " ("
                << reason.get<std::string>() << ")\n";
  }
}

void print_all() {
  print_stages();
  std::cout << '\n';
  TextTable statements({"invariant", "statement"});
  for (const Invariant& invariant : invariants())
    statements.add_row({invariant.id, invariant.statement});
  statements.print(std::cout);
  std::cout << '\n';
  TextTable cases({"case", "description"});
  for (const NamedCase& c : named_cases()) cases.add_row({c.name, c.description});
  cases.print(std::cout);
}

}  // namespace

void add_list_command(CLI::App& program, int& status) {
  auto* command =
      program.add_subcommand("list", "Show the stages, what they promise, and the cases");
  auto json = std::make_shared<std::optional<std::string>>();
  add_json_option(*command, *json);
  command->callback([json, &status] {
    JsonFile file(*json);
    file.write(json_of_stages());
    if (!file.takes_standard_output()) print_all();
    status = kAllHeld;
  });
}

}  // namespace paged
