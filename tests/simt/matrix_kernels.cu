// ldmatrix and mma: registers as they are, and a product through a ring of buffers.
#include "kernels/cuda.h"
#include "kernels/fragment_layout.h"
#include "tests/simt/sample_kernels.h"

#include <cstdint>

namespace paged::PAGED_BACKEND {
namespace {

// matrices: [kCount, 8, 8]; registers: [32, kCount]
template <int kCount, bool kTransposed>
__global__ void load_fragments(const std::uint16_t* matrices, unsigned* registers) {
  __shared__ __align__(16) std::uint16_t shared[kCount * 64];
  const int lane = threadIdx.x;
  for (int i = lane; i < kCount * 64; i += 32) shared[i] = matrices[i];
  __syncwarp();
  unsigned fragments[kCount];
  const std::uint16_t* const row = &shared[lane % (8 * kCount) * 8];
  if constexpr (kTransposed)
    ldmatrix_trans(fragments, row);
  else
    ldmatrix(fragments, row);
  for (int i = 0; i < kCount; ++i) registers[lane * kCount + i] = fragments[i];
}

template <int kCount>
void launch_load(bool transposed, const std::uint16_t* matrices, unsigned* registers) {
  if (transposed)
    launch(load_fragments<kCount, true>, dim3(1), dim3(32), 0, Stream{}, matrices, registers);
  else
    launch(load_fragments<kCount, false>, dim3(1), dim3(32), 0, Stream{}, matrices, registers);
}

// One product per block. a: [blocks, 32, 4 or 2]; b: [blocks, 32, 2 or 1]; d: [blocks, 32, 4]
template <MatrixProduct kProduct>
__global__ void multiply_fragments(const unsigned* a, const unsigned* b, float* d) {
  constexpr int kDepth = kProduct == MatrixProduct::m16n8k8_f16 ? 8 : 16;
  const int lane = static_cast<int>(blockIdx.x) * 32 + static_cast<int>(threadIdx.x);
  unsigned own_a[kDepth / 4];
  unsigned own_b[kDepth / 8];
  float own_d[4];
  for (int i = 0; i < kDepth / 4; ++i) own_a[i] = a[lane * (kDepth / 4) + i];
  for (int i = 0; i < kDepth / 8; ++i) own_b[i] = b[lane * (kDepth / 8) + i];
  for (int i = 0; i < 4; ++i) own_d[i] = d[lane * 4 + i];
  if constexpr (kProduct == MatrixProduct::m16n8k8_f16)
    mma_m16n8k8(own_d, own_a, own_b);
  else if constexpr (kProduct == MatrixProduct::m16n8k16_f16)
    mma_m16n8k16<__half>(own_d, own_a, own_b);
  else
    mma_m16n8k16<__nv_bfloat16>(own_d, own_a, own_b);
  for (int i = 0; i < 4; ++i) d[lane * 4 + i] = own_d[i];
}

// d [16, 8] = a [16, depth] * b [8, depth]^T by one warp; slices of 16 columns come in turn into
// two buffers, the next one while this one is multiplied. depth: a multiple of 16
__global__ void multiply_in_ring(int depth, const __half* a, const __half* b, float* d) {
  __shared__ __align__(16) __half buffers[2][24][16];  // 16 rows of a, then 8 of b
  const int lane = threadIdx.x;
  const auto fetch = [&](int slice) {
    for (int i = lane; i < 48; i += 32) {  // half a row each: 8 elements, 16 bytes
      const int row = i / 2;
      const __half* const from = row < 16 ? &a[row * depth] : &b[(row - 16) * depth];
      cp_async<16>(&buffers[slice % 2][row][i % 2 * 8], &from[slice * 16 + i % 2 * 8]);
    }
    cp_async_commit_group();
  };
  float sums[4] = {0, 0, 0, 0};
  fetch(0);
  const int slices = depth / 16;
  for (int slice = 0; slice < slices; ++slice) {
    if (slice + 1 < slices)
      fetch(slice + 1);
    else
      cp_async_commit_group();
    cp_async_wait_group<1>();
    __syncwarp();  // this slice has arrived for all lanes
    unsigned own_a[4];
    unsigned own_b[2];
    // The four quarters of a in the order of its registers: lower rows, then right columns.
    ldmatrix(own_a, &buffers[slice % 2][lane % 16][lane / 16 * 8]);
    ldmatrix(own_b, &buffers[slice % 2][16 + lane % 8][lane / 8 % 2 * 8]);
    mma_m16n8k16<__half>(sums, own_a, own_b);
    __syncwarp();  // and may be overwritten from here on
  }
  for (int i = 0; i < 4; ++i) {
    const MatrixPosition position = mma_d_position(lane, i);
    d[position.row * 8 + position.column] = sums[i];
  }
}

}  // namespace

void add_matrices(SampleKernels& kernels) {
  kernels.load_fragments = [](int count, bool transposed, const std::uint16_t* matrices,
                              unsigned* registers) {
    if (count == 1) return launch_load<1>(transposed, matrices, registers);
    if (count == 2) return launch_load<2>(transposed, matrices, registers);
    launch_load<4>(transposed, matrices, registers);
  };
  kernels.multiply_fragments = [](MatrixProduct product, int count, const unsigned* a,
                                  const unsigned* b, float* d) {
    const auto run = [&](auto kernel) {
      launch(kernel, dim3(count), dim3(32), 0, Stream{}, a, b, d);
    };
    switch (product) {
      case MatrixProduct::m16n8k8_f16:
        return run(multiply_fragments<MatrixProduct::m16n8k8_f16>);
      case MatrixProduct::m16n8k16_f16:
        return run(multiply_fragments<MatrixProduct::m16n8k16_f16>);
      case MatrixProduct::m16n8k16_bf16:
        return run(multiply_fragments<MatrixProduct::m16n8k16_bf16>);
    }
  };
  kernels.multiply_in_ring = [](int depth, const std::uint16_t* a, const std::uint16_t* b,
                                float* d) {
    launch(multiply_in_ring, dim3(1), dim3(32), 0, Stream{}, depth,
           reinterpret_cast<const __half*>(a), reinterpret_cast<const __half*>(b), d);
  };
}

}  // namespace paged::PAGED_BACKEND
