#include "tests/harness/comparison.h"
#include "tests/harness/invariants/all.h"
#include "tests/harness/invariants/cases.h"
#include "tests/harness/invariants/worked_example.h"
#include "tests/harness/schedule_scope.h"

namespace paged::parts_of_determinism {
namespace {

std::vector<CaseSpec> cases(ScalarType scalar, std::uint64_t seed) {
  std::vector<CaseSpec> specs;
  for (int block_size : kBlockSizes)
    specs.push_back(make_case(scalar, {4, 2, 64, block_size}, {130, 17, 33, 64}, "peaked", seed));
  return specs;
}

/// A GPU schedules warps differently each time, and repetition there costs little. The CPU machine
/// does the same each time, unless it is asked for another order.
constexpr int kRunsOnGpu = 50;
constexpr int kRunsOnCpu = 3;

Verdict check(KernelUnderTest& kernel, const Case& c, std::uint64_t seed) {
  const bool on_cpu = kernel.device().backend() == Backend::cpu;
  const bool on_machine = on_cpu && kernel.stage().number != 0;  // 0: compiled, from a library
  const DecodeOutputs first = kernel.run(c.problem);
  for (int run = 2; run <= (on_cpu ? kRunsOnCpu : kRunsOnGpu); ++run) {
    const simt::Schedule schedule{
        run == 2 ? simt::ScheduleKind::random : simt::ScheduleKind::warp_first, seed};
    const ScheduleScope scope(on_machine ? schedule : simt::current_schedule());
    const std::string difference = bit_difference(first, kernel.run(c.problem));
    if (!difference.empty())
      return Verdict::fail("in run " + std::to_string(run) + " of the same problem" +
                           (on_machine ? " (schedule " + simt::describe(schedule) + ")" : "") +
                           ", " + difference);
  }
  return {};
}

std::string example(KernelUnderTest& kernel) {
  const DecodeProblem problem = example_problem();
  std::string lines;
  for (int run = 1; run <= 3; ++run)
    lines += text("run %d: output[0] ", run) + bits_of(kernel.run(problem).output, 0) + "\n";
  volatile float one = 1;  // no compiler may add before the run
  const float small = 0x1p-24F;
  const float left = (one + small) + small;
  const float right = one + (small + small);
  return lines + text(
                     "an atomic sum takes its terms in any order: (1 + 2^-24) + 2^-24 is %.9g in "
                     "f32, 1 + (2^-24 + 2^-24) is %.9g\n",
                     left, right);
}

}  // namespace
}  // namespace paged::parts_of_determinism

namespace paged {

Invariant determinism() {
  using namespace parts_of_determinism;
  return {"determinism",
          "Two runs of the same problem give the same bits.",
          "o(run 1) = o(run 2), bit for bit",
          "on the CPU machine, 3 runs in which it takes threads and blocks in different orders; "
          "50 runs on a GPU",
          "races; floating-point atomics; reads of memory that nothing wrote",
          "What differs from run to run is a race, an atomic or memory nobody wrote; on the CPU "
          "machine a finding names the line.",
          cases,
          {},
          check,
          example};
}

}  // namespace paged
