#include "tests/harness/stage_run.h"

#include "reference/input_error.h"
#include "tests/harness/count_run.h"

namespace paged {

StageRun run_on_case(KernelUnderTest& kernel, const Case& c, LoadHints hints) {
  kernel.check_supported(c.problem);
  StageRun run;
  run.stage_number = kernel.stage().number;
  run.stage = kernel.stage().name;
  run.case_name = c.name;
  run.backend = name_of(kernel.device().backend());
  const RunOptions options = RunOptions::with_intermediates();
  if (hints == LoadHints::yes) {
    const CountingScope counting(kernel.device());
    run.outputs = kernel.run(c.problem, options);
    run.hint = hint_about_loads(kernel.device().take_counts());
  } else {
    run.outputs = kernel.run(c.problem, options);
  }
  run.faults = kernel.take_faults();
  run.comparison =
      compare(c.problem, run.outputs, reference_answer(c.problem, kernel.stage().arithmetic));
  if (!run.faults.empty()) run.comparison.passed = false;
  return run;
}

std::unique_ptr<Device> make_device(Backend backend) {
  if (backend == Backend::cpu) return make_cpu_device();
  if (const std::string reason = why_no_cuda_device(); !reason.empty())
    throw InputError("the cuda backend is not available: " + reason + "; use --backend cpu");
  return make_cuda_device();
}

}  // namespace paged
