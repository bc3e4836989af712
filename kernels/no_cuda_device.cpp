// What takes the place of cuda_device.cu in a build without CUDA.
#include "kernels/device.h"

namespace paged {

std::string why_no_cuda_device() {
  return "built without CUDA: no nvcc was found when the build was configured";
}

std::unique_ptr<Device> make_cuda_device() { throw DeviceError(why_no_cuda_device()); }

}  // namespace paged
