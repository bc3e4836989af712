#include "tests/harness/plugin.h"

#include "reference/input_error.h"
#include "tests/harness/host_device.h"
#include "tests/harness/plugin_description.h"
#include "tests/harness/plugin_library.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <memory>
#include <utility>

namespace paged {
namespace {

/// The device of a kernel that isn't run here.
class AbsentDevice : public Device {
 public:
  explicit AbsentDevice(Backend backend) : backend_(backend) {
    limits_ = {"the kernel's device", ~std::size_t{0}};
  }
  Backend backend() const override { return backend_; }
  const DeviceLimits& limits() const override { return limits_; }
  bool watches_accesses() const override { return false; }
  void* allocate(std::size_t, const std::string&) override { throw absent(); }
  void release(void*) override {}
  void upload(void*, const void*, std::size_t) override { throw absent(); }
  void download(void*, const void*, std::size_t) override { throw absent(); }
  void forget(void*, std::size_t) override { throw absent(); }
  void finish() override { throw absent(); }
  std::vector<Finding> take_findings() override { return {}; }

 private:
  static DeviceError absent() { return DeviceError("this process runs no kernel of a library"); }
  Backend backend_;
  DeviceLimits limits_;
};

/// dlopen() looks elsewhere for a name without a slash.
std::string absolute_path(const std::string& file) { return std::filesystem::absolute(file); }

// ---- numbers as fields of messages --------------------------------------------------------------
std::string field_of(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%a", value);  // to the bit
  return text;
}
double number_in(const std::string& field) { return std::strtod(field.c_str(), nullptr); }
std::string field_of(bool value) { return value ? "1" : "0"; }

constexpr std::size_t kVerdictFields = 11;
/// Of all texts of a message: a kernel's own words can be long.
constexpr std::size_t kMostTextBytes = std::size_t{64} << 20;

Message message_of(const Verdict& v) {
  return {field_of(v.held),
          field_of(v.faulty),
          field_of(v.max_abs_error),
          field_of(v.bound_used),
          v.message,
          v.broken_execution,
          v.cause,
          v.record.bits,
          field_of(v.record.seconds),
          field_of(v.cause_shows_in_one_token),
          field_of(v.is_unexplained)};
}

/// Of a message that makes sense, as all that is taken out of one.
Verdict verdict_in(const Message& message) {
  Verdict verdict;
  verdict.held = message.at(0) == "1";
  verdict.faulty = message.at(1) == "1";
  verdict.max_abs_error = number_in(message.at(2));
  verdict.bound_used = number_in(message.at(3));
  verdict.message = message.at(4);
  verdict.broken_execution = message.at(5);
  verdict.cause = message.at(6);
  verdict.record = {message.at(7), number_in(message.at(8))};
  verdict.cause_shows_in_one_token = message.at(9) == "1";
  verdict.is_unexplained = message.at(10) == "1";
  return verdict;
}

// ---- what a message may be ----------------------------------------------------------------------
std::string wrong_field(std::size_t i, const char* due) {
  return "field " + std::to_string(i) + " is no " + due;
}

std::string wrong_count(const Message& message, const std::string& due) {
  return "a message of " + std::to_string(message.size()) + " fields, where " + due + " are due";
}

bool is_flag(const std::string& field) { return field == "0" || field == "1"; }

bool is_number(const std::string& field) {
  char* end = nullptr;
  std::strtod(field.c_str(), &end);
  return !field.empty() && end == field.c_str() + field.size();
}

bool is_id_or_nothing(const std::string& field) {
  return field.empty() || std::any_of(invariants().begin(), invariants().end(),
                                      [&](const Invariant& known) { return known.id == field; });
}

bool is_hash_or_nothing(const std::string& field) {
  return field.find_first_not_of("0123456789abcdef") == field.npos &&
         (field.empty() || field.size() == 16);
}

/// Of the first fields.
std::string complaint_about_verdict(const Message& message) {
  if (message.size() < kVerdictFields) return wrong_count(message, std::to_string(kVerdictFields));
  for (const std::size_t i : {0, 1, 9, 10})
    if (!is_flag(message[i])) return wrong_field(i, "flag");
  for (const std::size_t i : {2, 3, 8})
    if (!is_number(message[i])) return wrong_field(i, "number");
  if (!is_id_or_nothing(message[5])) return wrong_field(5, "id of an invariant");
  if (!is_hash_or_nothing(message[7])) return wrong_field(7, "hash");
  return "";
}

/// A verdict for each try that is left, until one is faulty.
class VerdictRule {
 public:
  explicit VerdictRule(std::size_t tries) : left_(tries) {}
  std::string complaint(const Message& message) {
    const bool ends = left_ == 0 || last_was_faulty_;
    if (message.empty()) return ends ? "" : "it ended before it had tried everything";
    if (ends) return "more verdicts than tries";
    if (message.size() != kVerdictFields)
      return wrong_count(message, std::to_string(kVerdictFields));
    const std::string wrong = complaint_about_verdict(message);
    last_was_faulty_ = message[1] == "1";
    --left_;
    return wrong;
  }

