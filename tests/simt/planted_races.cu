// Data races and uninitialised reads in shared memory, and look-alikes that are in order.
#include "kernels/cuda.h"
#include "kernels/reduction.cuh"
#include "kernels/vector_load.cuh"
#include "tests/simt/device_array.h"
#include "tests/simt/planted_kernels.h"
#include "tests/simt/planted_threads.cuh"

namespace paged::PAGED_BACKEND {
namespace {

using RaceKernel = void (*)(int*);

// ---- barriers -----------------------------------------------------------------------------------

__global__ void no_barrier(int* values) {
  __shared__ int shared[kThreads];
  shared[threadIdx.x] = 0;
  __syncthreads();
  shared[threadIdx.x] = values[threadIdx.x];  // mistake: no barrier
  values[threadIdx.x] = shared[(threadIdx.x + 32) % kThreads];
}

__global__ void with_barrier(int* values) {
  __shared__ int shared[kThreads];
  shared[threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  values[threadIdx.x] = shared[(threadIdx.x + 32) % kThreads];
}

__global__ void reuse_without_barrier(int* values) {
  int* const shared = reinterpret_cast<int*>(dynamic_shared);
  shared[threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  const int other = shared[kThreads - 1 - threadIdx.x];  // mistake: reuse without barrier
  shared[threadIdx.x] = 2 * other;
  __syncthreads();
  values[threadIdx.x] = shared[kThreads - 1 - threadIdx.x];
}

__global__ void reuse_with_barrier(int* values) {
  int* const shared = reinterpret_cast<int*>(dynamic_shared);
  shared[threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  const int other = shared[kThreads - 1 - threadIdx.x];
  __syncthreads();
  shared[threadIdx.x] = 2 * other;
  __syncthreads();
  values[threadIdx.x] = shared[kThreads - 1 - threadIdx.x];
}

// The scratch of a block-wide sum is still being read by some warps when others write it again.
__global__ void two_sums_one_scratch(int* values) {
  __shared__ int scratch[kThreads / 32];
  const int first = block_sum<kThreads>(values[threadIdx.x], scratch);
  const int second = block_sum<kThreads>(first, scratch);  // mistake: two sums one scratch
  values[threadIdx.x] = second;
}

__global__ void two_sums_two_scratches(int* values) {
  __shared__ int scratch[2][kThreads / 32];
  const int first = block_sum<kThreads>(values[threadIdx.x], scratch[0]);
  values[threadIdx.x] = block_sum<kThreads>(first, scratch[1]);
}

__global__ void same_value_by_all(int* values) {
  __shared__ int flag;
  flag = 1;  // mistake: same value by all
  __syncthreads();
  values[threadIdx.x] = flag;
}

__global__ void value_by_one(int* values) {
  __shared__ int flag;
  if (threadIdx.x == 0) flag = 1;
  __syncthreads();
  values[threadIdx.x] = flag;
}

__global__ void double_buffer_too_small(int* values) {
  __shared__ int buffer[2][kThreads];
  for (int step = 0; step < 4; ++step) {
    buffer[0][threadIdx.x] = values[threadIdx.x] + step;
    __syncthreads();
    values[threadIdx.x] =
        buffer[0][kThreads - 1 - threadIdx.x];  // mistake: double buffer too small
  }
}

__global__ void double_buffer(int* values) {
  __shared__ int buffer[2][kThreads];
  for (int step = 0; step < 4; ++step) {
    buffer[step % 2][threadIdx.x] = values[threadIdx.x] + step;
    __syncthreads();
    values[threadIdx.x] = buffer[step % 2][kThreads - 1 - threadIdx.x];
  }
}

// ---- within a warp ------------------------------------------------------------------------------

__global__ void warp_without_sync(int* values) {
  __shared__ int shared[kThreads];
  shared[threadIdx.x] = 0;
  __syncthreads();
  shared[threadIdx.x] = values[threadIdx.x];  // mistake: warp without sync
  values[threadIdx.x] = shared[threadIdx.x ^ 1];
}

__global__ void warp_with_sync(int* values) {
  __shared__ int shared[kThreads];
  shared[threadIdx.x] = values[threadIdx.x];
  __syncwarp();
  values[threadIdx.x] = shared[threadIdx.x ^ 1];
}

// A shuffle makes lanes meet, but orders no memory.
__global__ void shuffle_for_sync(int* values) {
  __shared__ int shared[kThreads];
  shared[threadIdx.x] = values[threadIdx.x];
  const int sum = warp_sum(1);
  values[threadIdx.x] = sum + shared[threadIdx.x ^ 1];  // mistake: shuffle for sync
}

// Lanes 0 to 15 and 16 to 31 meet among themselves, but read across.
__global__ void sync_of_halves(int* values) {
  __shared__ int shared[kThreads];
  shared[threadIdx.x] = 0;
  __syncthreads();
  shared[threadIdx.x] = values[threadIdx.x];
  __syncwarp(threadIdx.x % 32 < 16 ? 0x0000FFFFU : 0xFFFF0000U);
  values[threadIdx.x] = shared[threadIdx.x ^ 16];  // mistake: sync of halves
}

__global__ void sync_of_halves_read_within(int* values) {
  __shared__ int shared[kThreads];
  shared[threadIdx.x] = values[threadIdx.x];
  __syncwarp(threadIdx.x % 32 < 16 ? 0x0000FFFFU : 0xFFFF0000U);
  values[threadIdx.x] = shared[threadIdx.x ^ 8];
}

// ---- atomics, bytes -----------------------------------------------------------------------------

__global__ void plain_beside_atomic(int* values) {
  __shared__ int total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  atomicAdd(&total, 1);  // mistake: plain beside atomic
  values[threadIdx.x] = total;
}

__global__ void only_atomics(int* values) {
  __shared__ int total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  atomicAdd(&total, values[threadIdx.x]);
  __syncthreads();
  values[threadIdx.x] = total;
}

// Neighbours share a word of four bytes, but no byte.
__global__ void own_byte(int* values) {
  __shared__ unsigned char shared[kThreads];
  shared[threadIdx.x] = static_cast<unsigned char>(values[threadIdx.x]);
  values[threadIdx.x] = shared[threadIdx.x];
}

// Each reads its own half of a word, meets the others, and writes it.
__global__ void own_half_word(int* values) {
  __shared__ unsigned short shared[kThreads];
  shared[threadIdx.x] = static_cast<unsigned short>(values[threadIdx.x]);
  __syncthreads();
  const unsigned short before = shared[threadIdx.x];
  const int sum = warp_sum(static_cast<int>(before));
  shared[threadIdx.x] = static_cast<unsigned short>(sum);
  values[threadIdx.x] = shared[threadIdx.x];
}

// The same word, read by a neighbour: that is a race.
__global__ void neighbours_half_word(int* values) {
  __shared__ unsigned short shared[kThreads];
  shared[threadIdx.x] = static_cast<unsigned short>(values[threadIdx.x]);
  __syncthreads();
  const unsigned short before = shared[threadIdx.x ^ 1];
  const int sum = warp_sum(static_cast<int>(before));
  shared[threadIdx.x] = static_cast<unsigned short>(sum);  // mistake: half word of a neighbour
  values[threadIdx.x] = sum;
}

// ---- what nothing has written -------------------------------------------------------------------

__global__ void gap_in_static(int* values) {
  __shared__ int shared[kThreads];
  if (threadIdx.x % 2 == 0) shared[threadIdx.x] = 1;
  __syncthreads();
  values[threadIdx.x] = shared[threadIdx.x];  // mistake: gap in static
}

__global__ void gap_in_dynamic(int* values) {
  int* const shared = reinterpret_cast<int*>(dynamic_shared);
  if (threadIdx.x < 60) shared[threadIdx.x] = 1;
  __syncthreads();
  values[threadIdx.x] = shared[threadIdx.x];  // mistake: gap in dynamic
}

__global__ void filled_gap(int* values) {
  __shared__ int shared[kThreads];
  shared[threadIdx.x] = threadIdx.x % 2 == 0 ? 1 : 0;
  __syncthreads();
  values[threadIdx.x] = shared[threadIdx.x];
}

// ---- vectors beside words, halves beside halves -------------------------------------------------

constexpr int kVectors = kThreads / 4;

__global__ void word_of_a_read_vector(int* values) {
  __shared__ __align__(16) int shared[kThreads];
  shared[threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  values[threadIdx.x] = load_vec<4>(shared)[0];
  if (threadIdx.x == 5) shared[2] = 7;  // mistake: word of a vector that others read
}

__global__ void words_and_vectors_read(int* values) {
  __shared__ __align__(16) int shared[kThreads];
  shared[threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  values[threadIdx.x] = load_vec<4>(shared)[3] + shared[threadIdx.x % 8] + load_vec<2>(shared)[1];
  __syncthreads();
  if (threadIdx.x == 5) shared[2] = 7;
}

__global__ void vector_over_read_words(int* values) {
  __shared__ __align__(16) int shared[kThreads];
  shared[threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  const int own = shared[threadIdx.x];
  values[threadIdx.x] = own;
  if (threadIdx.x == 40)
    store_vec(shared, Vec<int, 4>{{own, own, own, own}});  // mistake: vector over words of others
}

__global__ void vectors_in_turn(bool with_barrier, int* values) {
  __shared__ __align__(16) int shared[kThreads];
  shared[threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  if (threadIdx.x >= kVectors) return;
  const int own = threadIdx.x;
  store_vec(shared + 4 * own, Vec<int, 4>{{own, own, own, own}});  // mistake: vector of a neighbour
  if (with_barrier) __syncwarp((1U << kVectors) - 1U);
  values[own] = load_vec<4>(shared + 4 * ((own + 1) % kVectors))[0];
}

// A thread writes both halves of its word; the first of them is read by another warp.
__global__ void halves_without_barrier(int* values) {
  __shared__ __align__(4) unsigned short shared[2 * kThreads];
  shared[2 * threadIdx.x] = shared[2 * threadIdx.x + 1] = 0;
  __syncthreads();
  shared[2 * threadIdx.x] = 1;  // mistake: halves without a barrier
  shared[2 * threadIdx.x + 1] = 2;
  values[threadIdx.x] = shared[2 * ((threadIdx.x + 32) % kThreads)];
}

__global__ void halves_with_barrier(int* values) {
  __shared__ __align__(4) unsigned short shared[2 * kThreads];
  shared[2 * threadIdx.x] = 1;
  shared[2 * threadIdx.x + 1] = 2;
  __syncthreads();
  values[threadIdx.x] = shared[2 * ((threadIdx.x + 32) % kThreads)];
}

// One half is read by another warp and written after a barrier; the other half is read, too.
__global__ void read_half_outlives_a_write(int* values) {
  __shared__ __align__(4) unsigned short shared[2];
  if (threadIdx.x < 2) shared[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 0) values[0] = shared[0];
  if (threadIdx.x == 32) {
    shared[1] = 7;
    shared[0] = 7;  // mistake: half that is read and then written beside the other
  }
}

// Lane 0 reads one half, meets lane 1, and reads the other; lane 1 writes the first.
__global__ void half_read_before_the_sync(int* values) {
  __shared__ __align__(4) unsigned short shared[2];
  if (threadIdx.x < 2) shared[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  if (threadIdx.x == 0) values[0] = shared[0];
  __syncwarp();
  if (threadIdx.x == 0) values[0] += shared[1];
  if (threadIdx.x == 1) shared[0] = 7;
}

__global__ void half_read_after_the_sync(int* values) {
  __shared__ __align__(4) unsigned short shared[2];
  if (threadIdx.x < 2) shared[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  if (threadIdx.x == 0) values[0] = shared[1];
  __syncwarp();
  if (threadIdx.x == 0) values[0] += shared[0];
  if (threadIdx.x == 1) shared[0] = 7;  // mistake: half that is read after the sync
}

__global__ void halves_of_two_owners(int* values) {
  __shared__ __align__(4) unsigned short shared[2];
  if (threadIdx.x < 2) shared[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 0) values[0] = shared[0];
  if (threadIdx.x == 32) shared[1] = 7;
  __syncthreads();
  if (threadIdx.x == 32) shared[0] = 7;
}

// Lanes 0 and 1 read a half each, and lane 1 writes its own in place, as x[t] = f(x[t]) does where
// one lane has a branch of its own. The other half is still one that lane 0 has read.
__global__ void half_in_place(bool barrier, int* values) {
  __shared__ __align__(4) unsigned short shared[2];
  if (threadIdx.x < 2) shared[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x < 2) values[threadIdx.x] = shared[threadIdx.x];
  if (threadIdx.x == 1) shared[1] = 5;
  if (barrier) __syncthreads();
  if (threadIdx.x == 32) shared[0] = 7;  // mistake: half beside one that is written in place
}

__global__ void other_half_of_a_word(int* values) {
  __shared__ __align__(4) unsigned short shared[2 * kThreads];
  shared[2 * threadIdx.x] = shared[2 * threadIdx.x + 1] = 1;
  __syncthreads();
  if (threadIdx.x < 2) values[threadIdx.x] = shared[threadIdx.x];
  if (threadIdx.x == 2) shared[1] = 7;  // mistake: half of a word whose halves are read
}

// Lanes 0 and 1 read, meet, and lane 1 writes; lane 0 may read once more.
__global__ void read_around_a_sync(bool again, int* values) {
  __shared__ int shared;
  if (threadIdx.x == 0) shared = values[0];
  __syncthreads();
  if (threadIdx.x > 1) return;
  int sum = shared;
  __syncwarp(3U);
  if (again && threadIdx.x == 0) sum += shared;
  if (threadIdx.x == 1) shared = 5;  // mistake: read again after the sync
  values[threadIdx.x] = sum;
}

__global__ void left_by_the_last_block(int* values) {
  __shared__ int shared;
  if (blockIdx.x == 0 && threadIdx.x == 0) shared = 1;
  __syncthreads();
  if (threadIdx.x == 0) values[blockIdx.x] = shared;  // mistake: left by the last block
}

void run(Device& device, RaceKernel kernel, int blocks = 1) {
  const DeviceArray<int> values(device, std::vector<int>(kThreads, 1), "values");
  launch(kernel, dim3(blocks), dim3(kThreads), kThreads * sizeof(int), Stream{}, values.data());
}

void run_with(Device& device, void (*kernel)(bool, int*), bool flag) {
  const DeviceArray<int> values(device, std::vector<int>(kThreads, 1), "values");
  launch(kernel, dim3(1), dim3(kThreads), 0, Stream{}, flag, values.data());
}

}  // namespace

void add_planted_races(std::vector<PlantedKernel>& kernels) {
  const std::string file = "planted_races.cu";
  const auto race = FindingKind::data_race;
  const auto read = FindingKind::uninitialised_read;
  kernels.insert(
      kernels.end(),
      {{"no barrier",
        file,
        [](Device& device) { run(device, no_barrier); },
        // Threads run in order here: the first has read before thread 32 writes.
        {{race, "no_barrier",
          "thread (32,0,0) (warp 1, lane 0): 4-byte write at byte 128 of 'shared' races with a "
          "read by "
          "thread (0,0,0) (warp 0, lane 0) at planted_races.cu:"}},
        true},
       {"barrier",
        file,
        [](Device& device) { run(device, with_barrier); },
        {},
        false,
        FindingKind::data_race},
       {"reuse without barrier",
        file,
        [](Device& device) { run(device, reuse_without_barrier); },
        {{race, "reuse_without_barrier",
          "of the dynamic shared memory races with a write by thread (31,0,0)"}},
        true},
       {"reuse with barrier",
        file,
        [](Device& device) { run(device, reuse_with_barrier); },
        {},
        false,
        FindingKind::data_race},
       {"two sums one scratch",
        file,
        [](Device& device) { run(device, two_sums_one_scratch); },
        {{race, "two_sums_one_scratch", "of 'scratch' races with a read by thread"}},
        true},
       {"two sums two scratches",
        file,
        [](Device& device) { run(device, two_sums_two_scratches); },
        {},
        false,
        FindingKind::data_race},
       {"same value by all",
        file,
        [](Device& device) { run(device, same_value_by_all); },
        {{race, "same_value_by_all",
          "thread (1,0,0) (warp 0, lane 1): 4-byte write at byte 0 of 'flag' races with a write by "
          "thread (0,0,0) (warp 0, lane 0) at planted_races.cu:"}},
        true},
       {"value by one",
        file,
        [](Device& device) { run(device, value_by_one); },
        {},
        false,
        FindingKind::data_race},
       {"double buffer too small",
        file,
        [](Device& device) { run(device, double_buffer_too_small); },
        {{race, "double_buffer_too_small", "of 'buffer' races with a write by thread (31,0,0)"}},
        true},
       {"double buffer",
        file,
        [](Device& device) { run(device, double_buffer); },
        {},
        false,
        FindingKind::data_race},
       {"warp without sync",
        file,
        [](Device& device) { run(device, warp_without_sync); },
        {{race, "warp_without_sync",
          "4-byte write at byte 4 of 'shared' races with a read by thread (0,0,0) (warp 0, lane "
          "0)"}},
        true},
       {"warp with sync",
        file,
        [](Device& device) { run(device, warp_with_sync); },
        {},
        false,
        FindingKind::data_race},
       {"shuffle for sync",
        file,
        [](Device& device) { run(device, shuffle_for_sync); },
        {{race, "shuffle_for_sync",
          "4-byte read at byte 4 of 'shared' races with a write by thread "
          "(1,0,0) (warp 0, lane 1)"}},
        true},
       {"sync of halves",
        file,
        [](Device& device) { run(device, sync_of_halves); },
        {{race, "sync_of_halves", "of 'shared' races with a write by thread"}},
        true},
       {"sync of halves, read within",
        file,
        [](Device& device) { run(device, sync_of_halves_read_within); },
        {},
        false,
        FindingKind::data_race},
       {"plain beside atomic",
        file,
        [](Device& device) { run(device, plain_beside_atomic); },
        {{race, "plain_beside_atomic",
          "4-byte atomic at byte 0 of 'total' races with a read by thread (0,0,0)"}},
        true},
       {"only atomics",
        file,
        [](Device& device) { run(device, only_atomics); },
        {},
        false,
        FindingKind::data_race},
       {"own byte",
        file,
        [](Device& device) { run(device, own_byte); },
        {},
        false,
        FindingKind::data_race},
       {"own half word",
        file,
        [](Device& device) { run(device, own_half_word); },
        {},
        false,
        FindingKind::data_race},
       {"half word of a neighbour",
        file,
        [](Device& device) { run(device, neighbours_half_word); },
        {{race, "neighbours_half_word",
          "2-byte write at byte 0 of 'shared' races with a read by thread (1,0,0)"}},
        true},
       {"word of a vector that others read",
        file,
        [](Device& device) { run(device, word_of_a_read_vector); },
        {{race, "word_of_a_read_vector",
          "4-byte write at byte 8 of 'shared' races with a read by thread (0,0,0)"}},
        true},
       {"words and vectors that are only read",
        file,
        [](Device& device) { run(device, words_and_vectors_read); },
        {},
        false,
        FindingKind::data_race},
       {"vector over words of others",
        file,
        [](Device& device) { run(device, vector_over_read_words); },
        {{race, "vector_over_read_words",
          "16-byte write at byte 0 of 'shared' races with a read by thread (0,0,0)"}},
        true},
       {"vector of a neighbour",
        file,
        [](Device& device) { run_with(device, vectors_in_turn, false); },
        {{race, "vectors_in_turn",
          "16-byte write at byte 16 of 'shared' races with a read by thread (0,0,0)"}},
        true},
       {"vector of a neighbour after a sync",
        file,
        [](Device& device) { run_with(device, vectors_in_turn, true); },
        {},
        false,
        FindingKind::data_race},
       {"half of a word whose halves are read",
        file,
        [](Device& device) { run(device, other_half_of_a_word); },
        {{race, "other_half_of_a_word",
          "2-byte write at byte 2 of 'shared' races with a read by thread (1,0,0)"}},
        true},
       {"half beside one that is written in place",
        file,
        [](Device& device) { run_with(device, half_in_place, false); },
        {{race, "half_in_place",
          "2-byte write at byte 0 of 'shared' races with a read by thread (0,0,0)"}},
        true},
       {"half beside one that is written in place, after a barrier",
        file,
        [](Device& device) { run_with(device, half_in_place, true); },
        {},
        false,
        FindingKind::data_race},
       {"halves without a barrier",
        file,
        [](Device& device) { run(device, halves_without_barrier); },
        {{race, "halves_without_barrier", "2-byte"}},
        true},
       {"halves with a barrier",
        file,
        [](Device& device) { run(device, halves_with_barrier); },
        {},
        false,
        FindingKind::data_race},
       {"half that is read and then written beside the other",
        file,
        [](Device& device) { run(device, read_half_outlives_a_write); },
        {{race, "read_half_outlives_a_write",
          "2-byte write at byte 0 of 'shared' races with a read by thread (0,0,0)"}},
        true},
       {"half that is read before the sync",
        file,
        [](Device& device) { run(device, half_read_before_the_sync); },
        {},
        false,
        FindingKind::data_race},
       {"half that is read after the sync",
        file,
        [](Device& device) { run(device, half_read_after_the_sync); },
        {{race, "half_read_after_the_sync", "2-byte"}},
        true},
       {"halves of two owners",
        file,
        [](Device& device) { run(device, halves_of_two_owners); },
        {},
        false,
        FindingKind::data_race},
       {"read again after the sync",
        file,
        [](Device& device) { run_with(device, read_around_a_sync, true); },
        {{race, "read_around_a_sync",
          "4-byte write at byte 0 of 'shared' races with a read by "
          "thread (0,0,0)"}},
        true},
       {"read only before the sync",
        file,
        [](Device& device) { run_with(device, read_around_a_sync, false); },
        {},
        false,
        FindingKind::data_race},
       {"gap in static",
        file,
        [](Device& device) { run(device, gap_in_static); },
        {{read, "gap_in_static",
          "thread (1,0,0) (warp 0, lane 1): 4-byte read of shared memory that nothing in this "
          "block "
          "has written, at byte 4 of 'shared'"}},
        true},
       {"gap that is filled",
        file,
        [](Device& device) { run(device, filled_gap); },
        {},
        false,
        FindingKind::uninitialised_read},
       {"gap in dynamic",
        file,
        [](Device& device) { run(device, gap_in_dynamic); },
        {{read, "gap_in_dynamic", "at byte 240 of the dynamic shared memory"}},
        true},
       {"left by the last block",
        file,
        [](Device& device) { run(device, left_by_the_last_block, 2); },
        {{read, "left_by_the_last_block", "block (1,0,0)"}},
        true}});
}

}  // namespace paged::PAGED_BACKEND
