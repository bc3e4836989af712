// Which element of a matrix each lane of a warp holds in ldmatrix and mma.
//
// PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions": the figures of the matrix
// fragments of mma.m16n8k8 and mma.m16n8k16 for 16-bit elements, and of ldmatrix. A register holds
// two elements: elements 2r and 2r + 1 of a fragment are the lower and the upper half of register
// r.
#pragma once
#include "reference/host_device.h"

namespace paged {

struct MatrixPosition {
  int row, column;
};

/// Element i of a lane in the left operand, [16, 8] (i < 4) or [16, 16] (i < 8), both 16-bit.
PAGED_HOST_DEVICE constexpr MatrixPosition mma_a_position(int lane, int i) {
  return {lane / 4 + (i / 2 % 2) * 8, lane % 4 * 2 + i % 2 + i / 4 * 8};
}

/// Element i of a lane in the right operand, [8, 8] (i < 2) or [16, 8] (i < 4), both 16-bit.
PAGED_HOST_DEVICE constexpr MatrixPosition mma_b_position(int lane, int i) {
  return {lane % 4 * 2 + i % 2 + i / 2 * 8, lane / 4};
}

/// Element i < 4 of a lane in the sum, [16, 8], f32: one register each.
PAGED_HOST_DEVICE constexpr MatrixPosition mma_d_position(int lane, int i) {
  return {lane / 4 + i / 2 * 8, lane % 4 * 2 + i % 2};
}

/// Element i < 2 of a lane in one 8 x 8 matrix that ldmatrix() loads; with ldmatrix_trans() row and
/// column change places.
PAGED_HOST_DEVICE constexpr MatrixPosition ldmatrix_position(int lane, int i) {
  return {lane / 4, lane % 4 * 2 + i};
}

}  // namespace paged
