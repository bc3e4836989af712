// Who am I: threadIdx and its siblings.
#pragma once

struct uint3 {
  unsigned x, y, z;
};

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

inline constexpr int warpSize = 32;

namespace paged::simt {

/// Where a thread stands in its block and its grid.
struct ThreadCoordinates {
  uint3 thread{0, 0, 0};
  uint3 block{0, 0, 0};
  dim3 block_extent;
  dim3 grid_extent;
  int lane = 0;  ///< in its warp, 0 ... 31
};

/// The calling thread's coordinates. Const for the compiler: they never change within a thread.
[[gnu::const]] const ThreadCoordinates& coordinates() noexcept;

}  // namespace paged::simt

// Objects of these names cannot work: each thread needs its own, without a load that is counted.
#define threadIdx (::paged::simt::coordinates().thread)
#define blockIdx (::paged::simt::coordinates().block)
#define blockDim (::paged::simt::coordinates().block_extent)
#define gridDim (::paged::simt::coordinates().grid_extent)
