// What the CPU machine lets a launch ask for: the limits of an H200.
#pragma once
#include "kernels/device.h"
#include "kernels/simt/launch.h"

namespace paged::simt {

const DeviceLimits& cpu_device_limits();

/// Throws DeviceError naming the kernel, the launch, the value and the limit.
void check_launch_limits(const LaunchRequest& request);

}  // namespace paged::simt
