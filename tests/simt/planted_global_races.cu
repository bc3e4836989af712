// Data races in global memory, within a block and between blocks, and look-alikes in good order.
#include "kernels/cuda.h"
#include "tests/simt/device_array.h"
#include "tests/simt/planted_kernels.h"
#include "tests/simt/planted_threads.cuh"

namespace paged::PAGED_BACKEND {
namespace {

constexpr int kBlocks = 3;

// ---- within a block -----------------------------------------------------------------------------

__global__ void exchange_without_barrier(int* values) {
  values[threadIdx.x] = static_cast<int>(threadIdx.x);  // mistake: global exchange without barrier
  values[kThreads + threadIdx.x] = values[threadIdx.x ^ 32];
}

__global__ void exchange_with_barrier(int* values) {
  values[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncthreads();
  values[kThreads + threadIdx.x] = values[threadIdx.x ^ 32];
}

// The read comes first, long before any write.
__global__ void shift_in_place(int* values) {
  const int next = values[threadIdx.x + 1];
  values[threadIdx.x] = next;  // mistake: shift in place
}

__global__ void shift_in_two_steps(int* values) {
  const int next = values[threadIdx.x + 1];
  __syncthreads();
  values[threadIdx.x] = next;
}

__global__ void flag_by_all(int* values) {
  values[0] = 1;  // mistake: global flag by all threads
}

__global__ void flag_by_one(int* values) {
  if (threadIdx.x == 0) values[0] = 1;
  __syncthreads();
  values[1 + threadIdx.x] = values[0];
}

__global__ void lanes_without_sync(int* values) {
  values[threadIdx.x] = static_cast<int>(threadIdx.x);  // mistake: lanes without global sync
  values[kThreads + threadIdx.x] = values[threadIdx.x ^ 1];
}

__global__ void lanes_with_sync(int* values) {
  values[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncwarp();
  values[kThreads + threadIdx.x] = values[threadIdx.x ^ 1];
}

// ---- between blocks -----------------------------------------------------------------------------

__global__ void word_of_all_blocks(int* values) {
  if (threadIdx.x == 0)
    values[0] = static_cast<int>(blockIdx.x);  // mistake: one word of all blocks
}

__global__ void word_of_each_block(int* values) {
  if (threadIdx.x == 0) values[blockIdx.x] = static_cast<int>(blockIdx.x);
}

// Neighbouring blocks share a word of four bytes, but no byte.
__global__ void byte_of_each_block(int* values) {
  if (threadIdx.x == 0) reinterpret_cast<unsigned char*>(values)[blockIdx.x] = 1;
}

__global__ void read_next_block(const int* from, int* to) {
  const unsigned i = blockIdx.x * kThreads + threadIdx.x;
  to[i] = from[i + kThreads];  // mistake: what the next block writes
}

__global__ void count_blocks_plainly(int* values) {
  if (threadIdx.x == 0) ++values[0];  // mistake: blocks counted without atomics
}

__global__ void count_blocks(int* values) {
  if (threadIdx.x == 0) atomicAdd(&values[0], 1);
}

__global__ void count_from_zero(int* values) {
  if (blockIdx.x == 1 && threadIdx.x == 0) values[0] = 0;  // mistake: a counter set by one block
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(&values[0], 1);
}

// The last block adds up what all have left, but takes itself for the last without counting.
__global__ void sum_in_block_with_highest_index(int* values) {
  if (threadIdx.x != 0) return;
  values[blockIdx.x] = static_cast<int>(blockIdx.x);
  if (blockIdx.x != gridDim.x - 1) return;
  int sum = 0;
  for (unsigned i = 0; i < gridDim.x; ++i) sum += values[i];  // mistake: a last block by index
  values[kThreads] = sum;
}

__global__ void sum_in_last_block_to_finish(int* values) {
  if (threadIdx.x != 0) return;
  values[blockIdx.x] = static_cast<int>(blockIdx.x);
  __threadfence();
  if (atomicAdd(&values[kThreads], 1) != static_cast<int>(gridDim.x) - 1) return;
  __threadfence();
  int sum = 0;
  for (unsigned i = 0; i < gridDim.x; ++i) sum += values[i];
  values[kThreads] = sum;
}

// Blocks hand a value on, each to the next, through counters of their own.
__global__ void sum_in_a_tree(int* values) {
  if (threadIdx.x != 0) return;
  values[blockIdx.x] = 1;
  __threadfence();
  // Of blocks 0 and 1 the later one goes on, and of it and block 2 the later one again.
  if (blockIdx.x < 2) {
    if (atomicAdd(&values[kThreads], 1) == 0) return;
    __threadfence();
  }
  if (atomicAdd(&values[kThreads + 1], 1) == 0) return;
  __threadfence();
  values[kThreads + 2] = values[0] + values[1] + values[2];
}

template <void (*kKernel)(int*), int kNumBlocks>
void launch_in(Device& device) {
  const DeviceArray<int> values(device, std::vector<int>((kBlocks + 1) * kThreads), "values");
  launch(kKernel, dim3(kNumBlocks), dim3(kThreads), 0, Stream{}, values.data());
}

void run_in_place(Device& device) {
  const DeviceArray<int> values(device, std::vector<int>((kBlocks + 1) * kThreads), "values");
  launch(read_next_block, dim3(kBlocks), dim3(kThreads), 0, Stream{}, values.data(), values.data());
}

void run_to_other_array(Device& device) {
  const DeviceArray<int> from(device, std::vector<int>((kBlocks + 1) * kThreads), "from");
  const DeviceArray<int> to(device, kBlocks * kThreads, "to");
  launch(read_next_block, dim3(kBlocks), dim3(kThreads), 0, Stream{}, from.data(), to.data());
}

// What one launch writes another may read.
void run_in_two_launches(Device& device) {
  const DeviceArray<int> values(device, std::vector<int>((kBlocks + 1) * kThreads), "values");
  launch(word_of_each_block, dim3(kBlocks), dim3(kThreads), 0, Stream{}, values.data());
  launch(sum_in_block_with_highest_index, dim3(1), dim3(kThreads), 0, Stream{}, values.data());
}

constexpr auto kRace = FindingKind::data_race;

void add_within_blocks(std::vector<PlantedKernel>& kernels, const std::string& file) {
  kernels.insert(
      kernels.end(),
      {{"global exchange without barrier",
        file,
        launch_in<exchange_without_barrier, 1>,
        {{kRace, "exchange_without_barrier",
          "thread (32,0,0) (warp 1, lane 0): 4-byte write at byte 128 of 'values' (1024 bytes) "
          "races with a read by thread (0,0,0) (warp 0, lane 0) at planted_global_races.cu:"}},
        true},
       {"global exchange with barrier",
        file,
        launch_in<exchange_with_barrier, 1>,
        {},
        false,
        kRace},
       {"shift in place",
        file,
        launch_in<shift_in_place, 1>,
        {{kRace, "shift_in_place",
          "4-byte write at byte 4 of 'values' (1024 bytes) races with a read by thread (0,0,0)"}},
        true},
       {"shift in two steps", file, launch_in<shift_in_two_steps, 1>, {}, false, kRace},
       {"global flag by all threads",
        file,
        launch_in<flag_by_all, 1>,
        {{kRace, "flag_by_all",
          "4-byte write at byte 0 of 'values' (1024 bytes) races with a write by thread (0,0,0)"}},
        true},
       {"global flag by one thread", file, launch_in<flag_by_one, 1>, {}, false, kRace},
       {"lanes without global sync",
        file,
        launch_in<lanes_without_sync, 1>,
        {{kRace, "lanes_without_sync",
          "4-byte write at byte 4 of 'values' (1024 bytes) races with a read by thread (0,0,0) "
          "(warp 0, lane 0)"}},
        true},
       {"lanes with global sync", file, launch_in<lanes_with_sync, 1>, {}, false, kRace}});
}

void add_between_blocks(std::vector<PlantedKernel>& kernels, const std::string& file) {
  kernels.insert(
      kernels.end(),
      {{"one word of all blocks",
        file,
        launch_in<word_of_all_blocks, kBlocks>,
        {{kRace, "word_of_all_blocks",
          "block (1,0,0), thread (0,0,0) (warp 0, lane 0): 4-byte write at byte 0 of 'values' "
          "(1024 bytes) races with a write by another block, block (0,0,0), thread (0,0,0) (warp "
          "0, lane 0) at planted_global_races.cu:"}},
        true},
       {"a word of each block", file, launch_in<word_of_each_block, kBlocks>, {}, false, kRace},
       {"a byte of each block", file, launch_in<byte_of_each_block, kBlocks>, {}, false, kRace},
       {"what the next block writes",
        file,
        run_in_place,
        {{kRace, "read_next_block",
          "block (1,0,0), thread (0,0,0) (warp 0, lane 0): 4-byte write at byte 256 of 'values' "
          "(1024 bytes) races with a read by another block, block (0,0,0), thread (0,0,0)"}},
        true},
       {"what no block writes", file, run_to_other_array, {}, false, kRace},
       {"blocks counted without atomics",
        file,
        launch_in<count_blocks_plainly, kBlocks>,
        {{kRace, "count_blocks_plainly", "4-byte read at byte 0 of 'values' (1024 bytes) races"}},
        true},
       {"blocks counted with atomics", file, launch_in<count_blocks, kBlocks>, {}, false, kRace},
       {"a counter set by one block",
        file,
        launch_in<count_from_zero, kBlocks>,
        {{kRace, "count_from_zero",
          "block (1,0,0), thread (0,0,0) (warp 0, lane 0): 4-byte write at byte 0 of 'values' "
          "(1024 bytes) races with an atomic by another block, block (0,0,0)"}},
        true},
       {"a last block by index",
        file,
        launch_in<sum_in_block_with_highest_index, 2>,
        {{kRace, "sum_in_block_with_highest_index",
          "block (1,0,0), thread (0,0,0) (warp 0, lane 0): 4-byte read at byte 0 of 'values'"}},
        true},
       {"a last block by counting",
        file,
        launch_in<sum_in_last_block_to_finish, kBlocks>,
        {},
        false,
        kRace},
       {"last blocks in a tree", file, launch_in<sum_in_a_tree, kBlocks>, {}, false, kRace},
       {"two launches", file, run_in_two_launches, {}, false, kRace}});
}

}  // namespace

void add_planted_global_races(std::vector<PlantedKernel>& kernels) {
  const std::string file = "planted_global_races.cu";
  add_within_blocks(kernels, file);
  add_between_blocks(kernels, file);
}

}  // namespace paged::PAGED_BACKEND
