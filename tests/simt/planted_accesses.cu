// Wrong and right accesses to global and shared memory.
#include "kernels/vector_load.cuh"
#include "tests/simt/device_array.h"
#include "tests/simt/planted_kernels.h"

#include <cstdint>

namespace paged::PAGED_BACKEND {
namespace {

constexpr int kCount = 10;

// ---- past the end and before the beginning ------------------------------------------------------

__global__ void copy_off_by_one(int count, const float* from, float* to) {
  const int i = threadIdx.x;
  if (i <= count) to[i % count] = from[i];  // mistake: read past the end
}

__global__ void difference(const float* from, float* to) {
  const int i = threadIdx.x;
  to[i] = from[i] - from[i - 1];  // mistake: read before the beginning
}

__global__ void guarded_difference(const float* from, float* to) {
  const int i = threadIdx.x;
  to[i] = i == 0 ? from[0] : from[i] - from[i - 1];
}

__global__ void write_off_by_one(int count, float* to) {
  const int i = threadIdx.x;
  if (i <= count) to[i] = 1.0F;  // mistake: write past the end
}

__global__ void write_far(float* to) {
  to[threadIdx.x] = 1.0F;
  if (threadIdx.x == 3) to[100000] = 2.0F;  // mistake: write far past the end
}

__global__ void write_before(float* to) {
  to[threadIdx.x] = 1.0F;
  if (threadIdx.x == 3) to[-2] = 2.0F;  // mistake: write before the beginning
}

__global__ void write_all(int count, float* to) {
  const int i = threadIdx.x;
  if (i < count) to[i] = 1.0F;
}

__global__ void read_pair_at_end(const float* from, float* to) {
  const Vec<float, 2> pair = load_vec<2>(from + 2);  // mistake: pair across the end
  to[threadIdx.x] = pair[0];
}

__global__ void add_atomically(int* counter, int index) {
  atomicAdd(&counter[index], 1);  // mistake: atomic past the end
}

__global__ void read_one(const float* from, float* to) {
  to[threadIdx.x] = *from;  // mistake: released memory
}

__global__ void read_host(const float* from, float* to) {
  to[threadIdx.x] = *from;  // mistake: host memory
}

__global__ void read_null(const float* from, float* to) {
  to[threadIdx.x] = *from;  // mistake: null pointer
}

void run_copy(Device& device, int threads) {
  const DeviceArray<float> from(device, std::vector<float>(kCount, 1.0F), "from");
  const DeviceArray<float> to(device, kCount, "to");
  launch(copy_off_by_one, dim3(1), dim3(threads), 0, Stream{}, kCount, from.data(), to.data());
  to.to_host();
}

template <typename Kernel>
void run_on_arrays(Device& device, Kernel kernel) {
  const DeviceArray<float> from(device, std::vector<float>(kCount, 1.0F), "from");
  const DeviceArray<float> to(device, kCount, "to");
  launch(kernel, dim3(1), dim3(kCount), 0, Stream{}, from.data(), to.data());
  to.to_host();
}

void run_read_of(Device& device, void (*kernel)(const float*, float*), const float* address) {
  const DeviceArray<float> to(device, kCount, "to");
  launch(kernel, dim3(1), dim3(kCount), 0, Stream{}, address, to.data());
  to.to_host();
}

void run_pair(Device& device, std::size_t count) {
  const DeviceArray<float> from(device, std::vector<float>(count, 1.0F), "from");
  const DeviceArray<float> to(device, 32, "to");
  launch(read_pair_at_end, dim3(1), dim3(32), 0, Stream{}, from.data(), to.data());
  to.to_host();
}

void run_atomic(Device& device, int index) {
  const DeviceArray<int> counter(device, std::vector<int>(4), "counter");
  launch(add_atomically, dim3(1), dim3(32), 0, Stream{}, counter.data(), index);
}

void add_bounds(std::vector<PlantedKernel>& kernels) {
  const auto reads = FindingKind::out_of_bounds_read;
  const auto writes = FindingKind::out_of_bounds_write;
  const std::string file = "planted_accesses.cu";
  kernels.insert(
      kernels.end(),
      {{"read past the end",
        file,
        [](Device& device) { run_copy(device, 32); },
        {{reads, "copy_off_by_one",
          "block (0,0,0), thread (10,0,0) (warp 0, lane 10): 4-byte read right past the end of "
          "'from' (40 bytes)"}},
        true},
       {"exact copy",
        file,
        [](Device& device) { run_copy(device, kCount); },
        {},
        false,
        FindingKind::out_of_bounds_read},
       {"read before the beginning",
        file,
        [](Device& device) { run_on_arrays(device, difference); },
        {{reads, "difference", "4 bytes before 'from' (40 bytes)"}},
        false},
       {"guarded difference",
        file,
        [](Device& device) { run_on_arrays(device, guarded_difference); },
        {},
        false,
        FindingKind::out_of_bounds_read},
       {"write past the end",
        file,
        [](Device& device) {
          const DeviceArray<float> to(device, kCount, "to");
          launch(write_off_by_one, dim3(1), dim3(32), 0, Stream{}, kCount, to.data());
        },
        {{writes, "write_off_by_one", "4-byte write right past the end of 'to' (40 bytes)"}},
        true},
       {"write far past the end",
        file,
        [](Device& device) {
          const DeviceArray<float> to(device, kCount, "to");
          launch(write_far, dim3(1), dim3(kCount), 0, Stream{}, to.data());
        },
        {{writes, "write_far", "399960 bytes past the end of 'to' (40 bytes)"}},
        false},
       {"write before the beginning",
        file,
        [](Device& device) {
          const DeviceArray<float> to(device, kCount, "to");
          launch(write_before, dim3(1), dim3(kCount), 0, Stream{}, to.data());
        },
        {{writes, "write_before", "8 bytes before 'to' (40 bytes)"}},
        false},
       {"pair across the end",
        file,
        [](Device& device) { run_pair(device, 3); },
        {{reads, "read_pair_at_end",
          "8-byte read that ends 4 bytes past the end of 'from' (12 bytes)"}},
        true},
       {"pair at the end",
        file,
        [](Device& device) { run_pair(device, 4); },
        {},
        false,
        FindingKind::out_of_bounds_read},
       {"atomic past the end",
        file,
        [](Device& device) { run_atomic(device, 5); },
        {{writes, "add_atomically", "4-byte atomic 4 bytes past the end of 'counter' (16 bytes)"}},
        true},
       {"atomic at the end",
        file,
        [](Device& device) { run_atomic(device, 3); },
        {},
        false,
        FindingKind::out_of_bounds_write},
       {"released memory",
        file,
        [](Device& device) {
          const float* address = DeviceArray<float>(device, std::vector<float>(1), "gone").data();
          run_read_of(device, read_one, address);
        },
        {{reads, "read_one", "at byte 0 of 'gone' (4 bytes), which has been released"}},
        true},
       {"host memory",
        file,
        [](Device& device) {
          const auto host = std::make_unique<float>(1.0F);
          run_read_of(device, read_host, host.get());
        },
        {{reads, "read_host", "at an address that is no device memory"}},
        true},
       {"null pointer",
        file,
        [](Device& device) { run_read_of(device, read_null, nullptr); },
        {{reads, "read_null", "at an address that is no device memory"}}}});
}

// ---- alignment ----------------------------------------------------------------------------------

__global__ void load_four(const float* from, float* to) {
  const Vec<float, 4> four = load_vec<4>(from + threadIdx.x);  // mistake: misaligned 16-byte load
  to[threadIdx.x] = four[0];
}

__global__ void load_aligned_four(const float* from, float* to) {
  const Vec<float, 4> four = load_vec<4>(from + threadIdx.x / 4 * 4);
  to[threadIdx.x] = four[threadIdx.x % 4];
}

__global__ void store_two(const float* from, float* to) {
  Vec<float, 2> two;
  two[0] = two[1] = from[threadIdx.x];
  store_vec(to + threadIdx.x, two);  // mistake: misaligned 8-byte store
}

__global__ void store_aligned_two(const float* from, float* to) {
  Vec<float, 2> two;
  two[0] = from[2 * threadIdx.x];
  two[1] = from[2 * threadIdx.x + 1];
  store_vec(to + 2 * threadIdx.x, two);
}

__global__ void load_shared_four(const float* from, float* to) {
  float* const shared = reinterpret_cast<float*>(dynamic_shared);
  shared[threadIdx.x] = from[threadIdx.x];
  __syncthreads();
  const Vec<float, 4> four =
      load_vec<4>(shared + threadIdx.x / 2 * 2);  // mistake: misaligned shared load
  to[threadIdx.x] = four[0];
}

__global__ void load_aligned_shared_four(const float* from, float* to) {
  float* const shared = reinterpret_cast<float*>(dynamic_shared);
  shared[threadIdx.x] = from[threadIdx.x];
  __syncthreads();
  const Vec<float, 4> four = load_vec<4>(shared + threadIdx.x / 4 * 4);
  to[threadIdx.x] = four[0];
}

template <typename Kernel>
void run_aligned(Device& device, Kernel kernel, int threads) {
  const DeviceArray<float> from(device, std::vector<float>(64, 1.0F), "from");
  const DeviceArray<float> to(device, std::vector<float>(64, 0.0F), "to");
  launch(kernel, dim3(1), dim3(threads), 64 * sizeof(float), Stream{}, from.data(), to.data());
}

void add_alignment(std::vector<PlantedKernel>& kernels) {
  const auto kind = FindingKind::misaligned_access;
  const std::string file = "planted_accesses.cu";
  kernels.insert(
      kernels.end(),
      {{"misaligned 16-byte load",
        file,
        [](Device& device) { run_aligned(device, load_four, 32); },
        {{kind, "load_four", "16-byte read at an address that is 4 past a multiple of 16 bytes"}},
        true},
       {"aligned 16-byte load",
        file,
        [](Device& device) { run_aligned(device, load_aligned_four, 32); },
        {},
        false,
        FindingKind::misaligned_access},
       {"misaligned 8-byte store",
        file,
        [](Device& device) { run_aligned(device, store_two, 32); },
        {{kind, "store_two", "8-byte write at an address that is 4 past a multiple of 8 bytes"}},
        true},
       {"aligned 8-byte store",
        file,
        [](Device& device) { run_aligned(device, store_aligned_two, 32); },
        {},
        false,
        FindingKind::misaligned_access},
       {"misaligned shared load",
        file,
        [](Device& device) { run_aligned(device, load_shared_four, 32); },
        {{kind, "load_shared_four",
          "thread (2,0,0) (warp 0, lane 2): 16-byte read at an address that is 8 past a multiple "
          "of "
          "16 bytes"}},
        true},
       {"aligned shared load",
        file,
        [](Device& device) { run_aligned(device, load_aligned_shared_four, 32); },
        {},
        false,
        FindingKind::misaligned_access}});
}

// ---- what nothing has written -------------------------------------------------------------------

__global__ void copy(const float* from, float* to) {
  to[threadIdx.x] = from[threadIdx.x];  // mistake: uninitialised read
}

__global__ void add_to(float* sum, const float* values) {
  sum[threadIdx.x] += values[threadIdx.x];  // mistake: uninitialised sum
}

__global__ void copy_forgotten(const float* from, float* to) {
  to[threadIdx.x] = from[threadIdx.x];  // mistake: forgotten memory
}

__global__ void write_some(int step, float* to) {
  if (threadIdx.x % step == 0) to[threadIdx.x] = 1.0F;
}

__global__ void write_rows(int filled, float* to) {
  const int row = blockIdx.x;
  if (row >= filled) return;  // as for an empty sequence, whose output is forgotten
  to[row * 32 + threadIdx.x] = 1.0F;
}

__global__ void write_rows_or_zeros(int filled, float* to) {
  const int row = blockIdx.x;
  to[row * 32 + threadIdx.x] = row < filled ? 1.0F : 0.0F;
}

void run_rows(Device& device, void (*kernel)(int, float*), int filled) {
  const DeviceArray<float> to(device, 4 * 32, "to");
  launch(kernel, dim3(4), dim3(32), 0, Stream{}, filled, to.data());
  to.to_host();
}

void run_partly_written(Device& device, int threads, int step) {
  const DeviceArray<float> to(device, 32, "to");
  launch(write_some, dim3(1), dim3(threads), 0, Stream{}, step, to.data());
  to.to_host();
}

void add_unwritten(std::vector<PlantedKernel>& kernels) {
  const auto reads = FindingKind::uninitialised_read;
  const auto output = FindingKind::unwritten_output;
  const std::string file = "planted_accesses.cu";
  kernels.insert(
      kernels.end(),
      {{"uninitialised read",
        file,
        [](Device& device) {
          const DeviceArray<float> from(device, kCount, "from");
          device.upload(from.data(), std::vector<float>(7).data(), 7 * sizeof(float));
          const DeviceArray<float> to(device, kCount, "to");
          launch(copy, dim3(1), dim3(kCount), 0, Stream{}, from.data(), to.data());
          to.to_host();
        },
        {{reads, "copy",
          "thread (7,0,0) (warp 0, lane 7): 4-byte read of memory that nothing has written, at "
          "byte 28 of 'from' (40 bytes)"}},
        true},
       {"uninitialised sum",
        file,
        [](Device& device) {
          const DeviceArray<float> sum(device, kCount, "sum");
          const DeviceArray<float> values(device, std::vector<float>(kCount, 1.0F), "values");
          launch(add_to, dim3(1), dim3(kCount), 0, Stream{}, sum.data(), values.data());
        },
        {{reads, "add_to", "at byte 0 of 'sum' (40 bytes)"}},
        true},
       {"forgotten memory",
        file,
        [](Device& device) {
          const DeviceArray<float> from(device, std::vector<float>(kCount, 1.0F), "from");
          device.forget(from.data() + 4, 8);
          const DeviceArray<float> to(device, kCount, "to");
          launch(copy_forgotten, dim3(1), dim3(kCount), 0, Stream{}, from.data(), to.data());
        },
        {{reads, "copy_forgotten", "at byte 16 of 'from' (40 bytes)"}},
        true},
       {"read after a kernel wrote",
        file,
        [](Device& device) {
          const DeviceArray<float> from(device, kCount, "from");
          const DeviceArray<float> to(device, kCount, "to");
          launch(write_all, dim3(1), dim3(32), 0, Stream{}, kCount, from.data());
          launch(copy, dim3(1), dim3(kCount), 0, Stream{}, from.data(), to.data());
          to.to_host();
        },
        {},
        false,
        FindingKind::uninitialised_read},
       {"unwritten tail",
        file,
        [](Device& device) { run_partly_written(device, 24, 1); },
        {{output, "write_some",
          "32 of the 128 bytes downloaded from 'to' were never written, the first at byte 96",
          false}},
        true},
       {"unwritten gaps",
        file,
        [](Device& device) { run_partly_written(device, 32, 2); },
        {{output, "write_some",
          "64 of the 128 bytes downloaded from 'to' were never written, the first at byte 4",
          false}},
        true},
       {"written whole",
        file,
        [](Device& device) { run_partly_written(device, 32, 1); },
        {},
        false,
        FindingKind::unwritten_output},
       {"unwritten row",
        file,
        [](Device& device) { run_rows(device, write_rows, 3); },
        {{output, "write_rows",
          "128 of the 512 bytes downloaded from 'to' were never written, the first at byte 384",
          false}},
        true},
       {"zeros for an empty row",
        file,
        [](Device& device) { run_rows(device, write_rows_or_zeros, 3); },
        {},
        false,
        FindingKind::unwritten_output},
       {"no empty row",
        file,
        [](Device& device) { run_rows(device, write_rows, 4); },
        {},
        false,
        FindingKind::unwritten_output},
       {"sum that begins with zeros",
        file,
        [](Device& device) {
          const DeviceArray<float> sum(device, std::vector<float>(kCount), "sum");
          const DeviceArray<float> values(device, std::vector<float>(kCount, 1.0F), "values");
          launch(add_to, dim3(1), dim3(kCount), 0, Stream{}, sum.data(), values.data());
          sum.to_host();
        },
        {},
        false,
        FindingKind::uninitialised_read},
       {"forgotten and written again",
        file,
        [](Device& device) {
          const DeviceArray<float> from(device, std::vector<float>(kCount, 1.0F), "from");
          device.forget(from.data(), kCount * sizeof(float));
          const DeviceArray<float> to(device, kCount, "to");
          launch(write_all, dim3(1), dim3(32), 0, Stream{}, kCount, from.data());
          launch(copy_forgotten, dim3(1), dim3(kCount), 0, Stream{}, from.data(), to.data());
          to.to_host();
        },
        {},
        false,
        FindingKind::uninitialised_read}});
}

// ---- dynamic shared memory ----------------------------------------------------------------------

// values: [blocks, threads]; each block has a row of its own.
__device__ int* row_of_block(int* values) { return values + blockIdx.x * blockDim.x; }

__global__ void reverse(int* all_values) {
  int* const values = row_of_block(all_values);
  int* const shared = reinterpret_cast<int*>(dynamic_shared);
  const int i = threadIdx.x;
  shared[i] = values[i];  // mistake: too little dynamic shared memory
  __syncthreads();
  values[i] = shared[blockDim.x - 1 - i];
}

__global__ void read_beyond(int* all_values) {
  int* const values = row_of_block(all_values);
  int* const shared = reinterpret_cast<int*>(dynamic_shared);
  if (threadIdx.x < 8) shared[threadIdx.x] = 1;
  __syncthreads();
  values[threadIdx.x] = shared[threadIdx.x + 1];  // mistake: read beyond the dynamic shared memory
}

__global__ void subtract_neighbour(int* all_values) {
  int* const values = row_of_block(all_values);
  int* const shared = reinterpret_cast<int*>(dynamic_shared);
  const int i = threadIdx.x;
  shared[i] = values[i];
  __syncthreads();
  values[i] -= shared[i - 1];  // mistake: read before the dynamic shared memory
}

// With a static array, which may lie anywhere, and is what some index hits.
__global__ void mirror(int rounds, int* all_values) {
  __shared__ int own[32];
  int* const values = row_of_block(all_values);
  int* const shared = reinterpret_cast<int*>(dynamic_shared);
  const int i = threadIdx.x;
  own[i] = values[i];
  const auto away = reinterpret_cast<std::intptr_t>(own) - reinterpret_cast<std::intptr_t>(shared);
  const int stride = static_cast<int>(away / static_cast<std::intptr_t>(sizeof(int)));
  for (int round = 0; round < rounds; ++round)
    shared[round * stride + i] = i;  // mistake: a static array by a dynamic index
  __syncthreads();
  values[i] = own[31 - i];
}

__global__ void subtract_earlier_neighbour(int* all_values) {
  int* const values = row_of_block(all_values);
  int* const shared = reinterpret_cast<int*>(dynamic_shared);
  const int i = threadIdx.x;
  shared[i] = values[i];
  __syncthreads();
  if (i > 0) values[i] -= shared[i - 1];
}

__global__ void sum_static_and_dynamic(int* all_values) {
  int* const values = row_of_block(all_values);
  __shared__ int own[32];
  int* const shared = reinterpret_cast<int*>(dynamic_shared);
  own[threadIdx.x] = shared[threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  values[threadIdx.x] = own[31 - threadIdx.x] + shared[31 - threadIdx.x];
}

// ---- static shared memory -----------------------------------------------------------------------

__global__ void add_next(int count, int* values) {
  __shared__ int next[32];
  next[threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  int sum = 0;
  for (int i = 0; i < count; ++i)
    sum += next[threadIdx.x + i];  // mistake: read past a static array
  values[threadIdx.x] = sum;
}

__global__ void next_of_each_but_the_last(int* values) {
  __shared__ int next[32];
  next[threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  values[threadIdx.x] = next[threadIdx.x < 31 ? threadIdx.x + 1 : 0];
}

__global__ void sums_of_half_warps(int* values) {
  __shared__ int sums[2];  // one a warp, but four threads write
  const int sum = __popc(__ballot_sync(0xFFFFFFFFU, values[threadIdx.x]));
  if (threadIdx.x % 16 == 0) sums[threadIdx.x / 16] = sum;  // mistake: write past a static array
  __syncthreads();
  values[threadIdx.x] = sums[threadIdx.x / 32];
}

__global__ void sums_of_warps(int* values) {
  __shared__ int sums[2];
  const int sum = __popc(__ballot_sync(0xFFFFFFFFU, values[threadIdx.x]));
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  values[threadIdx.x] = sums[threadIdx.x / 32];
}

// The row behind the last one; in another column of the same array it would go unseen.
__global__ void row_too_many(int rounds, int* values) {
  __shared__ int rows[3][32];
  for (int row = 0; row < rounds; ++row)
    rows[row][threadIdx.x] = values[threadIdx.x];  // mistake: a row past a static array
  __syncthreads();
  values[threadIdx.x] = rows[2][31 - threadIdx.x];
}

// Each access is an instruction of its own, which has been nowhere before. Behind the array of one
// instance g++ puts that of the instance that is named before it.
template <typename T>
__global__ void add_four(int first, int* values) {
  __shared__ T next[32];
  next[threadIdx.x] = static_cast<T>(values[threadIdx.x]);
  __syncthreads();
  T sum = next[first] + next[first + 1] + next[first + 2];
  sum += next[first + 3];  // mistake: read past a static array, into another instance's
  values[threadIdx.x] = static_cast<int>(sum);
}

// A function's own shared memory besides the kernel's, in use by turns.
__device__ int rotate(int value) {
  __shared__ int own[64];
  own[threadIdx.x] = value;
  __syncthreads();
  const int rotated = own[(threadIdx.x + 1) % blockDim.x];
  __syncthreads();
  return rotated;
}

__global__ void rotate_twice(int* values) {
  __shared__ int own[64];
  own[threadIdx.x] = rotate(values[threadIdx.x]);
  __syncthreads();
  int* const half = threadIdx.x < 32 ? own : own + 32;
  values[threadIdx.x] = rotate(half[threadIdx.x % 32]);
}

void run_static(Device& device, void (*kernel)(int*), int threads) {
  const DeviceArray<int> values(device, std::vector<int>(threads, 1), "values");
  launch(kernel, dim3(1), dim3(threads), 0, Stream{}, values.data());
  values.to_host();
}

void run_static(Device& device, void (*kernel)(int, int*), int count) {
  const DeviceArray<int> values(device, std::vector<int>(32, 1), "values");
  launch(kernel, dim3(1), dim3(32), 0, Stream{}, count, values.data());
  values.to_host();
}

void add_static_shared(std::vector<PlantedKernel>& kernels) {
  const std::string file = "planted_accesses.cu";
  const auto reads = FindingKind::out_of_bounds_read;
  const auto writes = FindingKind::out_of_bounds_write;
  kernels.insert(
      kernels.end(),
      {{"read past a static array",
        file,
        [](Device& device) { run_static(device, add_next, 2); },
        {{reads, "add_next",
          "lane 31): 4-byte read right past the end of 'next' (128 bytes of static shared "
          "memory)"}},
        true},
       {"the end of a static array that has other instances",
        file,
        [](Device& device) { run_static(device, add_four<int>, 28); },
        {},
        false,
        reads},
       {"read past a static array, into another instance's",
        file,
        [](Device& device) { run_static(device, add_four<unsigned>, 29); },
        {{reads, "add_four",
          "4-byte read right past the end of 'next' (128 bytes of static shared memory)"}},
        true},
       {"all but the last of a static array",
        file,
        [](Device& device) { run_static(device, next_of_each_but_the_last, 32); },
        {},
        false,
        reads},
       {"write past a static array",
        file,
        [](Device& device) { run_static(device, sums_of_half_warps, 64); },
        {{writes, "sums_of_half_warps",
          "thread (32,0,0) (warp 1, lane 0): 4-byte write right past the end of 'sums' (8 bytes of "
          "static shared memory)"}},
        true},
       {"a static array that is large enough",
        file,
        [](Device& device) { run_static(device, sums_of_warps, 64); },
        {},
        false,
        writes},
       {"a row past a static array",
        file,
        [](Device& device) { run_static(device, row_too_many, 4); },
        {{writes, "row_too_many",
          "4-byte write right past the end of 'rows' (384 bytes of static shared memory)"}},
        true},
       {"every row of a static array",
        file,
        [](Device& device) { run_static(device, row_too_many, 3); },
        {},
        false,
        writes},
       {"static arrays of a kernel and a function",
        file,
        [](Device& device) { run_static(device, rotate_twice, 64); },
        {},
        false,
        reads}});
}

void run_shared(Device& device, void (*kernel)(int*), std::size_t shared_bytes) {
  const DeviceArray<int> values(device, std::vector<int>(64, 1), "values");
  launch(kernel, dim3(2), dim3(32), shared_bytes, Stream{}, values.data());
  values.to_host();
}

void run_mirror(Device& device, int rounds) {
  const DeviceArray<int> values(device, std::vector<int>(64, 1), "values");
  launch(mirror, dim3(2), dim3(32), 32 * sizeof(int), Stream{}, rounds, values.data());
  values.to_host();
}

void add_shared(std::vector<PlantedKernel>& kernels) {
  const std::string file = "planted_accesses.cu";
  kernels.insert(
      kernels.end(),
      {{"too little dynamic shared memory",
        file,
        [](Device& device) { run_shared(device, reverse, 31 * sizeof(int)); },
        {{FindingKind::out_of_bounds_write, "reverse",
          "lane 31): 4-byte write at byte 124 of the dynamic shared memory, of which the launch "
          "asked for 124 bytes"}},
        true},
       {"enough dynamic shared memory",
        file,
        [](Device& device) { run_shared(device, reverse, 32 * sizeof(int)); },
        {},
        false,
        FindingKind::out_of_bounds_write},
       {"read beyond the dynamic shared memory",
        file,
        [](Device& device) { run_shared(device, read_beyond, 8 * sizeof(int)); },
        {{FindingKind::out_of_bounds_read, "read_beyond",
          "4-byte read at byte 32 of the dynamic "
          "shared memory"}},
        true},
       {"read before the dynamic shared memory",
        file,
        [](Device& device) { run_shared(device, subtract_neighbour, 32 * sizeof(int)); },
        {{FindingKind::out_of_bounds_read, "subtract_neighbour",
          "lane 0): 4-byte read at byte -4 of the dynamic shared memory, of which the launch asked "
          "for 128 bytes"}},
        true},
       {"neighbours within the dynamic shared memory",
        file,
        [](Device& device) { run_shared(device, subtract_earlier_neighbour, 32 * sizeof(int)); },
        {},
        false,
        FindingKind::out_of_bounds_read},
       {"a static array by a dynamic index",
        file,
        [](Device& device) { run_mirror(device, 2); },
        {{FindingKind::out_of_bounds_write, "mirror", "the dynamic shared memory (128 bytes)"}},
        true},
       {"a static and a dynamic array by their own indices",
        file,
        [](Device& device) { run_mirror(device, 1); },
        {},
        false,
        FindingKind::out_of_bounds_write},
       {"static and dynamic shared memory",
        file,
        [](Device& device) { run_shared(device, sum_static_and_dynamic, 32 * sizeof(int)); },
        {},
        false,
        FindingKind::out_of_bounds_write}});
}

}  // namespace

void add_planted_accesses(std::vector<PlantedKernel>& kernels) {
  add_bounds(kernels);
  add_alignment(kernels);
  add_unwritten(kernels);
  add_shared(kernels);
  add_static_shared(kernels);
}

}  // namespace paged::PAGED_BACKEND
