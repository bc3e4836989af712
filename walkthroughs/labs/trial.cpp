#include "walkthroughs/labs/trial.h"

#include "reference/input_error.h"
#include "tests/harness/count_run.h"
#include "tests/harness/invariant.h"
#include "tests/harness/named_cases.h"

#include <cstdint>

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

void try_check(CheckOutcome& check, KernelUnderTest& kernel, std::uint64_t seed) {
  const Invariant& invariant = find_invariant(check.id);
  check.tried = true;
  for (const CaseSpec& spec : invariant.cases(ScalarType::f16, seed)) {
    const DecodeShape shape = shape_of_case(spec);
    if (!is_in(kernel.stage().supports.instances, shape.scalar, shape.cache, shape.head_size,
               shape.block_size))
      continue;
    const Case c = build_case(spec);
    if (!kernel.supports(c.problem) || (invariant.refuses && !invariant.refuses(c.problem).empty()))
      continue;
    ++check.cases;
    check.case_name = c.name;  // also if the kernel's process ends on it
    const Verdict verdict = verdict_on(invariant, kernel, c, seed);
    if (verdict.held) continue;
    check.message = verdict.message;
    check.cause = verdict.cause;
    return;
  }
  check.case_name.clear();
  check.held = check.cases > 0;
  if (check.cases == 0) check.message = "no case of this invariant fits the lab's types and sizes";
}

void count(TransactionOutcome& outcome, const Lab& lab, KernelUnderTest& kernel) {
  outcome.tried = true;
  outcome.held = true;
  for (const std::string& name : lab.transactions.cases) {
    const CountRun run = count_on_case(kernel, build_case(find_case(name)));
    if (!run.predicted || !run.counted.complete) outcome.held = false;
    const Counts target = run.predicted ? run.predicted->total() : Counts{};
    const Counts counted = run.counted.phases.total();
    for (const CountName& count_name : lab.transactions.counts) {
      outcome.counts.push_back(
          {run.case_name, count_name.name, counted.*count_name.member, target.*count_name.member});
      outcome.held = outcome.held && outcome.counts.back().held();
    }
    if (!outcome.held && outcome.hint.empty()) outcome.hint = hint_about_loads(run.counted);
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
    outcome.checks.back().points = check.points;
  }
  outcome.transactions.points = lab.transactions.points;
  return outcome;
}

void try_on(RemoteDevice& device, const Lab& lab, std::uint64_t seed, TrialOutcome& outcome,
            const Announce& progress) {
  outcome.shut_off = device.is_filtered();
  const Stage stage = remote_stage(find_stage(std::to_string(lab.stage), Backend::cpu), device);
  KernelUnderTest kernel(stage, device);
  try {
    for (CheckOutcome& check : outcome.checks) {
      progress(check.id);
      try_check(check, kernel, seed);
      if (!check.held) return;
    }
    progress("transactions");
    count(outcome.transactions, lab, kernel);
  } catch (const SubmissionEnded& error) {
    outcome.note = error.what();
    for (CheckOutcome& check : outcome.checks)
      if (check.tried && !check.held) check.message = error.what();  // what was under way
    outcome.transactions.held = false;
  } catch (const DeviceError& error) {
    outcome.note = error.what();
    outcome.transactions.held = false;
  }
}

}  // namespace paged::labs