 private:
  std::size_t left_;
  bool last_was_faulty_ = false;
};

constexpr std::size_t kDescriptionFields = 7;

MessageRule description_rule() {
  const auto complaint = [](const Message& message) -> std::string {
    if (message.size() == 1) return "";  // why it cannot be used
    if (message.size() != kDescriptionFields)
      return wrong_count(message, "1 or " + std::to_string(kDescriptionFields));
    if (message[1].size() != sizeof(paged_kernel_description)) return wrong_field(1, "description");
    return is_flag(message[5]) ? "" : wrong_field(5, "flag");
  };
  return {kDescriptionFields, kMostTextBytes, complaint};
}

/// A verdict, two measures, the output, and any number of findings.
constexpr std::size_t kRunFields = kVerdictFields + 3;
constexpr std::size_t kOutputField = kRunFields - 1;

MessageRule run_rule(std::size_t output_bytes) {
  constexpr std::size_t kMostFindings = 10'000;
  const auto complaint = [output_bytes](const Message& message) -> std::string {
    if (message.size() == 1) return "";  // why there is no result
    if (message.size() < kRunFields)
      return wrong_count(message, "1 or at least " + std::to_string(kRunFields));
    for (const std::size_t i : {kVerdictFields, kVerdictFields + 1})
      if (!is_number(message[i])) return wrong_field(i, "number");
    if (message[kOutputField].size() != output_bytes)
      return "an output of " + std::to_string(message[kOutputField].size()) + " bytes, where " +
             std::to_string(output_bytes) + " are due";
    return complaint_about_verdict(message);
  };
  return {kRunFields + kMostFindings, output_bytes + kMostTextBytes, complaint};
}

/// A failure for which the kernel, not its result, is to blame.
Verdict faulty(std::string message) {
  Verdict verdict = Verdict::fail(std::move(message));
  verdict.faulty = true;
  return verdict;
}

/// Which block would be where an access missed a cache; "" if that says nothing.
std::string block_meant(const ProcessEnd& end, const DecodeProblem& problem) {
  const bool keys = end.buffer == "key_cache";
  if (!keys && end.buffer != "value_cache") return "";
  const std::size_t bytes = (keys ? problem.key_cache : problem.value_cache).size_in_bytes();
  // A buffer of another size has gaps between its blocks.
  if (problem.num_blocks() == 0 || bytes != end.buffer_bytes) return "";
  const auto block_bytes = static_cast<std::int64_t>(bytes) / problem.num_blocks();
  if (end.bytes_past < 0)
    return end.bytes_past >= -block_bytes
               ? ", where block -1 would be: is a table entry behind a sequence's last page used?"
               : "";
  const std::int64_t block = problem.num_blocks() + end.bytes_past / block_bytes;
  return ", where block " + std::to_string(block) + " would be; there are 0 to " +
         std::to_string(problem.num_blocks() - 1);
}

Verdict verdict_of(const ProcessEnd& end, const DecodeProblem& problem) {
  Verdict verdict = faulty("the kernel " + end.whole_text(block_meant(end, problem)));
  if (end.bad_access) verdict.broken_execution = "in-bounds";
  return verdict;
}

// ---- in the kernel's process --------------------------------------------------------------------
/// Loads the library, describes it and looks for its device; sends what came of it.
void describe_to_parent(const std::string& file, ParentLine& line) {
  try {
    line.call_begins();
    const PluginLibrary library = open_library(file);
    DescriptionTexts texts;
    const paged_kernel_description description = describe(library, texts);
    line.call_ends();
    const std::string why_no_device =
        description.memory == PAGED_CUDA_MEMORY ? why_no_cuda_device() : "";
    line.send({"", std::string(reinterpret_cast<const char*>(&description), sizeof description),
               texts.name, texts.promises, texts.breaks, field_of(texts.has_promises),
               why_no_device});
  } catch (const std::exception& error) {
    line.send({error.what()});
  }
}

/// The kernel in the process that may run it.
class LoadedPlugin {
 public:
  LoadedPlugin(const Plugin& plugin, ParentLine& line)
      : device_(plugin.backend == Backend::cuda ? make_device(Backend::cuda)
                                                : std::make_unique<HostDevice>()) {
    if (const auto* host = dynamic_cast<const HostDevice*>(device_.get()))
      line.locate_faults_on(*host);
    line.call_begins();
    const PluginLibrary library = open_library(absolute_path(plugin.file));
    line.call_ends();
    stage_ = runnable(plugin.stage, library, *device_, line, plugin.limits.data_bytes);
    kernel_ = std::make_unique<KernelUnderTest>(stage_, *device_);
  }
  KernelUnderTest& kernel() { return *kernel_; }

