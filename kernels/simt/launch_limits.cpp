#include "kernels/simt/launch_limits.h"

#include "kernels/kernel_name.h"
#include "kernels/simt/program_symbols.h"
#include "kernels/simt/shared_memory.h"

namespace paged::simt {

namespace {

// Of static shared memory there is no more, with or without opt-in: ptxas refuses it.
constexpr std::size_t kMaxStaticSharedBytes = 48 * std::size_t{1024};

[[noreturn]] void refuse(const LaunchRequest& request, const std::string& why) {
  throw DeviceError(text_of_launch(kernel_name(request.kernel), request.grid, request.block,
                                   request.shared_bytes) +
                    ": " + why);
}

void check_shared_memory(const LaunchRequest& request) {
  if (request.shared_bytes > kMaxSharedBytes)
    refuse(request, "a block may have at most " + std::to_string(kMaxSharedBytes) + " bytes");
  const std::size_t static_bytes = static_shared_bytes(request.kernel);
  if (static_bytes > kMaxStaticSharedBytes)
    refuse(request, "the kernel's __shared__ variables have " + std::to_string(static_bytes) +
                        " bytes, and may have at most " + std::to_string(kMaxStaticSharedBytes));
  if (request.shared_bytes > kMaxSharedBytes - static_bytes)
    refuse(request, "a block may have at most " + std::to_string(kMaxSharedBytes) +
                        " bytes, and the kernel's __shared__ variables take " +
                        std::to_string(static_bytes) + " of them");
}

}  // namespace

const DeviceLimits& cpu_device_limits() {
  static const DeviceLimits limits{"the CPU machine", kMaxSharedBytes, 1024,
                                   2147483647U,       65535,           65535};
  return limits;
}

void check_launch_limits(const LaunchRequest& request) {
  const DeviceLimits& limits = cpu_device_limits();
  const dim3 grid = request.grid;
  const dim3 block = request.block;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) refuse(request, "the grid is empty");
  if (block.x == 0 || block.y == 0 || block.z == 0) refuse(request, "the block is empty");
  if (grid.x > limits.max_grid_x || grid.y > limits.max_grid_y || grid.z > limits.max_grid_z)
    refuse(request, "a grid may be at most (2147483647,65535,65535)");
  if (block.x > 1024 || block.y > 1024 || block.z > 64)
    refuse(request, "a block may be at most (1024,1024,64)");
  if (block.x * block.y * block.z > limits.max_threads_per_block)
    refuse(request, "a block may have at most 1024 threads");
  check_shared_memory(request);
}

}  // namespace paged::simt
