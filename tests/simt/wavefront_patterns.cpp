// Launches one kernel for each pattern of shared-memory accesses on a GPU, so that Nsight Compute
// can count their wavefronts in this order; --list prints what the model predicts, as JSON.
// wavefront_patterns.sh joins the two.
#include "kernels/device.h"
#include "tests/simt/device_array.h"
#include "tests/simt/wavefront_pattern_list.h"

#include <cstdio>
#include <cstring>
#include <exception>
#include <vector>

#if !PAGED_HAS_CUDA
namespace paged::cuda {
void launch_wavefront_pattern(bool, int, const int*, unsigned*) {}
}  // namespace paged::cuda
#endif

namespace {

void list() {
  const char* separator = "[";
  for (const paged::WavefrontPattern& pattern : paged::wavefront_patterns()) {
    const paged::PatternWavefronts predicted = paged::predicted_wavefronts(pattern);
    std::printf(
        "%s\n{\"name\": \"%s\", \"predicted_load_wavefronts\": %d, "
        "\"predicted_store_wavefronts\": %d}",
        separator, pattern.name.c_str(), predicted.loads, predicted.stores);
    separator = ",";
  }
  std::printf("\n]\n");
}

void run() {
  const std::unique_ptr<paged::Device> device = paged::make_cuda_device();
  const paged::DeviceArray<unsigned> results(*device, 32, "results");
  for (const paged::WavefrontPattern& pattern : paged::wavefront_patterns()) {
    const paged::DeviceArray<int> offsets(
        *device, std::vector<int>(pattern.offsets.begin(), pattern.offsets.end()), "offsets");
    paged::cuda::launch_wavefront_pattern(pattern.store, pattern.bytes, offsets.data(),
                                          results.data());
    device->finish();
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc == 2 && std::strcmp(argv[1], "--list") == 0)
      list();
    else
      run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "wavefront_patterns: %s\n", error.what());
    return 1;
  }
}
