// Every kind of shuffle, of 4-, 8- and 2-byte values.
#include "kernels/cuda.h"
#include "tests/simt/sample_kernels.h"

namespace paged::PAGED_BACKEND {
namespace {

constexpr unsigned kAll = 0xFFFFFFFFU;

template <typename T>
__global__ void shuffle(ShuffleKind kind, int argument, int width, const T* values, T* results) {
  const int i = threadIdx.x;
  const T value = values[i];
  T result = value;
  switch (kind) {
    case ShuffleKind::index:
      result = __shfl_sync(kAll, value, argument, width);
      break;
    case ShuffleKind::up:
      result = __shfl_up_sync(kAll, value, argument, width);
      break;
    case ShuffleKind::down:
      result = __shfl_down_sync(kAll, value, argument, width);
      break;
    case ShuffleKind::exclusive_or:
      result = __shfl_xor_sync(kAll, value, argument, width);
      break;
  }
  results[i] = result;
}

template <typename T>
void launch_shuffle(ShuffleKind kind, int argument, int width, int threads, const T* values,
                    T* results) {
  launch(shuffle<T>, dim3(1), dim3(threads), 0, Stream{}, kind, argument, width, values, results);
}

}  // namespace

void add_shuffles(SampleKernels& kernels) {
  kernels.shuffle_int = launch_shuffle<int>;
  kernels.shuffle_double = launch_shuffle<double>;
  kernels.shuffle_half = [](ShuffleKind kind, int argument, int width, int threads,
                            const std::uint16_t* values, std::uint16_t* results) {
    launch_shuffle(kind, argument, width, threads, reinterpret_cast<const __half*>(values),
                   reinterpret_cast<__half*>(results));
  };
}

}  // namespace paged::PAGED_BACKEND
