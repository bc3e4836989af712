// Matrices in the registers of a warp: loading them and multiplying them on tensor cores. For nvcc;
// g++ sees kernels/simt/matrix_operations.h instead. Which lane holds which element:
// kernels/fragment_layout.h.
//
// PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions". ldmatrix needs sm_75, mma of these
// shapes sm_80. All 32 lanes of a warp must come to the same call.
#pragma once
#include "kernels/cuda/async_copy.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <type_traits>

namespace paged::PAGED_BACKEND {

/// Loads kMatrices, 1, 2 or 4, matrices of 8 x 8 elements of 2 bytes from shared memory, one into
/// each register. Lane i gives the address of row i % 8 of matrix i / 8, a multiple of 16; what
/// lanes from 8 * kMatrices on give is ignored.
/// ldmatrix.sync.aligned.m8n8.x1/.x2/.x4.shared.b16
template <int kMatrices>
__device__ __forceinline__ void ldmatrix(unsigned (&registers)[kMatrices], const void* row) {
  static_assert(kMatrices == 1 || kMatrices == 2 || kMatrices == 4);
  const unsigned address = shared_address(row);
  if constexpr (kMatrices == 1)
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                 : "=r"(registers[0])
                 : "r"(address)
                 : "memory");
  else if constexpr (kMatrices == 2)
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(registers[0]), "=r"(registers[1])
                 : "r"(address)
                 : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(registers[0]), "=r"(registers[1]), "=r"(registers[2]), "=r"(registers[3])
                 : "r"(address)
                 : "memory");
}

/// Like ldmatrix(), but each matrix comes transposed.
/// ldmatrix.sync.aligned.m8n8.x1/.x2/.x4.trans.shared.b16
template <int kMatrices>
__device__ __forceinline__ void ldmatrix_trans(unsigned (&registers)[kMatrices], const void* row) {
  static_assert(kMatrices == 1 || kMatrices == 2 || kMatrices == 4);
  const unsigned address = shared_address(row);
  if constexpr (kMatrices == 1)
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
                 : "=r"(registers[0])
                 : "r"(address)
                 : "memory");
  else if constexpr (kMatrices == 2)
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(registers[0]), "=r"(registers[1])
                 : "r"(address)
                 : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(registers[0]), "=r"(registers[1]), "=r"(registers[2]), "=r"(registers[3])
                 : "r"(address)
                 : "memory");
}

/// d [16, 8] += a [16, 16] * b [16, 8], with f32 sums. Element: __half or __nv_bfloat16; a register
/// holds two, the one of the lower column (of a) or row (of b) in its lower half. In which order
/// the hardware adds, and how it rounds on the way, is not specified.
/// mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 and .f32.bf16.bf16.f32
template <typename Element>
__device__ __forceinline__ void mma_m16n8k16(float (&d)[4], const unsigned (&a)[4],
                                             const unsigned (&b)[2]) {
  constexpr bool kIsHalf = std::is_same_v<Element, __half>;
  static_assert(kIsHalf || std::is_same_v<Element, __nv_bfloat16>);
  if constexpr (kIsHalf)
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  else
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// d [16, 8] += a [16, 8] * b [8, 8], of __half, with f32 sums; see mma_m16n8k16().
/// mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32
__device__ __forceinline__ void mma_m16n8k8(float (&d)[4], const unsigned (&a)[2],
                                            const unsigned (&b)[1]) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]));
}

}  // namespace paged::PAGED_BACKEND
