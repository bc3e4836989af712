#include "walkthroughs/labs/trial.h"

#include "reference/input_error.h"
#include "tests/harness/comparison.h"
#include "tests/harness/count_run.h"
#include "tests/harness/invariant.h"
#include "tests/harness/likely_cause.h"
#include "tests/harness/named_cases.h"
#include "walkthroughs/labs/case_words.h"
#include "walkthroughs/labs/failure_words.h"
#include "walkthroughs/labs/possible_counts.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace paged::labs {
namespace {

using Announce = std::function<void(const std::string&)>;

/// One case of an invariant. A launch that is refused is a failure like any other.
Verdict verdict_on(const Invariant& invariant, KernelUnderTest& kernel, const Case& c,
                   std::uint64_t seed) {
  try {
    return try_invariant(invariant, kernel, c, seed);
  } catch (const DeviceError& error) {
    return Verdict::fail(error.what());
  } catch (const InputError& error) {
    return Verdict::fail(error.what());
  }
}

/// Whether a step is tried on a case.
bool is_among(CasesOfStep cases, const CaseSpec& spec) {
  if (cases == CasesOfStep::any) return true;
  const bool fp8 = spec.cache && is_fp8(*spec.cache);
  const bool alibi = !spec.alibi_slopes.empty();
  const bool sparse = spec.block_sparse.active();
  return fp8 == (cases == CasesOfStep::fp8) && alibi == (cases == CasesOfStep::alibi) &&
         sparse == (cases == CasesOfStep::block_sparse);
}

/// The cases that a step is tried on.
std::vector<CaseSpec> cases_of(const LabCheck& step, const Invariant& invariant,
                               std::uint64_t seed) {
  std::vector<CaseSpec> specs;
  if (step.files.empty()) specs = invariant.cases(ScalarType::f16, seed);
  for (const std::vector<std::string>& files : {step.files, step.also})
    for (const std::string& file : files) specs.push_back(find_case(file));
  std::erase_if(specs, [&](const CaseSpec& spec) { return !is_among(step.cases, spec); });
  return specs;
}

/// Whether a failure is worth another look: its weights are wrong, and nothing explains them.
bool is_unexplained(const Verdict& verdict) { return verdict.cause.empty() && !verdict.faulty; }

/// The harness names a page whose tools are for a stage or a library of one's own; here there are
/// other ways.
std::string with_ways_of_a_lab(std::string message) {
  const std::string unexplained = kUnexplainedWeights;
  if (const std::size_t at = message.find(unexplained); at != std::string::npos)
    message.replace(at, unexplained.size(),
                    "no known mistake explains these weights (how to go on: print by printf what "
                    "your code has for the token that is named, or ask for a hint)");
  return message;
}

using Sizes = std::pair<int, int>;  ///< of a head, of a block

/// "held with heads of 64 dimensions, fails with 80: " if the same case holds in some of the sizes that
/// others were right in; "" if it does not, and so sizes have no part in it.
std::string apart_by_size(const std::set<Sizes>& held, const CaseSpec& failed,
                          const Invariant& invariant, KernelUnderTest& kernel, std::uint64_t seed) {
  const auto holds = [&](const Sizes& sizes) {
    CaseSpec same = failed;
    std::tie(same.head_size, same.block_size) = sizes;
    try {
      const Case c = build_case(same);
      return kernel.supports(c.problem) && verdict_on(invariant, kernel, c, seed).held;
    } catch (const InputError&) {  // its data have the sizes that they have
      return false;
    }
  };
  if (held.contains({failed.head_size, failed.block_size})) return "";
  for (const auto& [head_size, block_size] : held)
    if (holds({head_size, block_size}))
      return head_size != failed.head_size
                 ? "held with heads of " + std::to_string(head_size) + " dimensions, fails with " +
                       std::to_string(failed.head_size) + ": "
                 : "held with pages of " + std::to_string(block_size) + " tokens, fails with " +
                       std::to_string(failed.block_size) + ": ";
  return "";
}

void note_failure(const Verdict& verdict, CheckOutcome& check, const std::string& before = "") {
  check.message = before + with_ways_of_a_lab(verdict.message);
  check.broken = verdict.broken_execution;
  check.cause = verdict.cause;
  check.in_words = what_failed(check.id, verdict);
  check.reading = reading_of(check.id, verdict);
}

/// Stops at the first case that fails, or goes on to one of the next few that says more.
///
/// printed() counts what the kernel has printed; printed_before gets what it was when the case that
/// fails began.
void try_check(CheckOutcome& check, const LabCheck& step, KernelUnderTest& kernel,
               std::uint64_t seed, const std::function<std::uint64_t()>& printed,
               std::uint64_t& printed_before) {
  constexpr int kMostFailures = 5;
  const Invariant& invariant = find_invariant(check.id);
  check.tried = true;
  int failures = 0;
  std::set<Sizes> held;
  for (const CaseSpec& spec : cases_of(step, invariant, seed)) {
    const DecodeShape shape = shape_of_case(spec);
    if (!is_in(kernel.stage().supports.instances, shape.scalar, shape.cache, shape.head_size,
               shape.block_size))
      continue;
    const Case c = build_case(spec);
    if (!kernel.supports(c.problem) || (invariant.refuses && !invariant.refuses(c.problem).empty()))
      continue;
    ++check.cases;
    const std::uint64_t before = printed();
    const auto is_about = [&] {
      printed_before = before;
      check.case_name = c.name;
      check.case_in_words = in_words(c.problem);
    };
    if (failures == 0) is_about();  // also if the kernel's process ends on it
    const Verdict verdict = verdict_on(invariant, kernel, c, seed);
    if (verdict.held) {
      held.insert({spec.head_size, spec.block_size});
      continue;
    }
    if (failures++ == 0 || !verdict.cause.empty()) {
      is_about();
      note_failure(verdict, check, apart_by_size(held, spec, invariant, kernel, seed));
    }
    if (!is_unexplained(verdict) || failures == kMostFailures) return;
  }
  if (failures > 0) return;
  check.case_name.clear();
  check.case_in_words.clear();
  printed_before = 0;
  check.held = check.cases > 0;
  if (check.cases == 0)
    note_failure(Verdict::fail("no case of this invariant fits the lab's types and sizes"), check);
}

bool is_own(const std::string& place, const std::vector<OwnLines>& own) {
  const std::size_t colon = place.rfind(':');
  if (colon == std::string::npos) return false;
  const std::string file = place.substr(0, colon);
  const std::size_t line = std::strtoul(place.c_str() + colon + 1, nullptr, 10);
  return std::any_of(own.begin(), own.end(), [&](const OwnLines& lines) {
    return file == lines.file && line >= lines.first && line <= lines.last;
  });
}

/// "stage_01.cu:51 has 2560, stage_01.cu:53 has 128, other lines have 64": the lines behind a
/// total, the student's, greatest first. Of others' lines only what they make up together: the
/// target has them, too.
std::string lines_behind(CountMember count, const LaunchCounts& counts,
                         const std::vector<OwnLines>& own) {
  constexpr std::size_t kMost = 4;
  std::map<std::string, std::uint64_t> of_line;  // of all phases
  std::uint64_t others = 0;
  for (const CountedLine& line : counts.lines)
    if (is_own(line.line, own))
      of_line[line.line] += line.counts.*count;
    else
      others += line.counts.*count;
  std::vector<std::pair<std::string, std::uint64_t>> lines(of_line.begin(), of_line.end());
  std::stable_sort(lines.begin(), lines.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  for (; lines.size() > kMost; lines.pop_back()) others += lines.back().second;
  std::string text;
  for (const auto& [line, number] : lines)
    if (number > 0) text += (text.empty() ? "" : ", ") + line + " has " + std::to_string(number);
  if (text.empty()) text = "none of your lines has any";
  return text + ", other lines have " + std::to_string(others);
}

/// A case that is counted. Its sizes are public; its values are drawn by the seed, so that no
/// answer can be known beforehand. No count depends on values.
Case counted_case(const std::string& name, std::uint64_t seed) {
  CaseSpec spec = find_case(name);
  for (ValueFamily* values : {&spec.query_values, &spec.key_values, &spec.value_values})
    *values = {.kind = "peaked", .seed = seed};
  return build_case(spec);
}

/// "" or the first finding, or what is wrong with the output.
std::string what_is_wrong(const CountRun& run, const Case& c, const KernelUnderTest& kernel) {
  if (!run.faults.empty()) return run.faults.front();
  return compare(c.problem, run.outputs, reference_answer(c.problem, kernel.stage().arithmetic))
      .message;
}

/// "" or why the counts of a run cannot be all.
std::string impossible(const CountRun& run, const Case& c, const Lab& lab) {
  std::string why = impossible_counts(run.counted, c.problem);
  if (why.empty() && run.predicted)
    why = impossible_shared_loads(run.counted, *run.predicted, c.problem, lab.transactions.reads);
  return why;
}

void count(TransactionOutcome& outcome, const Lab& lab, const std::vector<OwnLines>& own,
           KernelUnderTest& kernel, std::uint64_t seed) {
  outcome.tried = true;
  outcome.held = true;
  for (const std::string& name : lab.transactions.cases) {
    const Case c = counted_case(name, seed);
    const CountRun run = count_on_case(kernel, c);
    if (const std::string wrong = what_is_wrong(run, c, kernel); !wrong.empty()) {
      outcome.held = false;
      if (outcome.wrong.empty()) outcome.wrong = "on the case " + c.name + ": " + wrong;
    } else if (const std::string why = impossible(run, c, lab); !why.empty()) {
      outcome.held = false;
      if (outcome.impossible.empty())
        outcome.impossible = "impossible on the case " + c.name + ": " + why;
    }
    if (!run.predicted || !run.counted.complete) outcome.held = false;
    const Counts target = run.predicted ? run.predicted->total() : Counts{};
    const Counts counted = run.counted.phases.total();
    for (const CountName& count_name : lab.transactions.counts) {
      CountOutcome one{run.case_name, count_name.name, counted.*count_name.member,
                       target.*count_name.member, ""};
      if (!one.held()) one.where = lines_behind(count_name.member, run.counted, own);
      outcome.held = outcome.held && one.held();
      outcome.counts.push_back(std::move(one));
    }
  }
}

}  // namespace

int TrialOutcome::score() const {
  int sum = transactions.score();
  for (const CheckOutcome& check : checks) sum += check.score();
  return sum;
}

int TrialOutcome::max_score() const {
  int sum = transactions.points;
  for (const CheckOutcome& check : checks) sum += check.points;
  return sum;
}

TrialOutcome untried(const Lab& lab, const std::string& submission) {
  TrialOutcome outcome;
  outcome.lab = lab.name;
  outcome.submission = submission;
  for (const LabCheck& check : lab.checks) {
    outcome.checks.emplace_back();
    outcome.checks.back().id = check.id;
    outcome.checks.back().step = check.step;
    outcome.checks.back().points = check.points;
  }
  outcome.transactions.points = lab.transactions.points;
  return outcome;
}

void try_on(RemoteDevice& device, const Lab& lab, const std::vector<OwnLines>& own,
            std::uint64_t seed, TrialOutcome& outcome, const Announce& progress) {
  const Stage stage =
      remote_stage(find_stage(std::to_string(lab.stage), Backend::cpu), device, lab.instances);
  KernelUnderTest kernel(stage, device);
  bool failed = false;  // explained is the first step that fails
  try {
    for (std::size_t i = 0; i < outcome.checks.size(); ++i) {
      CheckOutcome& check = outcome.checks[i];
      progress(check.step);
      std::uint64_t before = 0;
      std::uint64_t& of_first = failed ? before : outcome.printed_before;
      try_check(
          check, lab.checks[i], kernel, seed, [&] { return device.printed_bytes(); }, of_first);
      failed = failed || check.failed();
      if (!check.held && !lab.checks[i].alone) return;
    }
    progress("transactions");
    count(outcome.transactions, lab, own, kernel, seed);
  } catch (const SubmissionEnded& error) {
    outcome.note = error.what();
    for (CheckOutcome& check : outcome.checks)
      if (check.failed() && check.message.empty()) {  // what was under way
        check.message = error.what();
        check.ended = error.is_endless ? "endless" : "crash";
        check.in_words = "The kernel did not answer.";
      }
    outcome.transactions.held = false;
  } catch (const DeviceError& error) {
    outcome.note = error.what();
    for (CheckOutcome& check : outcome.checks)
      if (check.failed() && check.message.empty()) note_failure(Verdict::fail(error.what()), check);
    outcome.transactions.held = false;
  }
}

}  // namespace paged::labs
