// Bit and float intrinsics.
#include "kernels/cuda.h"
#include "tests/simt/sample_kernels.h"

namespace paged::PAGED_BACKEND {
namespace {

__global__ void bit_operations(const unsigned* values, SampleKernels::BitResults* results) {
  const unsigned bits = values[threadIdx.x];
  const int value = static_cast<int>(bits);
  results[threadIdx.x] = {__popc(bits), __clz(value), __ffs(value),
                          __float_as_int(__int_as_float(value)),
                          __float_as_uint(__uint_as_float(bits))};
}

__global__ void fast_math(const float* values, SampleKernels::FastMathResults* results) {
  const float x = values[threadIdx.x];
  results[threadIdx.x] = {__expf(x),
                          __logf(x),
                          __log2f(x),
                          __powf(x, 1.5F),
                          __fdividef(3.0F, x),
                          rsqrtf(x),
                          __ldg(&values[threadIdx.x])};
}

}  // namespace

void add_arithmetic(SampleKernels& kernels) {
  kernels.bit_operations = [](int count, const unsigned* values,
                              SampleKernels::BitResults* results) {
    launch(bit_operations, dim3(1), dim3(count), 0, Stream{}, values, results);
  };
  kernels.fast_math = [](int count, const float* values, SampleKernels::FastMathResults* results) {
    launch(fast_math, dim3(1), dim3(count), 0, Stream{}, values, results);
  };
}

}  // namespace paged::PAGED_BACKEND
