#include "tests/mutants/mutant_report.h"

#include "reference/input_error.h"
#include "tests/harness/marked_blocks.h"
#include "tests/harness/text_table.h"
#include "tests/harness/wrapped_text.h"
#include "tests/mutants/ledger.h"
#include "tests/mutants/mutant.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>

namespace paged {
namespace {

constexpr const char* kOwnRecipe = "this harness";

struct Score {
  int caught = 0;
  int total = 0;
};

/// Over the mutants of decode attention. `recipe` "": the harness itself.
Score score_of(const MutantReport& report, const std::string& recipe) {
  Score score;
  for (const MutantRow& row : report.hunted()) {
    if (!row.for_recipes) continue;
    ++score.total;
    score.caught += recipe.empty() ? !row.caught_by.empty() : contains(row.recipes, recipe);
  }
  return score;
}

std::string text_of(const Score& score) {
  return std::to_string(score.caught) + " of " + std::to_string(score.total);
}

std::string list_of(const std::vector<int>& numbers) {
  std::string text;
  for (int number : numbers) text += (text.empty() ? "" : ", ") + std::to_string(number);
  return text;
}

std::string percent_of(const Score& score) {
  return score.total == 0 ? "-" : std::to_string(100 * score.caught / score.total) + " %";
}

std::string status_of(const MutantRow& row) {
  return row.caught_by.empty() ? "-" : "`" + row.caught_by + "`";
}

std::string zoo_table(const MutantReport& report) {
  std::string text;
  for (const std::string& group : mutant_groups()) {
    std::string rows;
    for (const MutantRow& row : report.mutants)
      if (row.group == group && row.proof.empty())
        rows += "| " + row.name + " | " + row.mistake + " | " + status_of(row) + " | " +
                std::to_string(row.cases) + ", " + row.family + " | " +
                (row.for_recipes ? std::to_string(row.recipes.size()) : "") + " | " +
                list_of(row.bugs) + " |\n";
    if (rows.empty()) continue;
    text += (text.empty() ? "**" : "\n**") + group +
            "**\n\n| mutant | mistake | caught by | after cases, in | recipes | bug |\n"
            "| --- | --- | --- | --- | --- | --- |\n" +
            rows;
  }
  return text;
}

std::string equivalents_table(const MutantReport& report) {
  std::string text = "| edit | what it does | why nothing can catch it |\n| --- | --- | --- |\n";
  for (const MutantRow& row : report.mutants)
    if (!row.proof.empty())
      text += "| " + row.name + " | " + row.mistake + " | " + row.proof + " |\n";
  return text;
}

std::string recipes_table(const MutantReport& report) {
  std::string text = "| recipe | inputs | accepts | caught | |\n| --- | --- | --- | --- | --- |\n";
  const auto add = [&](const RecipeRow& row, const Score& score) {
    text += "| " + row.name + " | " + row.inputs + " | " + row.acceptance + " | " + text_of(score) +
            " | " + percent_of(score) + " |\n";
  };
  add({kOwnRecipe, "", "families of inputs and lengths under which bugs show",
       "derived bounds, bits, the CPU machine's findings"},
      score_of(report, ""));
  for (const RecipeRow& row : report.recipes) add(row, score_of(report, row.name));
  return text;
}

std::string joined(const std::vector<std::string>& list) {
  std::string text;
  for (const std::string& one : list) text += (text.empty() ? "" : ", ") + one;
  return text;
}

std::string bugs_table(const MutantReport& report) {
  std::string text =
      "| # | what went wrong | mutants that repeat it | caught first by | invariant that is there "
      "for "
      "it |\n| --- | --- | --- | --- | --- |\n";
  for (const KnownBug& bug : read_known_bugs()) {
    std::vector<std::string> names;
    std::vector<std::string> first;
    std::vector<std::string> meant;
    const auto add = [](std::vector<std::string>& list, const std::string& id) {
      if (!id.empty() && !contains(list, "`" + id + "`")) list.push_back("`" + id + "`");
    };
    for (const MutantRow& row : report.hunted()) {
      if (std::find(row.bugs.begin(), row.bugs.end(), bug.number) == row.bugs.end()) continue;
      names.push_back(row.name);
      add(first, row.caught_by);
      add(meant, row.meant);
    }
    text += "| " + std::to_string(bug.number) + " | " + bug.what + " | " + joined(names) + " | " +
            (bug.instead.empty() ? joined(first) : bug.instead) + " | " + joined(meant) + " |\n";
  }
  return text;
}

std::string quoted(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "`" : ", `") + name + "`";
  return text;
}

std::string causes_table(const MutantReport& report) {
  std::string text = "| mutant | mistake | named as its cause |\n| --- | --- | --- |\n";
  for (const MutantRow& row : report.hunted())
    if (!row.causes.empty())
      text += "| " + row.name + " | " + row.mistake + " | " + quoted(row.causes) + " |\n";
  return text;
}

std::string no_causes_table(const MutantReport& report) {
  std::string text = "| mutants | why their weights show nothing |\n| --- | --- |\n";
  std::vector<std::pair<std::string, std::string>> rows;  // reason, names
  for (const MutantRow& row : report.hunted()) {
    if (row.why_no_cause.empty()) continue;
    const auto same = std::find_if(rows.begin(), rows.end(), [&](const auto& other) {
      return other.first == row.why_no_cause;
    });
    if (same == rows.end())
      rows.emplace_back(row.why_no_cause, row.name);
    else
      same->second += ", " + row.name;
  }
  for (const auto& [reason, names] : rows) text += "| " + names + " | " + reason + " |\n";
  return text;
}

std::string table_named(const std::string& name, const MutantReport& report) {
  if (name == "zoo") return zoo_table(report);
  if (name == "equivalents") return equivalents_table(report);
  if (name == "recipes") return recipes_table(report);
  if (name == "causes") return causes_table(report);
  if (name == "no-causes") return no_causes_table(report);
  if (name == "ledger") return ledger_table(ledger_of(report, PAGED_PROJECT_DIRECTORY));
  if (name == "bugs") return bugs_table(report);
  throw InputError("there is no table of mutants '" + name +
                   "'; there are zoo, equivalents, recipes, causes, no-causes, ledger, bugs");
}

nlohmann::json json_of(const MutantRow& row) {
  return {{"name", row.name},
          {"meant", row.meant},
          {"group", row.group},
          {"mistake", row.mistake},
          {"proof", row.proof},
          {"caught_by", row.caught_by},
          {"invariant", row.invariant},
          {"case", row.case_name},
          {"family", row.family},
          {"cases", row.cases},
          {"message", row.message},
          {"complaint", row.complaint},
          {"decode", row.for_recipes},
          {"bugs", row.bugs},
          {"recipes", row.recipes},
          {"causes", row.causes},
          {"why_no_cause", row.why_no_cause}};
}

MutantRow row_of(const nlohmann::json& json) {
  MutantRow row;
  row.name = json.at("name");
  row.group = json.at("group");
  row.mistake = json.at("mistake");
  row.proof = json.at("proof");
  row.meant = json.at("meant");
  row.caught_by = json.at("caught_by");
  row.invariant = json.at("invariant");
  row.case_name = json.at("case");
  row.family = json.at("family");
  row.cases = json.at("cases");
  row.message = json.at("message");
  row.complaint = json.at("complaint");
  row.for_recipes = json.at("decode");
  row.causes = json.at("causes").get<std::vector<std::string>>();
  row.why_no_cause = json.at("why_no_cause");
  row.bugs = json.at("bugs").get<std::vector<int>>();
  row.recipes = json.at("recipes").get<std::vector<std::string>>();
  return row;
}

void print_zoo(const MutantReport& report, std::ostream& stream) {
  TextTable table({"mutant", "caught by", "cases", "result"});
  for (const MutantRow& row : report.mutants) {
    const std::string good = row.proof.empty() ? "caught" : "equivalent";
    table.add_row({row.name, row.caught_by.empty() ? "-" : row.caught_by, std::to_string(row.cases),
                   row.complaint.empty() ? good : "WRONG"},
                  row.complaint.empty() ? Colour::plain : Colour::bad);
  }
  table.print(stream);
  const std::size_t columns = text_columns();
  stream << wrapped(
      "\ncases: tried until it was caught. --list shows what each mistake is, --mutant NAME tells "
      "one "
      "in full.",
      0, columns);
  for (const MutantRow& row : report.mutants)
    if (!row.complaint.empty())
      stream << '\n'
             << wrapped(row.name + " " + row.complaint + (row.message.empty() ? "" : ":"), 0,
                        columns)
             << wrapped(row.message, 2, columns);
}

}  // namespace

