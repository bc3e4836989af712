#include "tests/mutants/recipe.h"

#include "reference/decode_attention.h"
#include "reference/input_error.h"
#include "tests/harness/random.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

namespace paged {
namespace {

/// Set by the build: this folder of the source tree.
const std::filesystem::path kFile = std::filesystem::path(PAGED_MUTANTS_DIRECTORY) / "recipes.json";

RecipeComparison comparison_of(const nlohmann::json& json) {
  RecipeComparison comparison;
  comparison.absolute = json.at("absolute");
  comparison.relative = json.value("relative", 0.0);
  comparison.either = json.value("either", false);
  comparison.accepts_nan = json.value("accepts_nan", false);
  if (json.contains("cosine")) comparison.cosine = json.at("cosine").get<double>();
  if (json.contains("lse_absolute")) {
    comparison.lse_absolute = json.at("lse_absolute").get<double>();
    comparison.lse_relative = json.at("lse_relative").get<double>();
  }
  return comparison;
}

/// A case of recipes.json: a case file's keys under "case", and what case files do not have.
RecipeCase case_of(const nlohmann::json& json, const nlohmann::json& recipe,
                   const std::string& origin) {
  const auto member = [&](const char* name) {
    return json.contains(name) ? json.at(name) : recipe.at(name);
  };
  RecipeCase one;
  one.spec = parse_case(json.at("case").dump(), origin, kFile.parent_path());
  one.distribution = member("distribution");
  if (one.distribution != "uniform" && one.distribution != "normal")
    throw InputError(origin + ": \"distribution\" is \"" + one.distribution +
                     "\"; it must be uniform or normal");
  one.width = member("width");
  one.blocks_may_repeat = recipe.value("blocks_may_repeat", false);
  one.comparison = comparison_of(member("comparison"));
  return one;
}

Recipe recipe_of(const nlohmann::json& json) {
  Recipe recipe;
  recipe.name = json.at("name");
  recipe.who = json.at("who");
  recipe.inputs = json.at("inputs");
  recipe.acceptance = json.at("acceptance");
  for (const nlohmann::json& one : json.at("cases"))
    recipe.cases.push_back(case_of(one, json, "the recipe " + recipe.name));
  return recipe;
}

/// Fills a tensor from the distribution; `scale` is what a cache is multiplied by when it is read.
void fill(Tensor& tensor, const RecipeCase& one, double scale, std::uint64_t seed) {
  Random random(seed);
  for (std::int64_t i = 0; i < tensor.size(); ++i)
    tensor.write(i,
                 one.width / scale *
                     (one.distribution == "uniform" ? 2 * random.uniform() - 1 : random.normal()));
}

DecodeProblem problem_of(const RecipeCase& one) {
  DecodeProblem problem = build_case(one.spec).problem;
  fill(problem.query, one, 1, 101);
  fill(problem.key_cache, one, problem.k_scale, 102);
  fill(problem.value_cache, one, problem.v_scale, 103);
  if (one.blocks_may_repeat) {
    Random random(104);
    for (std::int32_t& block : problem.block_tables)
      block = static_cast<std::int32_t>(random.below(problem.num_blocks()));
  }
  // Poison goes over what the distribution has put there.
  if (one.spec.poison.tail) poison_tails(problem, *one.spec.poison.tail);
  if (one.spec.poison.free_blocks)
    poison_blocks(problem, blocks_of(problem, all_seqs(problem)), *one.spec.poison.free_blocks);
  problem.validate();
  return problem;
}

bool is_number(double value) { return std::isfinite(value); }

bool element_passes(double got, double expected, const RecipeComparison& comparison) {
  if (std::isnan(got) || std::isnan(expected))
    return comparison.accepts_nan || (std::isnan(got) && std::isnan(expected));
  if (!is_number(got) || !is_number(expected)) return got == expected;
  const double error = std::abs(got - expected);
  const double relative = comparison.relative * std::abs(expected);
  return comparison.either ? error < comparison.absolute || error < relative
                           : error <= comparison.absolute + relative;
}

double cosine_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double product = 0;
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!is_number(a[i]) || !is_number(b[i])) continue;  // compared one by one
    product += a[i] * b[i];
    squares += a[i] * a[i] + b[i] * b[i];
  }
  return squares == 0 ? 0 : 1 - 2 * product / squares;
}

