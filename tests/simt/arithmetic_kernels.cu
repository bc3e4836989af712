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

__global__ void half_arithmetic(int count, const __half* a, const __half* b, __half2* products,
                                __half2* sums) {
  const int pair = blockIdx.x * blockDim.x + threadIdx.x;
  if (2 * pair >= count) return;
  const __half2 x = __halves2half2(a[2 * pair], a[2 * pair + 1]);
  const __half2 y = __halves2half2(b[2 * pair], b[2 * pair + 1]);
  products[pair] = __hmul2_rn(x, y);
  sums[pair] = __hadd2_rn(x, y);
}

}  // namespace

void add_arithmetic(SampleKernels& kernels) {
  kernels.bit_operations = [](int count, const unsigned* values,
                              SampleKernels::BitResults* results) {
    launch(bit_operations, dim3(1), dim3(count), 0, Stream{}, values, results);
  };
  kernels.half_arithmetic = [](int count, const std::uint16_t* a, const std::uint16_t* b,
                               std::uint16_t* products, std::uint16_t* sums) {
    launch(half_arithmetic, dim3((count / 2 + 255) / 256), dim3(256), 0, Stream{}, count,
           reinterpret_cast<const __half*>(a), reinterpret_cast<const __half*>(b),
           reinterpret_cast<__half2*>(products), reinterpret_cast<__half2*>(sums));
  };
  kernels.fast_math = [](int count, const float* values, SampleKernels::FastMathResults* results) {
    launch(fast_math, dim3(1), dim3(count), 0, Stream{}, values, results);
  };
}

}  // namespace paged::PAGED_BACKEND