std::vector<MutantRow> MutantReport::hunted() const {
  std::vector<MutantRow> rows;
  for (const MutantRow& row : mutants)
    if (row.proof.empty()) rows.push_back(row);
  return rows;
}

bool MutantReport::all_well() const {
  return false_alarms.empty() &&
         std::all_of(mutants.begin(), mutants.end(),
                     [](const MutantRow& row) { return row.complaint.empty(); });
}

void MutantReport::merge(const MutantReport& other) {
  mutants.insert(mutants.end(), other.mutants.begin(), other.mutants.end());
  false_alarms.insert(false_alarms.end(), other.false_alarms.begin(), other.false_alarms.end());
  seeds = std::max(seeds, other.seeds);
  if (recipes.empty()) recipes = other.recipes;
}

nlohmann::json json_of(const MutantReport& report) {
  nlohmann::json mutants = nlohmann::json::array();
  nlohmann::json equivalent = nlohmann::json::array();
  for (const MutantRow& row : report.mutants)
    (row.proof.empty() ? mutants : equivalent).push_back(json_of(row));
  const auto caught = std::count_if(mutants.begin(), mutants.end(), [](const nlohmann::json& row) {
    return row.at("caught_by") != "";
  });
  nlohmann::json recipes = nlohmann::json::array();
  const auto add = [&](const RecipeRow& row, const Score& score) {
    recipes.push_back({{"name", row.name},
                       {"caught", score.caught},
                       {"total", score.total},
                       {"who", row.who},
                       {"inputs", row.inputs},
                       {"acceptance", row.acceptance}});
  };
  add({kOwnRecipe, "", "", ""}, score_of(report, ""));
  for (const RecipeRow& row : report.recipes) add(row, score_of(report, row.name));
  return {{"total", mutants.size()},
          {"caught", caught},
          {"false_alarms", report.false_alarms.size()},
          {"alarms", report.false_alarms},
          {"seeds", report.seeds},
          {"mutants", mutants},
          {"equivalent", equivalent},
          {"recipes", recipes}};
}

