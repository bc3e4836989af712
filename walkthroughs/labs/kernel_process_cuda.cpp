// The process on the GPU, to time one's own kernel. It is not shut off: CUDA needs files and
// devices.
#include "walkthroughs/labs/kernel_process.h"

namespace paged::labs {

std::unique_ptr<Device> prepare_device() { return make_cuda_device(); }

}  // namespace paged::labs
