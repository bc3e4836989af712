#include "tests/mutants/mutant.h"

#include "reference/input_error.h"

#include <nlohmann/json.hpp>

#include <filesystem>
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

Mutant mutant_of(const nlohmann::json& json, const std::string& group,
                 const std::string& default_source) {
  Mutant mutant;
  mutant.group = group;
  mutant.name = json.at("name");
  mutant.mistake = json.at("mistake");
  mutant.file = json.at("file");
  mutant.source = json.value("source", default_source);
  mutant.instances = instances_named(json.value("instances", name_of(mutant.instances)));
  mutant.expected = json.value("expected", std::vector<std::string>());
  mutant.meant = json.value("meant", "");
  mutant.causes = json.value("cause", std::vector<std::string>());
  mutant.why_no_cause = json.value("no_cause", "");
  mutant.bugs = json.value("bugs", std::vector<int>());
  mutant.proof = json.value("proof", "");
  if (mutant.proof.empty() == mutant.expected.empty())
    throw InputError("the mutant " + mutant.name + " must have either \"expected\" or \"proof\"");
  mutant.kernel = kernel_of(mutant.name);
  if (mutant.kernel == nullptr)
    throw InputError("the mutant " + mutant.name + " is not in this build; build it again");
  return mutant;
}

}  // namespace

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
      mutants.push_back(mutant_of(one, group, json.at("source")));
    return mutants;
  } catch (const nlohmann::json::exception& error) {
    throw InputError(file.string() + ": " + error.what());
  }
}

}  // namespace paged
