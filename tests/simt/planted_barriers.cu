// Wrong and right uses of block-wide barriers, and of the stack.
#include "kernels/cuda.h"
#include "tests/simt/device_array.h"
#include "tests/simt/planted_kernels.h"

namespace paged::PAGED_BACKEND {
namespace {

// ---- different barriers -------------------------------------------------------------------------

__global__ void diverge_in_warp(int* values) {
  if (threadIdx.x % 32 < 16) {
    values[threadIdx.x] = 1;
    __syncthreads();  // mistake: barriers in both branches of a warp
  } else {
    values[threadIdx.x] = 2;
    __syncthreads();
  }
}

__global__ void diverge_in_block(int* values) {
  if (threadIdx.x < 32) {
    values[threadIdx.x] = 1;
    __syncthreads();  // mistake: barriers in both branches of a block
  } else {
    values[threadIdx.x] = __syncthreads_or(1);
  }
}

__global__ void branch_together(int* values) {
  if (blockIdx.x == 0) {
    __syncthreads();
    values[threadIdx.x] = 1;
  } else {
    values[64 + threadIdx.x] = __syncthreads_or(1);
  }
}

__global__ void loop_together(int* values) {
  for (int i = 0; i < 3; ++i) {
    __syncthreads();
    values[threadIdx.x] = i;
    if (i == 1) __syncthreads();
  }
}

__global__ void loop_unevenly(int* values) {
  const unsigned rounds = threadIdx.x < 32 ? 2 : 1;
  for (unsigned i = 0; i < rounds; ++i) {
    values[threadIdx.x] = static_cast<int>(i);
    __syncthreads();  // mistake: barrier in a loop of uneven length
  }
  __syncthreads();
}

__global__ void loop_evenly(int* values) {
  const unsigned rounds = blockIdx.x + 1;
  for (unsigned i = 0; i < rounds; ++i) {
    values[64 * blockIdx.x + threadIdx.x] = static_cast<int>(i);
    __syncthreads();
  }
  __syncthreads();
}

// ---- barriers and exits -------------------------------------------------------------------------

__global__ void return_early(int count, int* values) {
  if (static_cast<int>(threadIdx.x) >= count) return;
  values[threadIdx.x] = 1;
  __syncthreads();  // mistake: barrier after an early return
}

__global__ void leave_loop_early(int* values) {
  for (int i = 0; i < 3; ++i) {
    if (i == 2 && threadIdx.x == 5) return;
    __syncthreads();  // mistake: barrier in a loop that a thread has left
  }
  values[threadIdx.x] = 1;
}

__global__ void return_as_a_warp(int* values) {
  if (threadIdx.x / 32 == 1) return;
  values[threadIdx.x] = __syncthreads_count(1);  // mistake: barrier that a warp does not come to
}

__global__ void return_as_a_block(int* values) {
  if (blockIdx.x == 1) return;
  __syncthreads();
  values[threadIdx.x] = 1;
}

__global__ void return_after_last_barrier(int* values) {
  __syncthreads();
  if (threadIdx.x >= 7) return;
  values[threadIdx.x] = 1;
}

// ---- waiting for ever ---------------------------------------------------------------------------

__global__ void shuffle_in_half_a_warp(int* values) {
  int value = 1;
  if (threadIdx.x % 32 < 16)
    value = __shfl_xor_sync(0xFFFFFFFFU, value, 1);  // mistake: shuffle in half a warp
  __syncthreads();
  values[threadIdx.x] = value;
}

__global__ void shuffle_in_half_a_warp_of_its_own(int* values) {
  int value = 1;
  if (threadIdx.x % 32 < 16) value = __shfl_xor_sync(0x0000FFFFU, value, 1);
  __syncthreads();
  values[threadIdx.x] = value;
}

__global__ void wait_for_lane_at_barrier(int* values) {
  if (threadIdx.x == 40) {
    __syncthreads();
  } else {
    __syncwarp();  // mistake: warp barrier without a lane
    __syncthreads();
  }
  values[threadIdx.x] = 1;
}

__global__ void vote_in_uneven_loop(int* values) {
  unsigned votes = 0;
  for (unsigned i = threadIdx.x % 2; i < 2; ++i)
    votes += __ballot_sync(0xFFFFFFFFU, 1);  // mistake: vote in a loop that lanes leave
  __syncthreads();
  values[threadIdx.x] = static_cast<int>(votes);
}

__global__ void vote_in_even_loop(int* values) {
  unsigned votes = 0;
  for (unsigned i = threadIdx.x / 32; i < 2; ++i) votes += __ballot_sync(0xFFFFFFFFU, 1);
  __syncthreads();
  values[threadIdx.x] = static_cast<int>(votes);
}

__global__ void meet_without_lane(int* values) {
  if (threadIdx.x != 40) __syncwarp(threadIdx.x < 32 ? 0xFFFFFFFFU : ~(1U << 8));
  __syncthreads();
  values[threadIdx.x] = 1;
}

// ---- the stack ----------------------------------------------------------------------------------

__device__ __attribute__((noinline)) int sum_recursively(volatile int* values, int depth) {
  volatile int block[256];
  for (int i = 0; i < 256; i += 64) block[i] = values[0] + depth;
  return depth == 0 ? block[0] : sum_recursively(block, depth - 1) + block[64];
}

__global__ void recurse(int depth, int* values) {
  int one = 1;
  values[threadIdx.x] = sum_recursively(&one, depth);
}

__global__ void recurse_in_one_thread(int depth, int* values) {
  int one = 1;
  values[threadIdx.x] = sum_recursively(&one, threadIdx.x == 40 ? depth : 0);
}

__device__ __attribute__((noinline)) int add_up(volatile int* values, int depth) {
  return depth == 0 ? values[0] : add_up(values, depth - 1) + values[0];
}

__global__ void recurse_in_small_steps(int depth, int* values) {
  int one = 1;
  values[threadIdx.x] = add_up(&one, depth);
}

__global__ void keep_much(int step, int* values) {
  volatile int kept[12 * 1024];
  for (int i = 0; i < 12 * 1024; i += step) kept[i] = i;
  values[threadIdx.x] = kept[step];
}

void run_with(Device& device, int blocks, int threads, void (*kernel)(int*)) {
  const DeviceArray<int> values(device, std::vector<int>(128), "values");
  launch(kernel, dim3(blocks), dim3(threads), 0, Stream{}, values.data());
}

void run_with(Device& device, int blocks, int threads, void (*kernel)(int, int*), int argument) {
  const DeviceArray<int> values(device, std::vector<int>(128), "values");
  launch(kernel, dim3(blocks), dim3(threads), 0, Stream{}, argument, values.data());
}

}  // namespace

void add_planted_barriers(std::vector<PlantedKernel>& kernels) {
  const auto divergence = FindingKind::barrier_divergence;
  const auto after_exit = FindingKind::barrier_after_exit;
  const auto deadlock = FindingKind::deadlock;
  const auto overflow = FindingKind::stack_overflow;
  const std::string file = "planted_barriers.cu";
  kernels.insert(
      kernels.end(),
      {{"barriers in both branches of a warp",
        file,
        [](Device& device) { run_with(device, 1, 64, diverge_in_warp); },
        {{divergence, "diverge_in_warp", "while thread (16,0,0) of the same warp waits at"}}},
       {"barriers in both branches of a block",
        file,
        [](Device& device) { run_with(device, 1, 64, diverge_in_block); },
        {{divergence, "diverge_in_block", "while thread (32,0,0) of the same block waits at"}}},
       {"a branch that the block takes together",
        file,
        [](Device& device) { run_with(device, 2, 64, branch_together); },
        {},
        false,
        FindingKind::barrier_divergence},
       {"a loop with two barriers",
        file,
        [](Device& device) { run_with(device, 1, 64, loop_together); },
        {},
        false,
        FindingKind::barrier_divergence},

       {"barrier in a loop of uneven length",
        file,
        [](Device& device) { run_with(device, 1, 64, loop_unevenly); },
        {{divergence, "loop_unevenly", "while thread (32,0,0) of the same block waits at"}}},
       {"barrier in a loop of even length",
        file,
        [](Device& device) { run_with(device, 2, 64, loop_evenly); },
        {},
        false,
        FindingKind::barrier_divergence},

       {"barrier after an early return",
        file,
        [](Device& device) { run_with(device, 1, 64, return_early, 40); },
        {{after_exit, "return_early",
          "waits at a barrier that 24 of the block's 64 threads can no longer reach"}}},
       {"barrier in a loop that a thread has left",
        file,
        [](Device& device) { run_with(device, 1, 64, leave_loop_early); },
        {{after_exit, "leave_loop_early", "1 of the block's 64 threads can no longer reach"}}},
       {"barrier that a warp does not come to",
        file,
        [](Device& device) { run_with(device, 1, 64, return_as_a_warp); },
        {{after_exit, "return_as_a_warp",
          "waits at a barrier that 32 of the block's 64 threads can no longer reach"}}},
       {"no early return",
        file,
        [](Device& device) { run_with(device, 1, 64, return_early, 64); },
        {},
        false,
        FindingKind::barrier_after_exit},
       {"an early return of a whole block",
        file,
        [](Device& device) { run_with(device, 2, 64, return_as_a_block); },
        {},
        false,
        FindingKind::barrier_after_exit},
       {"a return after the last barrier",
        file,
        [](Device& device) { run_with(device, 1, 64, return_after_last_barrier); },
        {},
        false,
        FindingKind::barrier_after_exit},

       {"shuffle in half a warp",
        file,
        [](Device& device) { run_with(device, 1, 32, shuffle_in_half_a_warp); },
        {{deadlock, "shuffle_in_half_a_warp",
          "no thread of the block can go on: threads 0-15 wait at __shfl_xor_sync at "
          "planted_barriers.cu:"}}},
       {"warp barrier without a lane",
        file,
        [](Device& device) { run_with(device, 1, 64, wait_for_lane_at_barrier); },
        {{deadlock, "wait_for_lane_at_barrier", "threads 40-40 wait at __syncthreads at"}}},
       {"vote in a loop that lanes leave",
        file,
        [](Device& device) { run_with(device, 1, 32, vote_in_uneven_loop); },
        {{deadlock, "vote_in_uneven_loop", "threads 1-1 wait at __syncthreads at"}}},
       {"shuffle in half a warp of its own",
        file,
        [](Device& device) { run_with(device, 1, 32, shuffle_in_half_a_warp_of_its_own); },
        {},
        false,
        FindingKind::deadlock},
       {"vote in a loop that warps leave",
        file,
        [](Device& device) { run_with(device, 1, 64, vote_in_even_loop); },
        {},
        false,
        FindingKind::deadlock},
       {"warp barrier of those that come",
        file,
        [](Device& device) { run_with(device, 1, 64, meet_without_lane); },
        {},
        false,
        FindingKind::deadlock},

       {"endless recursion",
        file,
        [](Device& device) { run_with(device, 1, 33, recurse, 100000); },
        {{overflow, "recurse", "thread (0,0,0) (warp 0, lane 0): has used up its stack of 64 KB",
          false}}},
       {"recursion a little too deep",
        file,
        [](Device& device) { run_with(device, 1, 33, recurse, 80); },
        {{overflow, "recurse", "has used up its stack of 64 KB", false}}},
       {"recursion in one thread",
        file,
        [](Device& device) { run_with(device, 1, 64, recurse_in_one_thread, 100000); },
        {{overflow, "recurse_in_one_thread",
          "thread (40,0,0) (warp 1, lane 8): has used up its stack of 64 KB", false}}},
       {"recursion in small steps",
        file,
        [](Device& device) { run_with(device, 1, 64, recurse_in_small_steps, 200); },
        {},
        false,
        FindingKind::stack_overflow},
       {"a large array that fits",
        file,
        [](Device& device) { run_with(device, 1, 64, keep_much, 64); },
        {},
        false,
        FindingKind::stack_overflow},
       {"recursion that fits",
        file,
        [](Device& device) { run_with(device, 1, 33, recurse, 40); },
        {},
        false,
        FindingKind::stack_overflow}});
}

}  // namespace paged::PAGED_BACKEND
