#include "tests/harness/json_report.h"

#include "stages/registry.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <iostream>

namespace paged {
namespace {

/// JSON has no NaN and no infinity; a missing number says so.
nlohmann::json finite(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json();
}

template <typename Type>
nlohmann::json names_of(const std::vector<Type>& types) {
  nlohmann::json names = nlohmann::json::array();
  for (Type type : types) names.push_back(std::string(name_of(type)));
  return names;
}

nlohmann::json json_of(const Counts& counts) {
  nlohmann::json object = nlohmann::json::object();
  for (const CountName& count : kCountNames) object[count.name] = counts.*count.member;
  object["useful_bytes"] = counts.useful_bytes();
  object["moved_bytes"] = counts.moved_bytes();
  return object;
}

}  // namespace

nlohmann::json json_of_stages() {
  nlohmann::json list = nlohmann::json::array();
  for (const Stage& stage : stages(Backend::cpu)) {
    nlohmann::json backends = {"cpu"};
    if (!stages(Backend::cuda).empty()) backends.push_back("cuda");
    nlohmann::json breaks = nlohmann::json::array();
    nlohmann::json reasons = nlohmann::json::object();
    for (const BrokenPromise& broken : stage.breaks) {
      breaks.push_back(broken.invariant);
      reasons[broken.invariant] = broken.reason;
    }
    list.push_back({{"number", stage.number},
                    {"name", stage.name},
                    {"idea", stage.idea},
                    {"backends", backends},
                    {"scalars", names_of(stage.supports.scalars)},
                    {"caches", names_of(stage.supports.caches)},
                    {"probabilities", names_of(stage.supports.probabilities)},
                    {"head_sizes", stage.supports.head_sizes},
                    {"block_sizes", stage.supports.block_sizes},
                    {"promises", stage.promises},
                    {"breaks", breaks},
                    {"why_broken", reasons}});
  }
  return {{"stages", list}};
}

nlohmann::json json_of_runs(const std::vector<StageRun>& runs) {
  nlohmann::json list = nlohmann::json::array();
  for (const StageRun& run : runs)
    list.push_back({{"stage", run.stage},
                    {"number", run.stage_number},
                    {"case", run.case_name},
                    {"backend", run.backend},
                    {"passed", run.comparison.passed},
                    {"max_abs_error", finite(run.comparison.max_abs_error)},
                    {"bound_used", finite(run.comparison.bound_used)},
                    {"relative_l2", finite(run.comparison.relative_l2)},
                    {"cosine_distance", finite(run.comparison.cosine_distance)},
                    {"message", run.comparison.message},
                    {"hint", run.hint},
                    {"findings", run.faults}});
  return {{"results", list}};
}

nlohmann::json json_of_checks(const std::vector<CheckResult>& results,
                              const std::vector<NotTried>& not_tried) {
  nlohmann::json list = nlohmann::json::array();
  int passed = 0;
  for (const CheckResult& result : results) {
    passed += result.as_expected() ? 1 : 0;
    list.push_back({{"stage", result.stage},
                    {"invariant", result.invariant},
                    {"case", result.case_name},
                    {"backend", result.backend},
                    {"passed", result.verdict.held},
                    {"expected", result.expected},
                    {"as_expected", result.as_expected()},
                    {"bound_used", finite(result.verdict.bound_used)},
                    {"max_abs_error", finite(result.verdict.max_abs_error)},
                    {"message", result.verdict.message},
                    {"cause", result.verdict.cause},
                    {"broken_execution", result.verdict.broken_execution},
                    {"bits", result.verdict.record.bits}});
    if (!result.kernel_file.empty()) list.back()["kernel"] = result.kernel_file;
  }
  nlohmann::json left_out = nlohmann::json::array();
  for (const NotTried& one : not_tried)
    left_out.push_back({{"stage", one.stage},
                        {"invariant", one.invariant},
                        {"backend", one.backend},
                        {"reason", one.reason}});
  return {{"results", list},
          {"passed", passed},
          {"failed", static_cast<int>(results.size()) - passed},
          {"not_tried", left_out}};
}

nlohmann::json json_of(const Flops& flops) {
  return {
      {"flops", flops.total()},
      {"flops_by_step",
       {{"qk", flops.qk}, {"softmax", flops.softmax}, {"pv", flops.pv}, {"reduce", flops.reduce}}}};
}

nlohmann::json json_of_counts(const std::vector<CountRun>& runs) {
  nlohmann::json list = nlohmann::json::array();
  for (const CountRun& run : runs) {
    nlohmann::json phases = nlohmann::json::array();
    for (const CountedPhase& phase : kCountedPhases) {
      const Counts& counted = run.counted.phases[phase];
      const Counts predicted = run.predicted ? (*run.predicted)[phase] : Counts{};
      if (counted == Counts{} && predicted == Counts{}) continue;
      phases.push_back({{"name", name_of(phase)},
                        {"predicted", run.predicted ? json_of(predicted) : nlohmann::json()},
                        {"counted", json_of(counted)}});
    }
    nlohmann::json lines = nlohmann::json::array();
    for (const CountedLine& line : run.counted.lines)
      lines.push_back(
          {{"line", line.line}, {"phase", name_of(line.phase)}, {"counted", json_of(line.counts)}});
    list.push_back({{"number", run.stage_number},
                    {"stage", run.stage},
                    {"case", run.case_name},
                    {"equal", run.held()},
                    {"complete", run.counted.complete},
                    {"predicted", run.flops ? json_of(*run.flops) : nlohmann::json()},
                    {"phases", phases},
                    {"lines", lines},
                    {"findings", run.faults}});
  }
  return {{"stages", list}};
}

JsonFile::JsonFile(const std::optional<std::string>& file) {
  to_standard_output_ = file == "-";
  if (file && !to_standard_output_) file_ = std::make_unique<OutputFile>(*file);
}

void JsonFile::write(const nlohmann::json& content) {
  // Names of files need not be UTF-8; what isn't is replaced.
  const auto text = [&] {
    return content.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  };
  if (to_standard_output_) std::cout << text();
  if (file_) file_->commit(text());
}

}  // namespace paged
