// Wrong and right uses of mbarriers and bulk copies.
#include "kernels/cuda.h"
#include "tests/simt/device_array.h"
#include "tests/simt/planted_kernels.h"
#include "tests/simt/planted_threads.cuh"

namespace paged::PAGED_BACKEND {
namespace {

constexpr unsigned kBytes = kThreads * sizeof(int);  // of a tile

// values: [4, kThreads]; results: [kThreads]
using BulkKernel = void (*)(int* values, int* results);

// By all threads: makes an mbarrier for so many arrivals.
__device__ __forceinline__ void make(Mbarrier* barrier, unsigned arrivals) {
  if (own() == 0) {
    mbarrier_init(barrier, arrivals);
    fence_proxy_async();
  }
  __syncthreads();
}

__device__ __forceinline__ void fetch(int* tile, const int* values, Mbarrier* barrier) {
  mbarrier_arrive_expect_tx(barrier, kBytes);
  cp_async_bulk(tile, values, kBytes, barrier);
}

// ---- before the bytes are there -----------------------------------------------------------------

__global__ void wait_by_all(int* values, int* results) {
  __shared__ __align__(16) int tile[kThreads];
  __shared__ Mbarrier full;
  make(&full, 1);
  if (own() == 0) fetch(tile, values, &full);
  mbarrier_wait_parity(&full, 0);
  results[own()] = tile[own()];
}

__global__ void no_wait_but_a_barrier(int* values, int* results) {
  __shared__ __align__(16) int tile[kThreads];
  __shared__ Mbarrier full;
  make(&full, 1);
  if (own() == 0) fetch(tile, values, &full);
  __syncthreads();
  results[own()] = tile[own()];  // mistake: bulk bytes without a wait
}

__global__ void wait_for_the_last_phase(int* values, int* results) {
  __shared__ __align__(16) int tile[kThreads];
  __shared__ Mbarrier full;
  make(&full, 1);
  if (own() == 0) fetch(tile, values, &full);
  mbarrier_wait_parity(&full, 1);
  results[own()] = tile[own()];  // mistake: wait for the phase before
}

__global__ void wait_for_the_other_tile(int* values, int* results) {
  __shared__ __align__(16) int tiles[2][kThreads];
  __shared__ Mbarrier full[2];
  make(&full[0], 1);
  make(&full[1], 1);
  if (own() == 0) {
    fetch(tiles[0], &values[0], &full[0]);
    fetch(tiles[1], &values[kThreads], &full[1]);
  }
  mbarrier_wait_parity(&full[0], 0);
  results[own()] = tiles[1][own()];  // mistake: wait for the other tile
}

// The bytes are there, since thread 0 waited for them; but not for the other threads.
__global__ void wait_by_one_thread(int* values, int* results) {
  __shared__ __align__(16) int tile[kThreads];
  __shared__ Mbarrier full;
  make(&full, 1);
  if (own() == 0) {
    fetch(tile, values, &full);
    mbarrier_wait_parity(&full, 0);
  }
  results[own()] = tile[own()];  // mistake: bulk wait by one thread
}

__global__ void wait_by_one_thread_then_barrier(int* values, int* results) {
  __shared__ __align__(16) int tile[kThreads];
  __shared__ Mbarrier full;
  make(&full, 1);
  if (own() == 0) {
    fetch(tile, values, &full);
    mbarrier_wait_parity(&full, 0);
  }
  __syncthreads();
  results[own()] = tile[own()];
}

__global__ void wait_by_one_lane_then_warp_barrier(int* values, int* results) {
  __shared__ __align__(16) int tile[kThreads];
  __shared__ Mbarrier full;
  make(&full, 1);
  if (own() == 0) fetch(tile, values, &full);
  if (own() % 32 == 0) mbarrier_wait_parity(&full, 0);
  __syncwarp();
  results[own()] = tile[own()];
}

// ---- reuse --------------------------------------------------------------------------------------

// Thread 0 fetches tile after tile into one buffer; all of warp 1 read it and say so.
template <bool kReadFirst>
__global__ void reuse(int* values, int* results) {
  __shared__ __align__(16) int tile[kThreads];
  __shared__ Mbarrier full;
  __shared__ Mbarrier empty;
  make(&full, 1);
  make(&empty, 32);
  int sum = 0;
  for (int i = 0; i < 4; ++i) {
    if (own() == 0) {
      mbarrier_wait_parity(&empty, (i & 1) ^ 1);
      mbarrier_arrive_expect_tx(&full, kBytes);
      const int* const from = &values[i * kThreads];
      cp_async_bulk(tile, from, kBytes, &full);  // mistake: arrival before the read
    }
    if (own() >= 32) {
      mbarrier_wait_parity(&full, i & 1);
      if (kReadFirst) sum += tile[own()];
      mbarrier_arrive(&empty);
      if (!kReadFirst) sum += tile[own()];
    }
  }
  results[own()] = sum;
}

template <bool kWait>
__global__ void read_what_others_wrote(int*, int* results) {
  __shared__ int shared[kThreads];
  __shared__ Mbarrier written;
  shared[own()] = 0;
  make(&written, kThreads);
  shared[own()] = own();
  mbarrier_arrive(&written);
  if (kWait || own() != 40) mbarrier_wait_parity(&written, 0);
  results[own()] = shared[kThreads - 1 - own()];  // mistake: arrival without a wait
}

// What is written after an arrival is not covered by it.
__global__ void write_after_arrival(int*, int* results) {
  __shared__ int shared[kThreads];
  __shared__ Mbarrier written;
  make(&written, kThreads);
  shared[own()] = 0;
  mbarrier_arrive(&written);
  if (own() == 63) shared[own()] = 1;
  mbarrier_wait_parity(&written, 0);
  results[own()] = shared[kThreads - 1 - own()];  // mistake: write after the arrival
}

// ---- what never comes ---------------------------------------------------------------------------

__device__ __forceinline__ void fetch_announcing(unsigned bytes, int* tile, const int* values,
                                                 Mbarrier* barrier) {
  make(barrier, 1);
  if (own() != 0) return;
  mbarrier_arrive_expect_tx(barrier, bytes);
  cp_async_bulk(tile, values, kBytes, barrier);
}

__global__ void announce_too_much(int* values, int* results) {
  __shared__ __align__(16) int tile[kThreads];
  __shared__ Mbarrier full;
  fetch_announcing(2 * kBytes, tile, values, &full);
  mbarrier_wait_parity(&full, 0);  // mistake: too many bytes announced
  results[own()] = tile[own()];
}

__global__ void announce_too_little(int* values, int* results) {
  __shared__ __align__(16) int tile[kThreads];
  __shared__ Mbarrier full;
  fetch_announcing(kBytes / 2, tile, values, &full);
  mbarrier_wait_parity(&full, 0);  // mistake: too few bytes announced
  results[own()] = tile[own()];
}

__global__ void lack_an_arrival(int*, int* results) {
  __shared__ Mbarrier all_here;
  make(&all_here, kThreads + 1);
  mbarrier_arrive(&all_here);
  mbarrier_wait_parity(&all_here, 0);  // mistake: an arrival too few
  results[own()] = 1;
}

__global__ void try_for_ever(int*, int* results) {
  __shared__ Mbarrier all_here;
  make(&all_here, 2);
  if (own() == 0) mbarrier_arrive(&all_here);
  while (!mbarrier_try_wait_parity(&all_here, 0)) {  // mistake: tries without end
  }
  results[own()] = 1;
}

// Who is told that the phase is not over does something about it.
__global__ void try_then_arrive(int*, int* results) {
  __shared__ Mbarrier all_here;
  make(&all_here, 4);
  int tries = 0;
  while (!mbarrier_try_wait_parity(&all_here, 0))
    if (++tries < 5 && own() == 0) mbarrier_arrive(&all_here);
  results[own()] = own() == 0 ? tries : 4;
}

// ---- misuse -------------------------------------------------------------------------------------

__global__ void use_without_init(int*, int* results) {
  __shared__ Mbarrier barrier;
  mbarrier_arrive(&barrier);  // mistake: mbarrier that nobody made
  results[own()] = 1;
}

__global__ void arrive_too_often(int* values, int* results) {
  __shared__ __align__(16) int tile[kThreads];
  __shared__ Mbarrier full;
  make(&full, 1);
  if (own() < 2) {
    mbarrier_arrive_expect_tx(&full, 16);  // mistake: an arrival too many
    cp_async_bulk(&tile[4 * own()], &values[4 * own()], 16, &full);
  }
  __syncthreads();
  mbarrier_wait_parity(&full, 0);
  results[own()] = tile[own() % 8];
}

__global__ void make_for_nobody(int*, int* results) {
  __shared__ Mbarrier barrier;
  if (own() == 0) mbarrier_init(&barrier, 0);  // mistake: mbarrier for nobody
  results[own()] = 1;
}

__global__ void wait_for_parity_two(int*, int* results) {
  __shared__ Mbarrier barrier;
  make(&barrier, 1);
  if (own() == 0) mbarrier_arrive(&barrier);
  mbarrier_wait_parity(&barrier, 2);  // mistake: parity of two
  results[own()] = 1;
}

__global__ void use_before_it_is_made_for_all(int*, int* results) {
  __shared__ Mbarrier barrier;
  if (own() == 0) mbarrier_init(&barrier, kThreads);
  mbarrier_arrive(&barrier);  // mistake: init without a barrier
  mbarrier_wait_parity(&barrier, 0);
  results[own()] = 1;
}

__global__ void overwrite_barrier(int*, int* results) {
  __shared__ Mbarrier barrier;
  make(&barrier, kThreads);
  mbarrier_arrive(&barrier);
  if (own() == 40) barrier = 0;  // mistake: mbarrier overwritten
  results[own()] = 1;
}

__global__ void make_anew(int*, int* results) {
  __shared__ Mbarrier barrier;
  for (int i = 1; i < 4; ++i) {
    make(&barrier, kThreads);
    mbarrier_arrive(&barrier);
    mbarrier_wait_parity(&barrier, 0);
    __syncthreads();
  }
  results[own()] = 1;
}

// ---- addresses ----------------------------------------------------------------------------------

__global__ void misaligned_bulk(int* values, int* results) {
  __shared__ __align__(16) int tile[kThreads];
  __shared__ Mbarrier full;
  make(&full, 1);
  if (own() == 0) cp_async_bulk(&tile[2], values, 64, &full);  // mistake: misaligned bulk copy
  results[own()] = 1;
}

__global__ void odd_size(int* values, int* results) {
  __shared__ __align__(16) int tile[kThreads];
  __shared__ Mbarrier full;
  make(&full, 1);
  if (own() == 0) cp_async_bulk(tile, values, 40, &full);  // mistake: bulk copy of 40 bytes
  results[own()] = 1;
}

__global__ void past_the_source(int* values, int* results) {
  __shared__ __align__(16) int tile[5 * kThreads];
  __shared__ Mbarrier full;
  make(&full, 1);
  if (own() == 0)
    cp_async_bulk(tile, values, 5 * kBytes, &full);  // mistake: bulk copy past the end
  results[own()] = 1;
}

__global__ void bulk_over_own_bytes(int* values, int* results) {
  __shared__ __align__(16) int tile[kThreads];
  __shared__ Mbarrier full;
  make(&full, 1);
  if (own() == 0) fetch(tile, values, &full);
  if (own() == 0) tile[63] = 0;  // mistake: write to where a bulk copy goes
  mbarrier_wait_parity(&full, 0);
  results[own()] = tile[own()];
}

template <BulkKernel kKernel>
void run_bulk(Device& device) {
  const DeviceArray<int> values(device, std::vector<int>(4 * kThreads, 1), "values");
  const DeviceArray<int> results(device, kThreads, "results");
  launch(kKernel, dim3(1), dim3(kThreads), 0, Stream{}, values.data(), results.data());
  results.to_host();  // a clean kernel has written all of them
}

}  // namespace

void add_planted_bulk_copies(std::vector<PlantedKernel>& kernels) {
  const std::string file = "planted_bulk_copies.cu";
  const auto early = FindingKind::read_before_arrival;
  const auto race = FindingKind::data_race;
  const auto deadlock = FindingKind::deadlock;
  const auto misuse = FindingKind::mbarrier_misuse;
  const auto plant = [&](const char* name, void (*run_it)(Device&), FindingKind kind,
                         const char* kernel, const char* message, bool needs_checker = true) {
    kernels.push_back({name, file, run_it, {{kind, kernel, message}}, needs_checker});
  };
  const auto clean = [&](const char* name, void (*run_it)(Device&), FindingKind looks_like) {
    kernels.push_back({name, file, run_it, {}, false, looks_like});
  };
  clean("bulk wait by all", run_bulk<wait_by_all>, early);
  plant("bulk bytes without a wait", run_bulk<no_wait_but_a_barrier>, early,
        "no_wait_but_a_barrier",
        "4-byte read at byte 0 of 'tile' before a 256-byte asynchronous copy by thread (0,0,0) "
        "(warp 0, lane 0) has been waited for, which starts at planted_bulk_copies.cu:");
  plant("wait for the phase before", run_bulk<wait_for_the_last_phase>, early,
        "wait_for_the_last_phase",
        "of 'tile' before a 256-byte asynchronous copy by thread (0,0,0)");
  plant("wait for the other tile", run_bulk<wait_for_the_other_tile>, early,
        "wait_for_the_other_tile",
        "at byte 260 of 'tiles' before a 256-byte asynchronous copy by thread (0,0,0)");
  plant("bulk wait by one thread", run_bulk<wait_by_one_thread>, race, "wait_by_one_thread",
        "4-byte read at byte 4 of 'tile' races with a bulk copy whose mbarrier the thread has not "
        "waited for, which starts at planted_bulk_copies.cu:");
  clean("bulk wait by one thread, then a barrier", run_bulk<wait_by_one_thread_then_barrier>, race);
  clean("bulk wait by one lane, then a warp barrier", run_bulk<wait_by_one_lane_then_warp_barrier>,
        race);

  plant("arrival before the read", run_bulk<reuse<false>>, race, "reuse",
        "thread (0,0,0) (warp 0, lane 0): 256-byte write at byte 0 of 'tile' races with a read by "
        "thread (32,0,0)");
  clean("arrival after the read", run_bulk<reuse<true>>, race);
  plant(
      "arrival without a wait", run_bulk<read_what_others_wrote<false>>, race,
      "read_what_others_wrote",
      "thread (40,0,0) (warp 1, lane 8): 4-byte read at byte 92 of 'shared' races with a write by "
      "thread (23,0,0)");
  clean("arrival and wait", run_bulk<read_what_others_wrote<true>>, misuse);
  plant("write after the arrival", run_bulk<write_after_arrival>, race, "write_after_arrival",
        "4-byte read at byte 252 of 'shared' races with a write by thread (63,0,0)");

  plant("too many bytes announced", run_bulk<announce_too_much>, deadlock, "announce_too_much",
        "of 'full' in its phase 0 has all arrivals, and 256 bytes where 512 were announced", false);
  plant("too few bytes announced", run_bulk<announce_too_little>, deadlock, "announce_too_little",
        "of 'full' in its phase 0 has all arrivals, and 256 bytes where 128 were announced", false);
  plant("an arrival too few", run_bulk<lack_an_arrival>, deadlock, "lack_an_arrival",
        "of 'all_here' in its phase 0 lacks 1 of 65 arrivals", false);
  plant("tries without end", run_bulk<try_for_ever>, deadlock, "try_for_ever",
        "of 'all_here' in its phase 0 lacks 1 of 2 arrivals", false);
  clean("tries, then arrivals", run_bulk<try_then_arrive>, misuse);

  plant("mbarrier that nobody made", run_bulk<use_without_init>, misuse, "use_without_init",
        "uses an mbarrier at byte 0 of 'barrier', which no mbarrier_init() has made", false);
  plant("an arrival too many", run_bulk<arrive_too_often>, misuse, "arrive_too_often",
        "thread (1,0,0) (warp 0, lane 1): arrives at the mbarrier at byte 0 of 'full' once more "
        "than the 1 times of its phase 0, which is not over",
        false);
  plant("mbarrier for nobody", run_bulk<make_for_nobody>, misuse, "make_for_nobody",
        "makes an mbarrier for 0 arrivals a phase, not 1 to 1048575", false);
  plant("parity of two", run_bulk<wait_for_parity_two>, misuse, "wait_for_parity_two",
        "waits for a phase of parity 2, not 0 or 1", false);
  plant("init without a barrier", run_bulk<use_before_it_is_made_for_all>, race,
        "use_before_it_is_made_for_all",
        "thread (1,0,0) (warp 0, lane 1): 8-byte read at byte 0 of 'barrier' races with a write by "
        "thread (0,0,0)");
  plant("mbarrier overwritten", run_bulk<overwrite_barrier>, race, "overwrite_barrier",
        "8-byte write at byte 0 of 'barrier' races with a read by thread");
  clean("mbarrier made anew", run_bulk<make_anew>, misuse);

  plant("misaligned bulk copy", run_bulk<misaligned_bulk>, FindingKind::misaligned_access,
        "misaligned_bulk",
        "64-byte asynchronous copy to an address that is 8 past a multiple of 16 bytes");
  plant("bulk copy of 40 bytes", run_bulk<odd_size>, FindingKind::misaligned_access, "odd_size",
        "bulk copy of 40 bytes, which is no multiple of 16", false);
  plant("bulk copy past the end", run_bulk<past_the_source>, FindingKind::out_of_bounds_read,
        "past_the_source", "that ends 256 bytes past the end of 'values' (1024 bytes)");
  plant("write to where a bulk copy goes", run_bulk<bulk_over_own_bytes>, race,
        "bulk_over_own_bytes",
        "4-byte write at byte 252 of 'tile' races with a 256-byte asynchronous copy by thread "
        "(0,0,0)");
}

}  // namespace paged::PAGED_BACKEND
