// What takes the place of the GPU's sample kernels in a build without CUDA.
#include "tests/simt/sample_kernels.h"

namespace paged::cuda {

SampleKernels sample_kernels() { return {}; }

}  // namespace paged::cuda
