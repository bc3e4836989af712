#include "kernels/simt/launch_limits.h"

#include "kernels/simt/program_symbols.h"
#include "kernels/simt/shared_memory.h"

namespace paged::simt {

namespace {

std::string text_of(const dim3& extent) {
  return "(" + std::to_string(extent.x) + "," + std::to_string(extent.y) + "," +
         std::to_string(extent.z) + ")";
}

[[noreturn]] void refuse(const LaunchRequest& request, const std::string& why) {
  throw DeviceError("launch of " + kernel_name(request.kernel) + " with grid " +
                    text_of(request.grid) + ", block " + text_of(request.block) + ", " +
                    std::to_string(request.shared_bytes) +
                    " bytes of dynamic shared memory: " + why);
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
  if (request.shared_bytes > limits.shared_bytes_per_block)
    refuse(request, "a block may have at most " + std::to_string(kMaxSharedBytes) + " bytes");
}

}  // namespace paged::simt
