// paged list: stages, invariants and cases.
#include "tests/harness/invariant.h"
#include "tests/harness/json_report.h"
#include "tests/harness/named_cases.h"
#include "tests/harness/text_table.h"
#include "tests/harness/wrapped_text.h"
#include "tests/paged/commands.h"
#include "tests/paged/options.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

namespace paged {
namespace {

std::string joined(const nlohmann::json& list) {
  std::string text;
  for (const auto& item : list)
    text += (text.empty() ? "" : " ") + (item.is_string() ? item.get<std::string>() : item.dump());
  return text;
}

using Stages = nlohmann::json;  ///< the list of json_of_stages()

void print_ideas(const Stages& stages) {
  TextTable table({"stage", "backends", "adds"});
  for (const auto& stage : stages)
    table.add_row({stage["number"].dump() + " " + stage["name"].get<std::string>(),
                   joined(stage["backends"]), stage["idea"].get<std::string>()});
  table.print(std::cout);
}

/// A row for those in a row that take the same.
void print_sizes(const Stages& stages) {
  const std::vector<std::string> keys = {"scalars", "caches", "block_sizes", "head_sizes"};
  const auto are_same = [&](const nlohmann::json& a, const nlohmann::json& b) {
    return std::all_of(keys.begin(), keys.end(),
                       [&](const std::string& key) { return a[key] == b[key]; });
  };
  TextTable table({"stage", "scalars", "caches", "block sizes", "head sizes"});
  for (std::size_t first = 0, last = 0; first < stages.size(); first = last + 1) {
    for (last = first; last + 1 < stages.size() && are_same(stages[first], stages[last + 1]);)
      ++last;
    std::vector<std::string> row = {stages[first]["number"].dump()};
    if (last > first) row.front() += "-" + stages[last]["number"].dump();
    for (const std::string& key : keys) row.push_back(joined(stages[first][key]));
    table.add_row(std::move(row));
  }
  table.print(std::cout);
}

/// What all stages promise, and what single ones do besides, or break.
void print_promises(const Stages& stages) {
  const std::size_t columns = text_columns();
  const auto has = [](const nlohmann::json& list, const nlohmann::json& id) {
    return std::find(list.begin(), list.end(), id) != list.end();
  };
  nlohmann::json common = nlohmann::json::array();
  for (const auto& id : stages[0]["promises"])
    if (std::all_of(stages.begin(), stages.end(),
                    [&](const auto& stage) { return has(stage["promises"], id); }))
      common.push_back(id);
  std::cout << wrapped("all stages promise: " + joined(common), 0, columns, 2);
  for (const auto& stage : stages) {
    const std::string who = "stage " + stage["number"].dump();
    nlohmann::json others = nlohmann::json::array();
    for (const auto& id : stage["promises"])
      if (!has(common, id)) others.push_back(id);
    if (!others.empty())
      std::cout << wrapped(who + " promises besides: " + joined(others), 0, columns, 2);
    for (const auto& [invariant, reason] : stage["why_broken"].items())
      std::cout << wrapped(
          who + " knowingly breaks: " + invariant + " (" + reason.get<std::string>() + ")", 0,
          columns, 2);
  }
}

void print_stages() {
  const Stages stages = json_of_stages().at("stages");
  print_ideas(stages);
  std::cout << '\n';
  print_sizes(stages);
  std::cout << '\n';
  print_promises(stages);
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
