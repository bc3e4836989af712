// The table of stages: what each adds, how many invariants it keeps, which it breaks, its time.
#include "reference/input_error.h"
#include "stages/registry.h"
#include "tests/harness/input_file.h"
#include "walkthroughs/pages/page_blocks.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <vector>

namespace paged {
namespace {

using nlohmann::json;

/// A file of docs/measurements with every stage's time on one shape.
struct MeasuredStages {
  std::string shape;
  json results;
};

MeasuredStages measured_stages(const std::string& file, const PagePlace& place) {
  const json content =
      json::parse(content_of_input(place.root / file), nullptr, /*allow_exceptions=*/false);
  if (!content.is_object() || !content.contains("results") || content["results"].empty())
    throw InputError(file + " is no file of results");
  try {
    return {content["results"][0].at("shape"), content["results"]};
  } catch (const json::exception&) {
    throw InputError(file + " has a result without a shape");
  }
}

/// In microseconds, f16, with as many KV heads as query heads, as the stage runs if it is left alone.
std::string time_of(const Stage& stage, const MeasuredStages& measured) {
  for (const json& result : measured.results)
    if (result.value("stage", "") == stage.name && result.value("variant", "") == "auto" &&
        result.value("type", "") == "f16" &&
        result.value("num_heads", 0) == result.value("num_kv_heads", 1) &&
        result.value("microseconds", 0.0) > 0)
      return std::to_string(std::lround(result.at("microseconds").get<double>()));
  throw InputError("no time of stage " + stage.name + " at " + measured.shape);
}

std::string link_to(const std::string& text, const std::string& file, const PagePlace& place) {
  if (!exists(place.root / file)) throw InputError("there is no " + file);
  return "[" + text + "](" +
         std::filesystem::relative(place.root / file, place.page.parent_path()).generic_string() +
         ")";
}

std::string links_of(const Stage& stage, const PagePlace& place) {
  std::string id = "0" + std::to_string(stage.number) + "_" + stage.name;
  std::replace(id.begin(), id.end(), '-', '_');
  const std::string page = link_to(stage.name, "walkthroughs/" + id + "/README.md", place);
  const std::string source = link_to("source", "stages/stage_" + id + ".cu", place);
  return std::to_string(stage.number) + " " + page + " (" + source + ")";
}

std::string broken_by(const Stage& stage) {
  std::string ids;
  for (const BrokenPromise& broken : stage.breaks)
    ids += (ids.empty() ? "`" : ", `") + broken.invariant + "`";
  return ids.empty() ? "–" : ids;
}

}  // namespace

std::string stage_table_lines(const MarkedBlock& block, const PagePlace& place) {
  std::vector<MeasuredStages> measured;
  std::istringstream files(block.argument);
  for (std::string file; files >> file;) measured.push_back(measured_stages(file, place));

  std::string text = "| stage | adds | keeps | knowingly breaks |";
  std::string rule = "| --- | --- | --- | --- |";
  for (const MeasuredStages& file : measured) {
    text += " µs, " + file.shape + " |";
    rule += " --- |";
  }
  text += "\n" + rule + "\n";
  for (const Stage& stage : stages(Backend::cpu)) {
    text += "| " + links_of(stage, place) + " | " + stage.idea + " | " +
            std::to_string(stage.promises.size()) + " | " + broken_by(stage) + " |";
    for (const MeasuredStages& file : measured) text += " " + time_of(stage, file) + " |";
    text += "\n";
  }
  return text;
}

}  // namespace paged
