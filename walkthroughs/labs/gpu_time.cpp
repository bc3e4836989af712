#include "walkthroughs/labs/gpu_time.h"

#include "reference/input_error.h"
#include "stages/registry.h"
#include "tests/harness/case_builder.h"
#include "tests/harness/invariants/cases.h"
#include "tests/harness/kernel_under_test.h"
#include "walkthroughs/labs/remote_device.h"
#include "walkthroughs/labs/submission_build.h"

#include <chrono>
#include <cstdio>

namespace paged::labs {
namespace {

constexpr unsigned kRuns = 200;

/// 64 sequences of 2048 tokens: enough that memory, and not the launch, takes the time.
Case timed_case() {
  return build_case(
      make_case(ScalarType::f16, {8, 8, 64, 16}, std::vector<int>(64, 2048), "normal", 1));
}

// A stage's run() is a function, which knows no object.
const Stage* timed_stage = nullptr;
Device* timed_device = nullptr;
double timed_seconds = 0;

void run_stage_often(const paged_decode_args& args) {
  timed_stage->run(args);  // the first is slower than others
  timed_device->finish();
  const auto begin = std::chrono::steady_clock::now();
  for (unsigned i = 0; i < kRuns; ++i) timed_stage->run(args);
  timed_device->finish();
  timed_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / kRuns;
}

void run_submission_often(const paged_decode_args& args) {
  auto& remote = static_cast<RemoteDevice&>(*timed_device);
  remote.run(args, 1);
  timed_seconds = remote.run(args, kRuns);
}

double seconds_on(const Stage& stage, Device& device, void (*run)(const paged_decode_args&),
                  const Case& c) {
  timed_stage = &stage;
  timed_device = &device;
  Stage repeated = stage;
  repeated.run = run;
  KernelUnderTest(repeated, device).run(c.problem);
  return timed_seconds;
}

std::string times_on(const Stage& stage, const Kit& kit, const Lab& lab,
                     const Submission& submission) {
  const Case c = timed_case();
  double own = 0;
  {
    const ScratchFolder scratch;
    const std::filesystem::path program = build_for_gpu(kit, lab, submission, scratch);
    RemoteDevice remote(Backend::cuda, program, scratch.path() / "printed", {});
    own = seconds_on(stage, remote, &run_submission_often, c);
  }
  const std::unique_ptr<Device> device = make_cuda_device();
  const double target = seconds_on(stage, *device, &run_stage_often, c);
  char text[200];
  std::snprintf(text, sizeof text,
                "GPU time on %s: %.1f us a call, the stage itself %.1f us (%s, mean of %u)",
                device->limits().name.c_str(), 1e6 * own, 1e6 * target, c.name.c_str(), kRuns);
  return text;
}

}  // namespace

std::string gpu_times(const Kit& kit, const Lab& lab, const Submission& submission) {
  if (kit.cuda.empty()) return "GPU time: not measured, this build is without CUDA";
  if (const std::string why = why_no_cuda_device(); !why.empty())
    return "GPU time: not measured, " + why;
  try {
    return times_on(find_stage(std::to_string(lab.stage), Backend::cuda), kit, lab, submission);
  } catch (const std::runtime_error& error) {
    return std::string("GPU time: not measured, ") + error.what();
  }
}

}  // namespace paged::labs