bool passes(const DecodeOutputs& got, const std::vector<double>& output,
            const std::vector<double>& lse, const RecipeComparison& comparison) {
  std::vector<double> values(output.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = got.output.read(static_cast<std::int64_t>(i));
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!element_passes(values[i], output[i], comparison)) return false;
  if (comparison.cosine && std::abs(cosine_difference(values, output)) > *comparison.cosine)
    return false;
  if (!comparison.lse_absolute) return true;
  RecipeComparison of_lse = comparison;
  of_lse.absolute = *comparison.lse_absolute;
  of_lse.relative = *comparison.lse_relative;
  for (std::size_t i = 0; i < lse.size(); ++i)
    if (!element_passes(got.lse[i], lse[i], of_lse)) return false;
  return true;
}

/// Findings after which the CPU machine abandons the launch.
bool stops(const std::string& fault) {
  const FindingKind kinds[] = {FindingKind::out_of_bounds_read, FindingKind::out_of_bounds_write,
                               FindingKind::misaligned_access,  FindingKind::barrier_divergence,
                               FindingKind::barrier_after_exit, FindingKind::deadlock,
                               FindingKind::stack_overflow};
  return std::any_of(std::begin(kinds), std::end(kinds),
                     [&](FindingKind kind) { return fault.starts_with(name_of(kind)); });
}

/// The sizes that a stage is tried in: those of its list, if that has only one.
std::pair<int, int> sizes_of(InstanceList list) {
  return {list == InstanceList::mutant_ragged ? 120 : 64,
          list == InstanceList::mutant_small_pages ? 8 : 16};
}

}  // namespace

std::vector<Recipe> read_recipes() {
  std::ifstream stream(kFile);
  try {
    std::vector<Recipe> recipes;
    const nlohmann::json json = nlohmann::json::parse(stream);
    for (const nlohmann::json& one : json.at("recipes")) recipes.push_back(recipe_of(one));
    return recipes;
  } catch (const nlohmann::json::exception& error) {
    throw InputError(kFile.string() + ": " + error.what());
  }
}

const std::vector<PreparedRecipe::Prepared>& PreparedRecipe::cases_of(Sizes sizes) {
  const auto [entry, is_new] = cases_.try_emplace(sizes);
  if (!is_new) return entry->second;
  for (RecipeCase one : recipe_.cases) {
    one.spec.head_size = sizes.first;
    one.spec.block_size = sizes.second;
    const CacheType cache = one.spec.cache.value_or(same_as(one.spec.scalar));
    if (!can_exist(one.spec.scalar, cache, one.spec.head_size)) continue;
    Prepared prepared{problem_of(one), {}, {}, one.comparison};
    for (const HeadAttention& head : decode_attention(prepared.problem)) {
      prepared.lse.push_back(head.lse);
      for (Eigen::Index dim = 0; dim < head.output.size(); ++dim)
        prepared.output.push_back(head.output[dim]);
    }
    entry->second.push_back(std::move(prepared));
  }
  return entry->second;
}

bool PreparedRecipe::catches(const Stage& stage, Device& device) {
  KernelUnderTest kernel(stage, device);
  for (const Prepared& prepared : cases_of(sizes_of(stage.supports.instances))) {
    if (!kernel.supports(prepared.problem)) continue;
    const DecodeOutputs outputs = kernel.run(prepared.problem);
    const std::vector<std::string> faults = kernel.take_faults();
    if (std::any_of(faults.begin(), faults.end(), stops)) return true;
    if (!passes(outputs, prepared.output, prepared.lse, prepared.comparison)) return true;
  }
  return false;
}

}  // namespace paged
