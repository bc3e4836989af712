// Runs the planted race on the CPU machine and prints the finding, then on a GPU, where
// `compute-sanitizer --tool racecheck planted_race` shows its own. tests/gpu.sh records both.
#include "kernels/device.h"
#include "tests/simt/device_array.h"

#include <cstdio>
#include <exception>
#include <vector>

namespace paged {
namespace cpu_checked {
void launch_planted_race(float* values);
}
namespace cuda {
void launch_planted_race(float* values);
}

namespace {

void run(Device& device, void (*launch_race)(float*)) {
  const DeviceArray<float> values(device, std::vector<float>(128, 1.0F), "values");
  launch_race(values.data());
  device.finish();
  for (const Finding& finding : device.take_findings())
    std::printf("CPU machine: %s\n", to_string(finding).c_str());
}

}  // namespace
}  // namespace paged

int main() {
  try {
    paged::run(*paged::make_cpu_device(), paged::cpu_checked::launch_planted_race);
    if (const std::string reason = paged::why_no_cuda_device(); !reason.empty()) {
      std::printf("no GPU: %s\n", reason.c_str());
      return 0;
    }
    std::fflush(stdout);
    paged::run(*paged::make_cuda_device(), paged::cuda::launch_planted_race);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "planted_race: %s\n", error.what());
    return 1;
  }
}
