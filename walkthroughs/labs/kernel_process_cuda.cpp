// The process on the GPU, to time one's own kernel. It is not shut off: CUDA needs files and devices.
#include "walkthroughs/labs/kernel_process.h"

namespace paged::labs {

PreparedDevice prepare_device() { return {make_cuda_device(), false}; }

}  // namespace paged::labs
