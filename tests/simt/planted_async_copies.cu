// Wrong and right uses of asynchronous copies, thread by thread.
#include "kernels/cuda.h"
#include "tests/simt/device_array.h"
#include "tests/simt/planted_kernels.h"
#include "tests/simt/planted_threads.cuh"

namespace paged::PAGED_BACKEND {
namespace {

constexpr int kTiles = 4;

// values: [kTiles, kThreads]; results: [kThreads]
using AsyncKernel = void (*)(int* values, int* results);

__device__ __forceinline__ int other() { return (own() + 32) % kThreads; }

// ---- before the bytes are there -----------------------------------------------------------------

__global__ void no_wait(int* values, int* results) {
  __shared__ int tile[kThreads];
  cp_async<4>(&tile[own()], &values[own()]);
  cp_async_commit_group();
  __syncthreads();
  results[own()] = tile[other()];  // mistake: no wait
}

__global__ void wait_then_barrier(int* values, int* results) {
  __shared__ int tile[kThreads];
  cp_async<4>(&tile[own()], &values[own()]);
  cp_async_commit_group();
  cp_async_wait_group<0>();
  __syncthreads();
  results[own()] = tile[other()];
}

__global__ void own_bytes_without_wait(int* values, int* results) {
  __shared__ int tile[kThreads];
  cp_async<4>(&tile[own()], &values[own()]);
  cp_async_commit_group();
  results[own()] = tile[own()];  // mistake: own bytes without wait
}

__global__ void own_bytes_after_wait(int* values, int* results) {
  __shared__ int tile[kThreads];
  cp_async<4>(&tile[own()], &values[own()]);
  cp_async_commit_group();
  cp_async_wait_group<0>();
  results[own()] = tile[own()];
}

template <int kPending>
__global__ void two_buffers(int* values, int* results) {
  __shared__ int buffers[2][kThreads];
  int sum = 0;
  cp_async<4>(&buffers[0][own()], &values[own()]);
  cp_async_commit_group();
  for (int tile = 0; tile < kTiles; ++tile) {
    if (tile + 1 < kTiles)
      cp_async<4>(&buffers[(tile + 1) % 2][own()], &values[(tile + 1) * kThreads + own()]);
    cp_async_commit_group();
    cp_async_wait_group<kPending>();  // 1: all but the next tile
    __syncthreads();
    sum += buffers[tile % 2][other()];  // mistake: wait for too few groups
    __syncthreads();
  }
  results[own()] = sum;
}

__global__ void no_group(int* values, int* results) {
  __shared__ int tile[kThreads];
  cp_async<4>(&tile[own()], &values[own()]);
  cp_async_wait_group<0>();
  __syncthreads();
  results[own()] = tile[other()];  // mistake: copy in no group
}

__global__ void no_group_wait_all(int* values, int* results) {
  __shared__ int tile[kThreads];
  cp_async<4>(&tile[own()], &values[own()]);
  cp_async_wait_all();
  __syncthreads();
  results[own()] = tile[other()];
}

// A thread waits for its own copies, not for those of others.
__global__ void wait_by_one(int* values, int* results) {
  __shared__ int tile[kThreads];
  cp_async<4>(&tile[own()], &values[own()]);
  cp_async_commit_group();
  if (own() == 0) cp_async_wait_group<0>();
  __syncthreads();
  results[own()] = tile[own() ^ 1];  // mistake: wait by one thread
}

// ---- no barrier ---------------------------------------------------------------------------------

__global__ void no_barrier_after_wait(int* values, int* results) {
  __shared__ int tile[kThreads];
  tile[own()] = 0;
  __syncthreads();
  cp_async<4>(&tile[own()], &values[own()]);  // mistake: no barrier after the wait
  cp_async_commit_group();
  cp_async_wait_group<0>();
  results[own()] = tile[other()];
}

__global__ void barrier_between_copy_and_wait(int* values, int* results) {
  __shared__ int tile[kThreads];
  cp_async<4>(&tile[own()], &values[own()]);
  cp_async_commit_group();
  __syncthreads();
  cp_async_wait_group<0>();
  results[own()] = tile[other()];  // mistake: barrier before the wait
}

// Warp 0 has waited for its bytes when warp 1 reads them, but nothing says so to warp 1.
__global__ void read_what_others_waited_for(int* values, int* results) {
  __shared__ int tile[kThreads];
  cp_async<4>(&tile[own()], &values[own()]);
  cp_async_commit_group();
  __syncthreads();
  cp_async_wait_group<0>();
  if (own() >= 32) results[own()] = tile[own() - 32];  // mistake: another warp's wait
}

__global__ void warp_barrier_after_wait(int* values, int* results) {
  __shared__ int tile[kThreads];
  cp_async<4>(&tile[own()], &values[own()]);
  cp_async_commit_group();
  cp_async_wait_group<0>();
  __syncwarp();
  results[own()] = tile[own() ^ 1];
}

__global__ void copy_over_what_is_read(int* values, int* results) {
  __shared__ int tile[kThreads];
  int sum = 0;
  for (int i = 0; i < kTiles; ++i) {
    cp_async<4>(&tile[own()], &values[i * kThreads + own()]);
    cp_async_commit_group();
    cp_async_wait_group<0>();
    __syncthreads();
    sum += tile[other()];  // mistake: copy over what is read
  }
  results[own()] = sum;
}

// ---- writes while a copy is under way -----------------------------------------------------------

__global__ void write_to_destination(int* values, int* results) {
  __shared__ int tile[kThreads];
  cp_async<4>(&tile[own()], &values[own()]);
  tile[own()] = 0;  // mistake: write to where a copy goes
  cp_async_wait_all();
  results[own()] = tile[own()];
}

__global__ void two_copies_to_one_place(int* values, int* results) {
  __shared__ __align__(16) int tile[kThreads + 4];
  if (own() < 2) cp_async<16>(&tile[0], &values[4 * own()]);  // mistake: two copies to one place
  cp_async_wait_all();
  __syncthreads();
  results[own()] = tile[own() % 4];
}

__global__ void write_to_source(int* values, int* results) {
  __shared__ int tile[kThreads];
  cp_async<4>(&tile[own()], &values[own()]);  // mistake: write to where a copy comes from
  values[own()] = 7;
  cp_async_wait_all();
  results[own()] = tile[own()];
}

__global__ void write_to_source_after_wait(int* values, int* results) {
  __shared__ int tile[kThreads];
  cp_async<4>(&tile[own()], &values[own()]);
  cp_async_wait_all();
  values[own()] = 7;
  results[own()] = tile[own()];
}

// ---- addresses ----------------------------------------------------------------------------------

__global__ void misaligned_destination(int* values, int* results) {
  __shared__ __align__(16) int tile[kThreads + 4];
  if (own() == 0) cp_async<16>(&tile[1], &values[0]);  // mistake: copy to a misaligned address
  cp_async_wait_all();
  results[own()] = 0;
}

__global__ void misaligned_source(int* values, int* results) {
  __shared__ __align__(16) int tile[kThreads + 4];
  if (own() == 0) cp_async<8>(&tile[0], &values[3]);  // mistake: copy from a misaligned address
  cp_async_wait_all();
  results[own()] = 0;
}

__global__ void aligned_copies(int* values, int* results) {
  __shared__ __align__(16) int tile[kThreads];
  if (own() < kThreads / 4) cp_async<16>(&tile[4 * own()], &values[4 * own()]);
  cp_async_wait_all();
  __syncthreads();
  results[own()] = tile[own()];
}

// The last thread's 16 bytes end past the end of the buffer but for a fill with zeros.
__global__ void past_the_end(int* values, int* results) {
  __shared__ __align__(16) int tile[4 * kThreads + 4];
  const int begin = 4 * own() + 4;
  cp_async<16>(&tile[begin], &values[begin]);  // mistake: copy from past the end
  cp_async_wait_all();
  results[own()] = tile[begin + 3];
}

__global__ void zeros_past_the_end(int* values, int* results) {
  __shared__ __align__(16) int tile[4 * kThreads + 4];
  const int begin = 4 * own() + 4;
  const int count = max(0, min(4, kTiles * kThreads - begin));
  cp_async_zero_fill<16>(&tile[begin], &values[begin], 4 * count);
  cp_async_wait_all();
  results[own()] = tile[begin + 3];
}

__global__ void too_much_source(int* values, int* results) {
  __shared__ int tile[kThreads];
  cp_async_zero_fill<4>(&tile[own()], &values[own()], 8);  // mistake: more source than copy
  cp_async_wait_all();
  results[own()] = tile[own()];
}

__global__ void past_shared_memory(int* values, int* results) {
  int* const tile = reinterpret_cast<int*>(dynamic_shared);
  cp_async<4>(&tile[own()], &values[own()]);  // mistake: copy past the dynamic shared memory
  cp_async_wait_all();
  results[own()] = 0;
}

__global__ void to_global_memory(int* values, int* results) {
  cp_async<4>(&results[own()], &values[own()]);  // mistake: copy to global memory
  cp_async_wait_all();
}

__global__ void from_shared_memory(int*, int* results) {
  __shared__ int tile[2][kThreads];
  tile[0][own()] = 1;
  cp_async<4>(&tile[1][own()], &tile[0][own()]);  // mistake: copy from shared memory
  cp_async_wait_all();
  results[own()] = tile[1][own()];
}

__global__ void own_bytes_of_unwritten(int* values, int* results) {
  __shared__ int tile[kThreads];
  cp_async<4>(&tile[own()], &values[own()]);  // mistake: copy of unwritten memory
  cp_async_wait_all();
  results[own()] = tile[own()];
}

template <AsyncKernel kKernel, int kSharedBytes = 0>
void run(Device& device) {
  const DeviceArray<int> values(device, std::vector<int>(kTiles * kThreads, 1), "values");
  const DeviceArray<int> results(device, kThreads, "results");
  launch(kKernel, dim3(1), dim3(kThreads), kSharedBytes, Stream{}, values.data(), results.data());
  results.to_host();  // a clean kernel has written all of them
}

void run_from_unwritten(Device& device) {
  const DeviceArray<int> values(device, kThreads, "values");
  const DeviceArray<int> results(device, kThreads, "results");
  launch(own_bytes_of_unwritten, dim3(1), dim3(kThreads), 0, Stream{}, values.data(),
         results.data());
}

}  // namespace

void add_planted_async_copies(std::vector<PlantedKernel>& kernels) {
  const std::string file = "planted_async_copies.cu";
  const auto early = FindingKind::read_before_arrival;
  const auto race = FindingKind::data_race;
  const auto plant = [&](const char* name, void (*run_it)(Device&), FindingKind kind,
                         const char* kernel, const char* message) {
    kernels.push_back({name, file, run_it, {{kind, kernel, message}}, true});
  };
  const auto clean = [&](const char* name, void (*run_it)(Device&), FindingKind looks_like) {
    kernels.push_back({name, file, run_it, {}, false, looks_like});
  };
  plant("no wait", run<no_wait>, early, "no_wait",
        "4-byte read at byte 128 of 'tile' before a 4-byte asynchronous copy by thread (32,0,0) "
        "(warp 1, lane 0) has been waited for, which starts at planted_async_copies.cu:");
  clean("wait, then a barrier", run<wait_then_barrier>, early);
  plant("own bytes without wait", run<own_bytes_without_wait>, early, "own_bytes_without_wait",
        "thread (0,0,0) (warp 0, lane 0): 4-byte read at byte 0 of 'tile' before");
  clean("own bytes after the wait", run<own_bytes_after_wait>, early);
  plant(
      "wait for too few groups", run<two_buffers<2>>, early, "two_buffers",
      "4-byte read at byte 128 of 'buffers' before a 4-byte asynchronous copy by thread (32,0,0)");
  clean("two buffers", run<two_buffers<1>>, early);
  clean("two buffers, one at a time", run<two_buffers<0>>, early);
  plant("copy in no group", run<no_group>, early, "no_group", "of 'tile' before a 4-byte");
  clean("wait for copies in no group", run<no_group_wait_all>, early);
  plant("wait by one thread", run<wait_by_one>, early, "wait_by_one",
        "thread (0,0,0) (warp 0, lane 0): 4-byte read at byte 4 of 'tile' before a 4-byte "
        "asynchronous copy by thread (1,0,0)");

  plant("no barrier after the wait", run<no_barrier_after_wait>, race, "no_barrier_after_wait",
        "thread (32,0,0) (warp 1, lane 0): 4-byte write at byte 128 of 'tile' races with a read by "
        "thread (0,0,0)");
  plant("barrier before the wait", run<barrier_between_copy_and_wait>, early,
        "barrier_between_copy_and_wait", "by thread (32,0,0) (warp 1, lane 0) has been waited for");
  plant("another warp's wait", run<read_what_others_waited_for>, race,
        "read_what_others_waited_for",
        "thread (32,0,0) (warp 1, lane 0): 4-byte read at byte 0 of 'tile' races with a write by "
        "thread (0,0,0) (warp 0, lane 0) at planted_async_copies.cu:");
  clean("warp barrier after the wait", run<warp_barrier_after_wait>, race);
  plant("copy over what is read", run<copy_over_what_is_read>, race, "copy_over_what_is_read",
        "4-byte read at byte 0 of 'tile' races with a write by thread (0,0,0)");

  plant("write to where a copy goes", run<write_to_destination>, race, "write_to_destination",
        "4-byte write at byte 0 of 'tile' races with a 4-byte asynchronous copy by thread (0,0,0) "
        "(warp 0, lane 0), which starts at planted_async_copies.cu:");
  plant("two copies to one place", run<two_copies_to_one_place>, race, "two_copies_to_one_place",
        "16-byte write at byte 0 of 'tile' races with a");
  plant("write to where a copy comes from", run<write_to_source>, race, "write_to_source",
        "4-byte asynchronous copy from byte 0 of 'values', which was overwritten before the copy "
        "had arrived");
  clean("write to the source after the wait", run<write_to_source_after_wait>, race);

  plant("copy to a misaligned address", run<misaligned_destination>, FindingKind::misaligned_access,
        "misaligned_destination",
        "16-byte asynchronous copy to an address that is 4 past a multiple of 16 bytes");
  plant("copy from a misaligned address", run<misaligned_source>, FindingKind::misaligned_access,
        "misaligned_source",
        "8-byte asynchronous copy from an address that is 4 past a multiple of 8 bytes");
  clean("aligned copies", run<aligned_copies>, FindingKind::misaligned_access);
  plant("copy from past the end", run<past_the_end>, FindingKind::out_of_bounds_read,
        "past_the_end",
        "thread (63,0,0) (warp 1, lane 31): 16-byte read right past the end of 'values'");
  clean("zeros past the end", run<zeros_past_the_end>, FindingKind::out_of_bounds_read);
  plant("more source than copy", run<too_much_source>, FindingKind::out_of_bounds_read,
        "too_much_source", "4-byte asynchronous copy that reads 8 bytes");
  plant("copy past the dynamic shared memory", run<past_shared_memory, 128>,
        FindingKind::out_of_bounds_write, "past_shared_memory",
        "4-byte write at byte 128 of the dynamic shared memory");
  plant("copy to global memory", run<to_global_memory>, FindingKind::out_of_bounds_write,
        "to_global_memory", "4-byte asynchronous copy to an address that is no shared memory");
  plant("copy from shared memory", run<from_shared_memory>, FindingKind::out_of_bounds_read,
        "from_shared_memory", "4-byte asynchronous copy from shared memory");
  plant("copy of unwritten memory", run_from_unwritten, FindingKind::uninitialised_read,
        "own_bytes_of_unwritten", "of memory that nothing has written, at byte 0 of 'values'");
}

}  // namespace paged::PAGED_BACKEND
