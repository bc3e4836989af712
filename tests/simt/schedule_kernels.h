// Kernels that show in which order the CPU machine runs threads and blocks.
#pragma once

namespace paged {

/// Launchers of one backend. Pointers are device memory.
struct ScheduleKernels {
  /// Two warps; results [64]: the values of the other warp's threads. Between write and read there
  /// is a shuffle, at which the lanes of a warp meet, but no barrier.
  void (*swap_warps_without_barrier)(const int* values, int* results);
  /// order [blocks * threads]: numbers of the threads in the grid, in the order in which they come.
  void (*order_of_arrival)(int blocks, int threads, int* num_arrived, int* order);
  /// results [threads]: each thread's sum of what it read from the others, with barriers.
  void (*mix_with_barriers)(int threads, int rounds, int* results);
};

namespace cpu_checked {
ScheduleKernels schedule_kernels();
}
namespace cpu_unchecked {
ScheduleKernels schedule_kernels();
}

}  // namespace paged
