#include "tests/mutants/mutant.h"

#include "reference/input_error.h"
#include "tests/harness/input_file.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>

namespace paged {
namespace {

/// Set by the build: this folder of the source tree.
const std::filesystem::path kFolder = PAGED_MUTANTS_DIRECTORY;

const MutantKernel* kernel_of(const std::string& name) {
  for (const MutantKernel& kernel : mutant_kernels())
    if (name == kernel.name) return &kernel;
  return nullptr;
}

InstanceList instances_named(const std::string& name) {
  for (const InstanceList list : {InstanceList::mutant, InstanceList::mutant_fp8,
                                  InstanceList::mutant_ragged, InstanceList::mutant_small_pages})
    if (name == name_of(list)) return list;
  throw InputError("there are no mutants for the instances '" + name + "'");
}

/// Throws InputError if a mutant repeats a bug that is not in the list.
void check_bugs(const Mutant& mutant) {
  static const std::vector<KnownBug> known = read_known_bugs();
  for (const int number : mutant.bugs)
    if (std::none_of(known.begin(), known.end(),
                     [&](const KnownBug& bug) { return bug.number == number; }))
      throw InputError("the mutant " + mutant.name + " repeats bug " + std::to_string(number) +
                       ", which tests/mutants/bugs.json does not have");
}

Mutant mutant_of(const nlohmann::json& json, const std::string& group,
                 const nlohmann::json& of_group) {
  Mutant mutant;
  mutant.group = group;
  mutant.name = json.at("name");
  mutant.mistake = json.at("mistake");
  mutant.file = json.at("file");
  mutant.text = json.at("text");
  mutant.replacement = json.at("replacement");
  mutant.nth = json.value("nth", 0);
  mutant.source = json.value("source", of_group.at("source").get<std::string>());
  mutant.instances = instances_named(json.value("instances", name_of(mutant.instances)));
  mutant.expected = json.value("expected", std::vector<std::string>());
  mutant.meant = json.value("meant", "");
  mutant.causes = json.value("cause", std::vector<std::string>());
  mutant.why_no_cause =
      json.value("no_cause", mutant.causes.empty() ? of_group.value("no_cause", "") : "");
  mutant.has_unexplained_weights = json.value("unexplained_weights", false);
  if (json.contains("unexplained_weights") && !mutant.causes.empty())
    throw InputError(
        "the mutant " + mutant.name +
        " has \"unexplained_weights\" beside \"cause\", where they are not looked at; leave "
        "one of them out");
  mutant.bugs = json.value("bugs", std::vector<int>());
  check_bugs(mutant);
  mutant.proof = json.value("proof", "");
  if (mutant.proof.empty() == mutant.expected.empty())
    throw InputError("the mutant " + mutant.name + " must have either \"expected\" or \"proof\"");
  if (mutant.proof.empty() && mutant.causes.empty() == mutant.why_no_cause.empty())
    throw InputError("the mutant " + mutant.name + " must have either \"cause\" or \"no_cause\"");
  mutant.kernel = kernel_of(mutant.name);
  if (mutant.kernel == nullptr)
    throw InputError("the mutant " + mutant.name + " is not in this build; build it again");
  return mutant;
}

}  // namespace

std::filesystem::path source_root() { return kFolder.parent_path().parent_path(); }

const std::vector<std::string>& mutant_groups() {
  static const std::vector<std::string> groups = {"page_walk",        "addresses", "qk",
                                                  "softmax",          "pv",        "partitions",
                                                  "cache_operations", "equivalent"};
  return groups;
}

std::vector<Mutant> read_mutants(const std::string& group) {
  const std::filesystem::path file = kFolder / (group + ".json");
  std::ifstream stream(file);
  if (!stream) {
    std::string groups;
    for (const std::string& known : mutant_groups()) groups += (groups.empty() ? "" : ", ") + known;
    throw InputError("there is no group of mutants '" + group + "'; there are " + groups);
  }
  try {
    const nlohmann::json json = nlohmann::json::parse(stream);
    std::vector<Mutant> mutants;
    for (const nlohmann::json& one : json.at("mutants"))
      mutants.push_back(mutant_of(one, group, json));
    return mutants;
  } catch (const nlohmann::json::exception& error) {
    throw InputError(file.string() + ": " + error.what());
  }
}

std::vector<KnownBug> read_known_bugs() {
  const nlohmann::json json = nlohmann::json::parse(content_of_input(kFolder / "bugs.json"));
  std::vector<KnownBug> bugs;
  for (const nlohmann::json& one : json.at("bugs"))
    bugs.push_back({one.at("number"), one.at("what"), one.value("instead", "")});
  return bugs;
}

}  // namespace paged