 private:
  std::unique_ptr<Device> device_;
  Stage stage_;
  std::unique_ptr<KernelUnderTest> kernel_;
};

/// What went wrong so that a run has no result, as a verdict.
Verdict try_here(KernelUnderTest& kernel, const PlannedTry& planned, std::uint64_t seed) {
  try {
    return try_invariant(*planned.invariant, kernel, *planned.c.get(), seed);
  } catch (const std::exception& error) {
    return faulty(error.what());
  }
}

/// Verdicts from `first` on, until one shows that this process may no longer be sound: a kernel
/// that wrote where it must not, a CUDA context that an error has spoilt.
void try_from(const Plugin& plugin, const std::vector<PlannedTry>& tries, std::size_t first,
              std::uint64_t seed, ParentLine& line) {
  LoadedPlugin loaded(plugin, line);
  for (std::size_t i = first; i < tries.size(); ++i) {
    const Verdict verdict = try_here(loaded.kernel(), tries[i], seed);
    line.send(message_of(verdict));
    if (verdict.faulty) return;
  }
}

void run_to_parent(const Plugin& plugin, const Case& c, ParentLine& line) {
  LoadedPlugin loaded(plugin, line);
  StageRun run;
  try {
    run = run_on_case(loaded.kernel(), c);
  } catch (const std::exception& error) {
    line.send({error.what()});
    return;
  }
  const Tensor& output = run.outputs.output;
  Message message = message_of(Verdict{run.comparison.passed, run.comparison.message,
                                       run.comparison.max_abs_error, run.comparison.bound_used});
  message.push_back(field_of(run.comparison.relative_l2));
  message.push_back(field_of(run.comparison.cosine_distance));
  message.emplace_back(reinterpret_cast<const char*>(output.data()), output.size_in_bytes());
  message.insert(message.end(), run.faults.begin(), run.faults.end());
  line.send(message);
}

// ---- in ours ------------------------------------------------------------------------------------
/// Index of the first try of another invariant.
std::size_t next_invariant(const std::vector<PlannedTry>& tries, std::size_t i) {
  const Invariant* const invariant = tries[i].invariant;
  while (i < tries.size() && tries[i].invariant == invariant) ++i;
  return i;
}

/// Lists what is left out from `first` on, once for each invariant, all of which were begun or
/// none.
void leave_out(const std::vector<PlannedTry>& tries, std::size_t first, std::size_t last,
               bool begun, const std::string& why, std::vector<NotTried>& not_tried) {
  for (std::size_t i = first; i < last;) {
    const std::size_t next = std::min(next_invariant(tries, i), last);
    NotTried left_out;
    left_out.invariant = tries[i].invariant->id;
    left_out.reason = std::to_string(next - i) + (next - i == 1 ? " case" : " cases") + ", " + why;
    if (begun) left_out.cases_not_reached = static_cast<int>(next - i);
    not_tried.push_back(std::move(left_out));
    i = next;
  }
}

}  // namespace

Plugin load_plugin(const std::string& file, const CallLimits& limits) {
  const auto refuse = [&](const std::string& why) {
    throw InputError("--kernel is '" + file + "': " + why);
  };
  std::error_code error;
  if (!std::filesystem::exists(file, error))
    refuse("there is no such file; compile one first, as walkthroughs/your_own_kernel does");
  if (!std::filesystem::is_regular_file(file, error)) refuse("it is no file");
  IsolatedProcess process(limits,
                          [&](ParentLine& line) { describe_to_parent(absolute_path(file), line); });
  const std::optional<Message> message = process.receive(description_rule());
  if (!message) refuse("while it was loaded and described, it " + process.end()->whole_text());
  if (message->size() == 1) refuse(message->front());
  paged_kernel_description description;
  std::memcpy(&description, message->at(1).data(), sizeof description);
  Plugin plugin{file, limits, Backend::cpu, {}};
  try {
    plugin.stage = stage_described_by(
        description, {message->at(2), message->at(3), message->at(4), message->at(5) == "1"});
  } catch (const InputError& wrong) {
    refuse(wrong.what());
  }
  if (description.memory == PAGED_CUDA_MEMORY) {
    plugin.backend = Backend::cuda;
    plugin.limits.data_bytes = 0;  // CUDA takes address space as it likes
    if (const std::string& why = message->at(6); !why.empty())
      refuse("it takes pointers of a CUDA device; " + why);
  }
  return plugin;
}

PluginCheck check_plugin(const Plugin& plugin, const CheckRequest& request,
                         const std::function<void(const PlannedTry&)>& trying) {
  AbsentDevice absent(plugin.backend);
  const KernelUnderTest kernel(plugin.stage, absent);
  const CheckPlan plan = plan_checks(kernel, request);
  PluginCheck check{{}, plan.not_tried, plan.cases_left_out};
  std::size_t next = 0;
  FirstFailure first(plan);
  const auto add = [&](Verdict verdict) {
    CheckResult result = result_of(kernel, plan.tries[next++], std::move(verdict));
    result.kernel_file = plugin.file;
    first.take(result);
    check.results.push_back(std::move(result));
  };
  constexpr int kMostHangs = 3;
  int hangs = 0;
  while (next < plan.tries.size()) {
    IsolatedProcess process(plugin.limits, [&](ParentLine& line) {
      try_from(plugin, plan.tries, next, request.seed, line);
    });
    VerdictRule verdicts(plan.tries.size() - next);
    const MessageRule rule{kVerdictFields, kMostTextBytes,
                           [&](const Message& message) { return verdicts.complaint(message); }};
    const auto next_message = [&]() -> std::optional<Message> {
      if (first.ends_before(next)) return {};
      if (trying && next < plan.tries.size()) trying(plan.tries[next]);
      return process.receive(rule);
    };
    while (const std::optional<Message> message = next_message()) add(verdict_in(*message));
    if (first.ends_before(next)) break;
    if (!process.end()) continue;
    if (next == plan.tries.size()) {  // it ended badly after its last verdict, which goes
      check.results.pop_back();
      --next;
    }
    const std::size_t after = next_invariant(plan.tries, next);
    add(verdict_of(*process.end(), plan.tries[next].c.get()->problem));
    if (first.ends_before(next)) break;
    leave_out(
        plan.tries, next, after, true,
        "left out after the one before " + std::string(process.end()->hung ? "hung" : "ended"),
        check.not_tried);
    next = after;
    hangs += process.end()->hung ? 1 : 0;
    if (hangs < kMostHangs) continue;
    leave_out(plan.tries, next, plan.tries.size(), false,
              "left out after " + std::to_string(kMostHangs) + " calls that did not return",
              check.not_tried);
    break;
  }
  if (first.ends_before(next))
    for (NotTried& left_out : left_out_after(kernel, plan, next))
      check.not_tried.push_back(std::move(left_out));
  for (NotTried& left_out : check.not_tried) {
    left_out.stage = plugin.stage.name;
    left_out.backend = name_of(plugin.backend);
  }
  return check;
}

StageRun run_plugin_on_case(const Plugin& plugin, const Case& c) {
  AbsentDevice absent(plugin.backend);
  KernelUnderTest(plugin.stage, absent).check_supported(c.problem);
  StageRun run;
  run.stage = plugin.stage.name;
  run.case_name = c.name;
  run.backend = name_of(plugin.backend);
  IsolatedProcess process(plugin.limits, [&](ParentLine& line) { run_to_parent(plugin, c, line); });
  run.outputs.output = Tensor(same_as(c.problem.scalar), c.problem.query.shape());
  const std::optional<Message> message =
      process.receive(run_rule(run.outputs.output.size_in_bytes()));
  if (!message || message->size() == 1) {
    run.outputs.output = {};
    run.comparison.passed = false;
    run.faults = {message ? message->front()
                          : "the kernel " +
                                process.end()->whole_text(block_meant(*process.end(), c.problem))};
    return run;
  }
  const Verdict verdict = verdict_in(*message);
  run.comparison.passed = verdict.held;
  run.comparison.message = verdict.message;
  run.comparison.max_abs_error = verdict.max_abs_error;
  run.comparison.bound_used = verdict.bound_used;
  run.comparison.relative_l2 = number_in(message->at(kVerdictFields));
  run.comparison.cosine_distance = number_in(message->at(kVerdictFields + 1));
  const std::string& output = message->at(kOutputField);
  std::memcpy(run.outputs.output.data(), output.data(), output.size());
  run.faults.assign(message->begin() + kRunFields, message->end());
  return run;
}

}  // namespace paged
