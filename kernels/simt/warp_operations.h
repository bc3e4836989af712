// Operations that the lanes of one warp do together.
#pragma once
#include "kernels/simt/float_types.h"
#include "kernels/simt/keywords.h"
#include "kernels/simt/thread_coordinates.h"

#include <cstdint>
#include <cstring>
#include <source_location>
#include <type_traits>

namespace paged::simt {

enum class WarpOperation : std::uint8_t {
  sync,
  shuffle,
  shuffle_up,
  shuffle_down,
  shuffle_xor,
  ballot,
  any,
  all,
  active_mask,
  ldmatrix_x1,
  ldmatrix_x2,
  ldmatrix_x4,
  ldmatrix_trans_x1,
  ldmatrix_trans_x2,
  ldmatrix_trans_x4,
  mma_m16n8k16_f16,
  mma_m16n8k16_bf16,
  mma_m16n8k8_f16,
};

/// Waits for the lanes in mask, and returns what the operation gives to the caller: the value of
/// source_lane for a shuffle, the lanes whose value is not 0 for a vote, the lanes that arrived
/// together for active_mask.
std::uint64_t join_warp_operation(WarpOperation operation, unsigned mask, std::uint64_t value,
                                  int source_lane, std::source_location where) noexcept;

/// Reports a shuffle whose width is no power of two up to 32, which CUDA does not define, and stops
/// the block.
[[noreturn]] void refuse_shuffle_width(WarpOperation operation, int width,
                                       std::source_location where) noexcept;

template <typename T>
concept Shuffled = sizeof(T) == 4 ||
                   sizeof(T) == 8 || std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>;

template <Shuffled T>
__forceinline__ T shuffle(WarpOperation operation, unsigned mask, T value, int source_lane,
                          int width, std::source_location where) {
  if (width < 1 || width > 32 || (width & (width - 1)) != 0) [[unlikely]]
    refuse_shuffle_width(operation, width, where);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  bits = join_warp_operation(operation, mask, bits, source_lane, where);
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

/// First lane of the caller's group of `width` lanes.
__forceinline__ int group_begin(int width) { return coordinates().lane & ~(width - 1); }

}  // namespace paged::simt

// Lane arithmetic as PTX defines it for shfl.sync (PTX ISA, "Data Movement and Conversion
// Instructions: shfl.sync"): offsets count modulo 32; a lane whose source lies outside of its group
// keeps its own value, except that an xor may read an earlier group.

template <typename T>
__forceinline__ T __shfl_sync(unsigned mask, T value, int source, int width = warpSize,
                              std::source_location where = std::source_location::current()) {
  const int lane = paged::simt::group_begin(width) | (source & (width - 1));
  return paged::simt::shuffle(paged::simt::WarpOperation::shuffle, mask, value, lane, width, where);
}

template <typename T>
__forceinline__ T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = warpSize,
                                 std::source_location where = std::source_location::current()) {
  const int own = paged::simt::coordinates().lane;
  const int lane = own - static_cast<int>(delta & 31U);
  return paged::simt::shuffle(paged::simt::WarpOperation::shuffle_up, mask, value,
                              lane >= paged::simt::group_begin(width) ? lane : own, width, where);
}

template <typename T>
__forceinline__ T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = warpSize,
                                   std::source_location where = std::source_location::current()) {
  const int own = paged::simt::coordinates().lane;
  const int lane = own + static_cast<int>(delta & 31U);
  return paged::simt::shuffle(paged::simt::WarpOperation::shuffle_down, mask, value,
                              lane < paged::simt::group_begin(width) + width ? lane : own, width,
                              where);
}

template <typename T>
__forceinline__ T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = warpSize,
                                  std::source_location where = std::source_location::current()) {
  const int own = paged::simt::coordinates().lane;
  const int lane = own ^ (lane_mask & 31);
  return paged::simt::shuffle(paged::simt::WarpOperation::shuffle_xor, mask, value,
                              lane < paged::simt::group_begin(width) + width ? lane : own, width,
                              where);
}

__forceinline__ void __syncwarp(unsigned mask = 0xFFFFFFFFU,
                                std::source_location where = std::source_location::current()) {
  paged::simt::join_warp_operation(paged::simt::WarpOperation::sync, mask, 0, 0, where);
}

__forceinline__ unsigned __ballot_sync(
    unsigned mask, int predicate, std::source_location where = std::source_location::current()) {
  return static_cast<unsigned>(paged::simt::join_warp_operation(paged::simt::WarpOperation::ballot,
                                                                mask, predicate != 0, 0, where));
}

__forceinline__ int __any_sync(unsigned mask, int predicate,
                               std::source_location where = std::source_location::current()) {
  return paged::simt::join_warp_operation(paged::simt::WarpOperation::any, mask, predicate != 0, 0,
                                          where) != 0;
}

/// True if no lane's predicate is 0.
__forceinline__ int __all_sync(unsigned mask, int predicate,
                               std::source_location where = std::source_location::current()) {
  return paged::simt::join_warp_operation(paged::simt::WarpOperation::all, mask, predicate == 0, 0,
                                          where) == 0;
}

/// The lanes that are here together: those that come to this call before any of them goes on.
__forceinline__ unsigned __activemask(
    std::source_location where = std::source_location::current()) {
  return static_cast<unsigned>(
      paged::simt::join_warp_operation(paged::simt::WarpOperation::active_mask, 0, 0, 0, where));
}
