// Wrong and right uses of ldmatrix and mma.
#include "kernels/cuda.h"
#include "tests/simt/device_array.h"
#include "tests/simt/planted_kernels.h"
#include "tests/simt/planted_threads.cuh"

namespace paged::PAGED_BACKEND {
namespace {

constexpr int kRowWords = 4;  // 8 elements of 2 bytes

// results: [blockDim.x]
using MatrixKernel = void (*)(unsigned* results);

// Every lane fills the row whose address it gives.
__device__ __forceinline__ void fill_row(unsigned* row) {
  for (int i = 0; i < kRowWords; ++i) row[i] = 1;
}

// ---- rows ---------------------------------------------------------------------------------------

__global__ void load_filled_rows(unsigned* results) {
  __shared__ __align__(16) unsigned rows[32][kRowWords];
  fill_row(rows[own()]);
  __syncwarp();
  unsigned fragments[4];
  ldmatrix(fragments, rows[own()]);
  results[own()] = fragments[0] + fragments[3];
}

__global__ void load_unwritten_rows(unsigned* results) {
  __shared__ __align__(16) unsigned rows[32][kRowWords];
  if (own() < 24) fill_row(rows[own()]);
  __syncwarp();
  unsigned fragments[4];
  ldmatrix(fragments, rows[own()]);  // mistake: rows that nothing has written
  results[own()] = fragments[0];
}

__global__ void load_transposed_unwritten_rows(unsigned* results) {
  __shared__ __align__(16) unsigned rows[8][kRowWords];
  if (own() < 7) fill_row(rows[own()]);
  __syncwarp();
  unsigned fragments[1];
  ldmatrix_trans(fragments, rows[own() % 8]);  // mistake: transposed rows that nothing has written
  results[own()] = fragments[0];
}

// Three matrices are there; what lanes 8 to 31 give is not looked at.
__global__ void load_one_of_many_rows(unsigned* results) {
  __shared__ __align__(16) unsigned rows[8][kRowWords];
  if (own() < 8) fill_row(rows[own()]);
  __syncwarp();
  unsigned fragments[1];
  ldmatrix(fragments, own() < 8 ? rows[own()] : nullptr);
  results[own()] = fragments[0];
}

__global__ void load_rows_without_sync(unsigned* results) {
  __shared__ __align__(16) unsigned rows[32][kRowWords];
  fill_row(rows[own()]);
  unsigned fragments[4];
  ldmatrix(fragments, rows[own()]);  // mistake: rows without a barrier
  results[own()] = fragments[0];
}

__global__ void overwrite_rows_without_sync(unsigned* results) {
  __shared__ __align__(16) unsigned rows[32][kRowWords];
  fill_row(rows[own()]);
  __syncwarp();
  unsigned fragments[4];
  ldmatrix(fragments, rows[own()]);  // mistake: rows overwritten without a barrier
  rows[own()][0] = 2;
  __syncwarp();
  results[own()] = fragments[0] + rows[own()][0];
}

__global__ void overwrite_rows_after_sync(unsigned* results) {
  __shared__ __align__(16) unsigned rows[32][kRowWords];
  fill_row(rows[own()]);
  __syncwarp();
  unsigned fragments[4];
  ldmatrix(fragments, rows[own()]);
  __syncwarp();
  rows[own()][0] = 2;
  __syncwarp();
  results[own()] = fragments[0] + rows[own()][0];
}

// A lane reads words of its own row alone: row lane / 4, word lane % 4, is what lane itself wrote.
__global__ void load_own_words(unsigned* results) {
  __shared__ __align__(16) unsigned rows[8][kRowWords];
  rows[own() / 4][own() % 4] = static_cast<unsigned>(own());
  unsigned fragments[1];
  ldmatrix(fragments, rows[own() % 8]);
  results[own()] = fragments[0];
}

__global__ void load_misaligned_rows(unsigned* results) {
  __shared__ __align__(16) unsigned rows[33][kRowWords];
  fill_row(rows[own()]);
  if (own() == 0) fill_row(rows[32]);
  __syncwarp();
  unsigned fragments[4];
  ldmatrix(fragments, &rows[own()][2]);  // mistake: misaligned rows
  results[own()] = fragments[0];
}

__global__ void load_rows_past_the_end(unsigned* results) {
  unsigned* const rows = reinterpret_cast<unsigned*>(dynamic_shared);
  if (own() < 16) fill_row(&rows[own() * kRowWords]);
  __syncwarp();
  unsigned fragments[4];
  ldmatrix(fragments, &rows[own() * kRowWords]);  // mistake: rows past the end
  results[own()] = fragments[0];
}

__global__ void load_rows_of_global_memory(unsigned* results) {
  unsigned fragments[1];
  ldmatrix(fragments, &results[own() % 8 * kRowWords]);  // mistake: rows in global memory
  results[own()] = fragments[0];
}

__global__ void load_rows_that_are_under_way(unsigned* results) {
  __shared__ __align__(16) unsigned rows[8][kRowWords];
  if (own() < 8) cp_async<16>(rows[own()], &results[own() * kRowWords]);
  cp_async_commit_group();
  __syncwarp();
  unsigned fragments[1];
  ldmatrix(fragments, rows[own() % 8]);  // mistake: rows that are under way
  cp_async_wait_all();
  results[own()] = fragments[0];
}

// ---- lanes --------------------------------------------------------------------------------------

__device__ __forceinline__ float product_of_ones() {
  const unsigned a[4] = {0x3C003C00U, 0x3C003C00U, 0x3C003C00U, 0x3C003C00U};
  const unsigned b[2] = {0x3C003C00U, 0x3C003C00U};
  float d[4] = {0, 0, 0, 0};
  mma_m16n8k16<__half>(d, a, b);
  return d[0];
}

__global__ void multiply_by_all(unsigned* results) { results[own()] = product_of_ones() == 16.0F; }

__global__ void multiply_in_half_a_warp(unsigned* results) {
  const unsigned a[2] = {0, 0};
  const unsigned b[1] = {0};
  float d[4] = {0, 0, 0, 0};
  if (own() < 16) mma_m16n8k8(d, a, b);  // mistake: product in half a warp
  __syncthreads();
  results[own()] = d[0] == 0;
}

__global__ void multiply_by_warps_of_their_own(unsigned* results) {
  results[own()] = own() < 32 ? product_of_ones() == 16.0F : 1U;
}

__global__ void two_products(unsigned* results) {
  const unsigned a[4] = {0, 0, 0, 0};
  const unsigned b[2] = {0, 0};
  float d[4] = {0, 0, 0, 0};
  if (own() % 2 == 0)
    mma_m16n8k16<__half>(d, a, b);
  else
    mma_m16n8k16<__nv_bfloat16>(d, a, b);  // mistake: two kinds of product
  results[own()] = d[0] == 0;
}

__global__ void multiply_after_exit(unsigned* results) {
  results[own()] = 1;
  if (own() == 31) return;
  const unsigned a[2] = {0, 0};
  const unsigned b[1] = {0};
  float d[4] = {0, 0, 0, 0};
  mma_m16n8k8(d, a, b);  // mistake: product without the last lane
  results[own()] = d[0] == 0;
}

__global__ void multiply_in_a_small_block(unsigned* results) {
  const unsigned a[2] = {0, 0};
  const unsigned b[1] = {0};
  float d[4] = {0, 0, 0, 0};
  mma_m16n8k8(d, a, b);  // mistake: product in a small block
  results[own()] = d[0] == 0;
}

// Far apart, but in order: each warp's lanes meet among themselves.
__global__ void many_products(unsigned* results) {
  float sum = 0;
  for (int i = 0; i < 5; ++i) sum += product_of_ones();
  results[own()] = sum == 80.0F;
}

template <MatrixKernel kKernel, int kThreads = 32, int kSharedBytes = 0>
void run(Device& device) {
  const DeviceArray<unsigned> results(device, std::vector<unsigned>(64, 1), "results");
  launch(kKernel, dim3(1), dim3(kThreads), kSharedBytes, Stream{}, results.data());
}

}  // namespace

void add_planted_matrices(std::vector<PlantedKernel>& kernels) {
  const std::string file = "planted_matrices.cu";
  const auto plant = [&](const char* name, void (*run_it)(Device&), FindingKind kind,
                         const char* kernel, const char* message, bool needs_checker = true) {
    kernels.push_back({name, file, run_it, {{kind, kernel, message}}, needs_checker});
  };
  const auto clean = [&](const char* name, void (*run_it)(Device&), FindingKind looks_like) {
    kernels.push_back({name, file, run_it, {}, false, looks_like});
  };
  clean("filled rows", run<load_filled_rows>, FindingKind::uninitialised_read);
  // The fourth matrix: lane 0 is the first to read of it.
  plant(
      "rows that nothing has written", run<load_unwritten_rows>, FindingKind::uninitialised_read,
      "load_unwritten_rows",
      "4-byte read of shared memory that nothing in this block has written, at byte 384 of 'rows'");
  plant("transposed rows that nothing has written", run<load_transposed_unwritten_rows>,
        FindingKind::uninitialised_read, "load_transposed_unwritten_rows",
        "thread (3,0,0) (warp 0, lane 3): 2-byte read of shared memory that nothing in this block "
        "has written, at byte 112 of 'rows'");
  clean("one of many rows", run<load_one_of_many_rows>, FindingKind::uninitialised_read);
  plant("rows without a barrier", run<load_rows_without_sync>, FindingKind::data_race,
        "load_rows_without_sync",
        "4-byte read at byte 128 of 'rows' races with a write by thread (8,0,0)");
  plant("rows overwritten without a barrier", run<overwrite_rows_without_sync>,
        FindingKind::data_race, "overwrite_rows_without_sync", "of 'rows' races with a ");
  clean("rows overwritten after a barrier", run<overwrite_rows_after_sync>, FindingKind::data_race);
  clean("rows of which each lane reads its own words", run<load_own_words>, FindingKind::data_race);
  plant("misaligned rows", run<load_misaligned_rows>, FindingKind::misaligned_access,
        "load_misaligned_rows",
        "ldmatrix of a row at an address that is 8 past a multiple of 16 bytes");
  plant("rows past the end", run<load_rows_past_the_end, 32, 256>, FindingKind::out_of_bounds_read,
        "load_rows_past_the_end", "4-byte read at byte 256 of the dynamic shared memory");
  plant("rows in global memory", run<load_rows_of_global_memory>, FindingKind::out_of_bounds_read,
        "load_rows_of_global_memory", "ldmatrix of a row at an address that is no shared memory");
  plant("rows that are under way", run<load_rows_that_are_under_way>,
        FindingKind::read_before_arrival, "load_rows_that_are_under_way",
        "4-byte read at byte 0 of 'rows' before a 16-byte asynchronous copy by thread (0,0,0)");

  clean("product by all lanes", run<multiply_by_all>, FindingKind::warp_lane_missing);
  plant("product in half a warp", run<multiply_in_half_a_warp>, FindingKind::deadlock,
        "multiply_in_half_a_warp",
        "threads 0-15 wait at mma_m16n8k8 at planted_matrices.cu:", false);
  clean("product by one warp of two", run<multiply_by_warps_of_their_own, 64>,
        FindingKind::deadlock);
  plant("two kinds of product", run<two_products>, FindingKind::warp_operation_mismatch,
        "two_products", "is at mma_m16n8k16 of bf16 at planted_matrices.cu:", false);
  plant("product without the last lane", run<multiply_after_exit>, FindingKind::warp_lane_missing,
        "multiply_after_exit",
        "mma_m16n8k8 with mask 0xffffffff, which names 1 lanes that have exited", false);
  plant("product in a small block", run<multiply_in_a_small_block, 16>,
        FindingKind::warp_lane_missing, "multiply_in_a_small_block",
        "calls mma_m16n8k8, which needs all 32 lanes, in a warp of 16 threads", false);
  clean("many products", run<many_products, 64>, FindingKind::warp_operation_mismatch);
}

}  // namespace paged::PAGED_BACKEND
