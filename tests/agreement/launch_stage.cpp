// Launches one stage once on a case on the GPU, as `paged count` does on the CPU machine, so that
// Nsight Compute can count the same launches; see agreement.sh.
//
// Usage: launch_stage STAGE CASE
#include "stages/registry.h"
#include "tests/harness/case_builder.h"
#include "tests/harness/kernel_under_test.h"
#include "tests/harness/named_cases.h"

#include <cstdio>
#include <exception>

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: launch_stage STAGE CASE\n");
    return 2;
  }
  try {
    const std::unique_ptr<paged::Device> device = paged::make_cuda_device();
    const paged::Stage& stage = paged::find_stage(argv[1], paged::Backend::cuda);
    const paged::Case c = paged::build_case(paged::find_case(argv[2]));
    paged::KernelUnderTest kernel(stage, *device);
    kernel.check_supported(c.problem);
    kernel.run(c.problem);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "launch_stage: %s\n", error.what());
    return 1;
  }
}
