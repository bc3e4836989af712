// Matrices in the registers of a warp: what kernels/cuda/matrix_operations.h is for nvcc, with the
// same elements in the same lanes (kernels/fragment_layout.h).
//
// A lane reads from shared memory just what it keeps. A product of two elements is exact in f32 (of
// bf16, unless it leaves the range of f32); an element of d is d + the products for k = 0, 1, 2
// ..., added one after the other and each sum rounded to nearest. The hardware has other orders and
// roundings: results differ within a bound, and sums of small integers do not differ.
#pragma once
#include "kernels/simt/float_types.h"
#include "kernels/simt/keywords.h"
#include "kernels/simt/warp_operations.h"

#include <source_location>
#include <type_traits>

namespace paged::simt {

/// operation: one of the ldmatrix ones, which says how many registers there are.
void load_matrices(WarpOperation operation, unsigned* registers, const void* row,
                   std::source_location where) noexcept;
/// operation: one of the mma ones, which says how many registers a and b have.
void multiply_matrices(WarpOperation operation, float* d, const unsigned* a, const unsigned* b,
                       std::source_location where) noexcept;

}  // namespace paged::simt

namespace paged::PAGED_BACKEND {

/// Loads kMatrices, 1, 2 or 4, matrices of 8 x 8 elements of 2 bytes from shared memory, one into
/// each register. Lane i gives the address of row i % 8 of matrix i / 8, a multiple of 16; what
/// lanes from 8 * kMatrices on give is ignored.
template <int kMatrices>
__forceinline__ void ldmatrix(unsigned (&registers)[kMatrices], const void* row,
                              std::source_location where = std::source_location::current()) {
  static_assert(kMatrices == 1 || kMatrices == 2 || kMatrices == 4);
  constexpr simt::WarpOperation kOperation = kMatrices == 1   ? simt::WarpOperation::ldmatrix_x1
                                             : kMatrices == 2 ? simt::WarpOperation::ldmatrix_x2
                                                              : simt::WarpOperation::ldmatrix_x4;
  simt::load_matrices(kOperation, registers, row, where);
}

/// Like ldmatrix(), but each matrix comes transposed.
template <int kMatrices>
__forceinline__ void ldmatrix_trans(unsigned (&registers)[kMatrices], const void* row,
                                    std::source_location where = std::source_location::current()) {
  static_assert(kMatrices == 1 || kMatrices == 2 || kMatrices == 4);
  constexpr simt::WarpOperation kOperation = kMatrices == 1 ? simt::WarpOperation::ldmatrix_trans_x1
                                             : kMatrices == 2
                                                 ? simt::WarpOperation::ldmatrix_trans_x2
                                                 : simt::WarpOperation::ldmatrix_trans_x4;
  simt::load_matrices(kOperation, registers, row, where);
}

/// d [16, 8] += a [16, 16] * b [16, 8], with f32 sums. Element: __half or __nv_bfloat16; a register
/// holds two, the one of the lower column (of a) or row (of b) in its lower half.
template <typename Element>
__forceinline__ void mma_m16n8k16(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2],
                                  std::source_location where = std::source_location::current()) {
  constexpr bool kIsHalf = std::is_same_v<Element, __half>;
  static_assert(kIsHalf || std::is_same_v<Element, __nv_bfloat16>);
  simt::multiply_matrices(
      kIsHalf ? simt::WarpOperation::mma_m16n8k16_f16 : simt::WarpOperation::mma_m16n8k16_bf16, d,
      a, b, where);
}

/// d [16, 8] += a [16, 8] * b [8, 8], of __half, with f32 sums; see mma_m16n8k16().
__forceinline__ void mma_m16n8k8(float (&d)[4], const unsigned (&a)[2], const unsigned (&b)[1],
                                 std::source_location where = std::source_location::current()) {
  simt::multiply_matrices(simt::WarpOperation::mma_m16n8k8_f16, d, a, b, where);
}

}  // namespace paged::PAGED_BACKEND
