// What the lanes of a warp show each other in ldmatrix and mma.
#pragma once
#include "kernels/simt/fiber.h"

#include <array>
#include <cstdint>
#include <memory>

namespace paged::simt {

/// What one lane brings to an operation.
struct LaneOperands {
  std::uintptr_t row = 0;          ///< ldmatrix: the address of a row
  std::array<unsigned, 4> a = {};  ///< mma: the lane's registers
  std::array<unsigned, 2> b = {};
};

/// One worker's operands. Each warp has two sets, used in turn: a lane can be one operation ahead
/// of another that still reads, and never two, since all lanes meet in each.
class MatrixExchange {
 public:
  using Warp = std::array<LaneOperands, kWarpSize>;

  void begin_block() { turns_.fill(0); }

  /// The operands of the warp's next operation, as that thread counts: to be written for its own
  /// lane before the lanes meet, and read for all of them afterwards.
  Warp& next(const Fiber& thread) {
    turns_[thread.id] ^= 1U;
    return warps_[2 * thread.warp + turns_[thread.id]];
  }

 private:
  std::array<std::uint8_t, kMaxThreads> turns_ = {};
  std::unique_ptr<Warp[]> warps_ = std::make_unique<Warp[]>(2 * kMaxWarps);
};

}  // namespace paged::simt
