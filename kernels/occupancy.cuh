// How many CUDA blocks should share a multiprocessor.
#pragma once
#include "kernels/cuda.h"

#include <type_traits>

namespace paged::PAGED_BACKEND {

/// The second argument of __launch_bounds__ for kernels of 128 threads whose lanes hold their share
/// of a page in registers: kHeadSize * kBlockSize / 32 elements.
///
/// Eight blocks leave 64 registers a thread. That is enough for 64 elements of 16 bits, and worth
/// asking for: left alone, nvcc takes 72 (f16, head size 128, block size 16), seven blocks fit, and
/// 32 sequences of 32 heads make a second wave that is nearly empty. Larger shares, fp8, which is
/// converted from one register to four, and f16 probabilities must not be squeezed: they would
/// spill.
template <typename cache_t, int kHeadSize, int kBlockSize, typename probability_t>
inline constexpr int kBlocksPerMultiprocessor = std::is_same_v<probability_t, float> &&
                                                        sizeof(cache_t) > 1 &&
                                                        kHeadSize* kBlockSize / 32 *
                                                                static_cast<int>(sizeof(cache_t)) <=
                                                            128
                                                    ? 8
                                                    : 1;

}  // namespace paged::PAGED_BACKEND