MutantReport report_of(const nlohmann::json& json) {
  MutantReport report;
  for (const char* list : {"mutants", "equivalent"})
    for (const nlohmann::json& row : json.at(list)) report.mutants.push_back(row_of(row));
  for (const nlohmann::json& row : json.at("recipes"))
    if (row.at("name") != kOwnRecipe)
      report.recipes.push_back(
          {row.at("name"), row.at("who"), row.at("inputs"), row.at("acceptance")});
  report.false_alarms = json.at("alarms").get<std::vector<std::string>>();
  report.seeds = json.at("seeds");
  return report;
}

/// Mutants one by one, as they were asked for.
void print_stories(const MutantReport& report, std::ostream& stream) {
  for (const MutantRow& row : report.mutants) {
    stream << (&row == &report.mutants.front() ? "" : "\n") << row.story;
    if (report.recipes.empty() || !row.for_recipes || !row.proof.empty()) continue;
    std::string caught;
    std::string missed;
    for (const RecipeRow& recipe : report.recipes) {
      std::string& list = contains(row.recipes, recipe.name) ? caught : missed;
      list += (list.empty() ? "" : "; ") + recipe.name;
    }
    const std::size_t columns = text_columns();
    stream << wrapped("Others' recipes (docs/mutants.md) that catch it: " +
                          (caught.empty() ? "none" : caught),
                      0, columns, 2)
           << wrapped("that miss it: " + (missed.empty() ? "none" : missed), 0, columns, 2);
  }
}

void print(const MutantReport& report, std::ostream& stream) {
  if (!report.mutants.empty() && !report.mutants.front().story.empty())
    return print_stories(report, stream);
  print_zoo(report, stream);
  const std::vector<MutantRow> hunted = report.hunted();
  const auto caught = std::count_if(hunted.begin(), hunted.end(),
                                    [](const MutantRow& row) { return !row.caught_by.empty(); });
  stream << '\n'
         << caught << " of " << hunted.size() << " mutants caught, " << report.false_alarms.size()
         << " false alarms on right kernels over " << report.seeds
         << (report.seeds == 1 ? " seed" : " seeds") << '\n';
  for (const std::string& alarm : report.false_alarms) stream << "  " << alarm << '\n';
  if (report.recipes.empty()) return;
  stream << '\n';
  TextTable table({"recipe", "caught", "", "inputs, and what it accepts"});
  const auto add = [&](const RecipeRow& row, const Score& score) {
    table.add_row({row.name, text_of(score), percent_of(score),
                   row.inputs.empty() ? "" : row.inputs + "; accepts: " + row.acceptance});
  };
  add({kOwnRecipe, "", "", ""}, score_of(report, ""));
  for (const RecipeRow& row : report.recipes) add(row, score_of(report, row.name));
  table.print(stream);
}

std::string with_tables(const std::string& file, const std::string& markdown,
                        const MutantReport& report) {
  MarkedText document = read_marked_blocks(file, markdown);
  bool some = false;
  for (MarkedBlock& block : document.blocks)
    if (block.kind == "mutants") {
      block.fill(table_named(block.argument, report));
      some = true;
    }
  if (!some) throw InputError(file + " has no line '<!-- mutants: NAME -->'");
  return document.text();
}

}  // namespace paged
