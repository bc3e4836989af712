#include "walkthroughs/labs/lab.h"

#include "reference/input_error.h"
#include "tests/harness/cause_ids.h"
#include "tests/harness/input_file.h"
#include "tests/harness/invariant.h"
#include "tests/harness/json_object.h"
#include "tests/harness/nearest_names.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace paged::labs {
namespace {

/// Set by the build: the source tree, and this folder in it.
const std::filesystem::path kRoot = PAGED_SOURCE_ROOT;
const std::filesystem::path kFolder = kRoot / "walkthroughs/labs";

std::vector<std::string> text_list(JsonObject& object, const std::string& key) {
  const nlohmann::json& list = object.at(key);
  if (!list.is_array()) object.fail(key, "must be a list of lines");
  std::vector<std::string> lines;
  for (const nlohmann::json& line : list) {
    if (!line.is_string()) object.fail(key, "must be a list of lines");
    lines.push_back(line.get<std::string>());
  }
  return lines;
}

/// What a hint may be for: what can fail, or be the cause of it.
bool is_topic(const std::string& topic, const Lab& lab) {
  for (const LabCheck& check : lab.checks)
    if (topic == check.step) return true;
  for (const CountName& count : lab.transactions.counts)
    if (topic == count.name) return true;
  for (const Invariant& invariant : invariants())
    if (topic == invariant.id) return true;
  return topic == "transactions" || topic == "endless" || topic == "crash" ||
         topic == kUnwrittenSharedMemory;
}

/// Likely causes are written as "cause: ID".
std::string known_cause(const std::string& id, const JsonObject& entry) {
  const std::vector<std::string> ids(std::begin(kCauseIds), std::end(kCauseIds));
  if (std::find(ids.begin(), ids.end(), id) != ids.end()) return id;
  std::string nearest;
  for (const std::string& name : nearest_names(id, ids))
    nearest += (nearest.empty() ? "; did you mean " : ", ") + name;
  entry.fail("for", "has 'cause: " + id + "', which is no likely cause" + nearest);
}

LabHint hint_of(JsonObject entry, const Lab& lab) {
  constexpr std::string_view kCause = "cause: ";
  LabHint hint;
  hint.text = entry.text("hint");
  for (std::string topic : text_list(entry, "for")) {
    if (topic.starts_with(kCause))
      topic = known_cause(topic.substr(kCause.size()), entry);
    else if (!is_topic(topic, lab))
      entry.fail("for", "has '" + topic + "', which is no step, invariant or count of this lab");
    hint.topics.push_back(topic);
  }
  entry.finish();
  return hint;
}

std::vector<LabFile> files_of(JsonObject& object) {
  std::vector<LabFile> files;
  for (const nlohmann::json& entry : object.at("files")) {
    if (entry.is_string()) {
      files.push_back({entry.get<std::string>(), "", ""});
      continue;
    }
    const std::string first = entry.at("hole");
    files.push_back({entry.at("path"), first, entry.value("to", first)});
  }
  if (files.empty()) object.fail("files", "is empty");
  return files;
}

SourceEdit edit_in(const nlohmann::json& json) {
  return {json.at("file"), json.at("text"), json.at("replacement"), json.value("nth", 1)};
}

/// One of the zoo, tests/mutants: the labs' mistakes are those that the harness is known to catch.
SourceEdit edit_of_mutant(const std::string& group, const std::string& name) {
  const std::filesystem::path file = kRoot / "tests/mutants" / (group + ".json");
  const nlohmann::json zoo = parse_json(content_of_input(file), file.string());
  for (const nlohmann::json& mutant : zoo.at("mutants"))
    if (mutant.at("name") == name) return edit_in(mutant);
  throw InputError(file.string() + " has no mutant " + name);
}

CasesOfStep cases_named(const std::string& name) {
  constexpr std::pair<const char*, CasesOfStep> names[] = {
      {"plain", CasesOfStep::plain},
      {"fp8", CasesOfStep::fp8},
      {"alibi", CasesOfStep::alibi},
      {"block-sparse", CasesOfStep::block_sparse},
      {"any", CasesOfStep::any}};
  for (const auto& [known, cases] : names)
    if (name == known) return cases;
  throw InputError("there are no cases '" + name +
                   "'; there are plain, fp8, alibi, block-sparse, any");
}

LabCheck check_of(JsonObject entry) {
  LabCheck check;
  check.id = check.step = find_invariant(entry.text("id")).id;
  check.points = static_cast<int>(entry.integer("points", 1, kMostPoints));
  if (entry.has("cases")) {
    const std::string cases = entry.text("cases");
    check.cases = cases_named(cases);
    // Invariants that are about a feature have its name already.
    if (check.cases != CasesOfStep::any && !check.id.starts_with(cases))
      check.step += " (" + cases + ")";
  }
  const auto read_files = [&](const char* key, std::vector<std::string>& files) {
    if (entry.has(key))
      for (const std::string& name : text_list(entry, key))
        files.push_back((kFolder / name).string());
  };
  read_files("files", check.files);
  read_files("also", check.also);
  if (entry.has("alone")) check.alone = entry.at("alone").get<bool>();
  entry.finish();
  return check;
}

std::vector<LabCheck> checks_of(JsonObject& object, const std::string& file) {
  std::vector<LabCheck> checks;
  for (const nlohmann::json& entry : object.at("invariants"))
    checks.push_back(
        check_of(JsonObject(entry, file, "invariants[" + std::to_string(checks.size()) + "]")));
  return checks;
}

CountName count_named(const std::string& name) {
  for (const CountName& count : kCountNames)
    if (name == count.name) return count;
  throw InputError("there is no count '" + name + "'");
}

SharedInput shared_input_named(const std::string& name) {
  for (const SharedInput input : {SharedInput::query, SharedInput::logits, SharedInput::weights})
    if (name == name_of(input)) return input;
  throw InputError("transactions read no '" + name +
                   "' from shared memory; there are query, logits, weights");
}

LabTransactions transactions_of(const nlohmann::json& json) {
  LabTransactions transactions;
  transactions.points = json.at("points");
  for (const std::string name : json.at("cases"))  // a named case, or a file beside the rubric
    transactions.cases.push_back(name.ends_with(".json") ? (kFolder / name).string() : name);
  for (const nlohmann::json& name : json.at("counts"))
    transactions.counts.push_back(count_named(name));
  if (json.contains("reads")) transactions.reads = shared_input_named(json.at("reads"));
  return transactions;
}

LabLimits limits_of(JsonObject object) {
  LabLimits limits;
  const auto read = [&](const char* key, int& value) {
    if (object.has(key)) value = static_cast<int>(object.integer(key, 1, 100000));
  };
  read("compile_seconds", limits.compile_seconds);
  read("seconds", limits.seconds);
  read("seconds_per_run", limits.seconds_per_run);
  read("memory_mib", limits.memory_mib);
  object.finish();
  return limits;
}

InstanceList instances_named(const std::string& name) {
  for (const InstanceList list : {InstanceList::lab, InstanceList::mutant})
    if (name == name_of(list)) return list;
  throw InputError("there are no instances '" + name + "' for labs; there are lab, mutant");
}

Lab lab_of(JsonObject object, const std::string& name) {
  Lab lab;
  lab.name = name;
  lab.title = object.text("title");
  lab.stage = static_cast<int>(object.integer("stage", 1, 99));
  lab.source = object.text("source");
  if (object.has("instances")) lab.instances = instances_named(object.text("instances"));
  lab.task = text_list(object, "task");
  lab.files = files_of(object);
  if (lab.has_hole()) {
    lab.contract = text_list(object, "contract");
    lab.placeholder = text_list(object, "placeholder");
  } else if (object.has("mutant")) {
    JsonObject mutant = object.object("mutant");
    lab.edit = edit_of_mutant(mutant.text("group"), mutant.text("name"));
    mutant.finish();
  } else {
    lab.edit = edit_in(object.at("edit"));
  }
  lab.checks = checks_of(object, name + ".json");
  lab.transactions = transactions_of(object.at("transactions"));
  if (object.has("hints_for"))
    for (const nlohmann::json& entry : object.at("hints_for"))
      lab.hints_for.push_back(
          hint_of(JsonObject(entry, name + ".json",
                             "hints_for[" + std::to_string(lab.hints_for.size()) + "]"),
                  lab));
  lab.hints = text_list(object, "hints");
  if (lab.hints.size() != 3) object.fail("hints", "must be three");
  if (object.has("limits")) lab.limits = limits_of(object.object("limits"));
  object.finish();
  if (lab.max_score() != kMostPoints)
    object.fail("invariants", "and transactions must be worth 100 points together, not " +
                                  std::to_string(lab.max_score()));
  return lab;
}

/// "2" and "02" are the lab whose name begins with "02_".
bool is_meant(const std::string& name, const std::string& asked) {
  return name == asked || name.starts_with(asked + "_") || name.starts_with("0" + asked + "_");
}

}  // namespace

int Lab::max_score() const {
  int sum = transactions.points;
  for (const LabCheck& check : checks) sum += check.points;
  return sum;
}

std::vector<std::string> lab_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder))
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

Lab read_lab(const std::filesystem::path& file) {
  const nlohmann::json json = parse_json(content_of_input(file), file.string());
  try {
    return lab_of(JsonObject(json, file.string(), ""), file.stem().string());
  } catch (const nlohmann::json::exception& error) {
    throw InputError(file.string() + ": " + error.what());
  } catch (const InputError& error) {
    const std::string what = error.what();
    const bool names_it = what.find(file.filename().string()) != std::string::npos;
    throw InputError(names_it ? what : file.string() + ": " + what);
  }
}

Lab find_lab(const std::string& asked) {
  std::string all;
  for (const std::string& name : lab_names()) {
    all += (all.empty() ? "" : ", ") + name;
    if (is_meant(name, asked)) return read_lab(kFolder / (name + ".json"));
  }
  throw InputError("there is no lab '" + asked + "'; there are " + all);
}

std::string source_text(const std::string& path) { return content_of_input(kRoot / path); }

}  // namespace paged::labs
