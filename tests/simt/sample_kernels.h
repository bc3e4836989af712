// Small correct kernels, each behind a function that launches it: what the tests of the CPU machine
// run on every backend.
#pragma once
#include <cstddef>
#include <cstdint>

namespace paged {

enum class ShuffleKind { index, up, down, exclusive_or };
enum class VectorType { int2, uint2, float2, int4, uint4, float4 };
enum class MatrixProduct { m16n8k8_f16, m16n8k16_f16, m16n8k16_bf16 };

/// Launchers of one backend. Pointers are device memory.
struct SampleKernels {
  // One block of `threads` threads; results are [threads] unless said otherwise.
  void (*shuffle_int)(ShuffleKind kind, int argument, int width, int threads, const int* values,
                      int* results);
  void (*shuffle_double)(ShuffleKind kind, int argument, int width, int threads,
                         const double* values, double* results);
  /// values and results are binary16 codes
  void (*shuffle_half)(ShuffleKind kind, int argument, int width, int threads,
                       const std::uint16_t* values, std::uint16_t* results);

  /// results: [3, threads]: ballot, any, all over the whole warp
  void (*vote)(int threads, const int* predicates, unsigned* results);
  /// results: ballot over the lower and the upper half warp, each in a branch of its own
  void (*vote_in_halves)(int threads, const int* predicates, unsigned* results);
  /// results: __activemask() of the even lanes, and of the odd ones
  void (*active_masks)(int threads, unsigned* results);

  /// results: the values of the next thread, `rounds` times over, through shared memory
  void (*rotate_static)(int threads, int rounds, const int* values, int* results);
  void (*rotate_dynamic)(int threads, int rounds, const int* values, int* results);
  /// results: [3, threads]: __syncthreads_or, _and, _count
  void (*barrier_votes)(int threads, const int* predicates, int* results);
  /// results: [bytes / 4], thread 0 reads back what all wrote to so much dynamic shared memory
  void (*fill_dynamic)(int threads, std::size_t bytes, unsigned* results);

  /// Each of blocks * threads threads adds its linear index + 1 to each sum, and so on.
  struct AtomicResults {
    int sum_int;
    unsigned sum_unsigned;
    unsigned long long sum_long;
    float sum_float;
    double sum_double;
    int largest, smallest;
    unsigned largest_unsigned, smallest_unsigned;
    unsigned num_exchanged;  ///< tickets that came back from an exchange, all different
    unsigned num_won;        ///< compare-and-swaps that took a free slot: one per slot
  };
  void (*atomics)(int blocks, int threads, unsigned* tickets, AtomicResults* results);
  void (*shared_atomics)(int blocks, int threads, int* block_sums);
  /// Blocks write partial sums [blocks] of the threads' indices in the grid; the one that counts
  /// itself as the last adds them up.
  void (*sum_in_last_block)(int blocks, int threads, int* partial_sums, unsigned* num_finished,
                            int* sum);

  struct BitResults {
    int num_set, leading_zeros;
    int lowest_set;  ///< counted from 1, 0 if there is none
    int through_float;
    unsigned through_float_unsigned;
  };
  void (*bit_operations)(int count, const unsigned* values, BitResults* results);
  struct FastMathResults {
    float exp, log, log2, pow_1_5, three_divided, reciprocal_root, same;
  };
  void (*fast_math)(int count, const float* values, FastMathResults* results);

  /// Products and sums of pairs of binary16 codes; count is even.
  void (*half_arithmetic)(int count, const std::uint16_t* a, const std::uint16_t* b,
                          std::uint16_t* products, std::uint16_t* sums);

  /// results: [blocks, threads]: linear index of the block in the grid * 1024 + thread in the block
  void (*linear_indices)(const unsigned (&grid)[3], const unsigned (&block)[3], int* results);

  void (*warp_reduce)(int width, int threads, const float* values, float* sums, float* maxima);
  /// threads: 32, 96, 128 or 1024; block sums, then block maxima in a row
  void (*block_reduce)(int threads, const float* values, float* sums, float* maxima);

  /// Copies `bytes` bytes in vectors of `width` elements of `element_bytes`.
  void (*copy_vectors)(int element_bytes, int width, int bytes, const void* from, void* to);
  /// Zeroes what lies past `valid` in each of three rows of `width` elements of `element_bytes`
  /// (4 x 4, 8 x 2, 4 x 1 or 8 x 1 bytes), with 16 bytes before and after them: all are read from
  /// `from` and written to `to`.
  void (*zero_past_end)(int element_bytes, int width, int valid, const void* from, void* to);
  /// Makes each vector anew from its members.
  void (*remake_vectors)(VectorType type, int bytes, const void* from, void* to);

  void (*half_to_float)(int count, const std::uint16_t* from, float* to);
  void (*bfloat16_to_float)(int count, const std::uint16_t* from, float* to);
  void (*e4m3_to_float)(int count, const std::uint8_t* from, float* to);
  void (*e5m2_to_float)(int count, const std::uint8_t* from, float* to);
  void (*float_to_half)(int count, const float* from, std::uint16_t* to);
  void (*float_to_bfloat16)(int count, const float* from, std::uint16_t* to);
  /// through pairs of float and back; count is even
  void (*half_pairs)(int count, const std::uint16_t* from, std::uint16_t* to);
  void (*bfloat16_pairs)(int count, const std::uint16_t* from, std::uint16_t* to);

  /// Copies `bytes` (4, 8 or 16) per thread through shared memory, of which source_bytes come from
  /// `from`, and the rest are zeros.
  void (*copy_async)(int bytes, int source_bytes, int threads, const void* from, void* to);
  /// values: [tiles, threads]; sums: [threads], of the other end's values, last thread first,
  /// through `stages` (2, 3 or 4) buffers
  void (*sum_in_ring)(int stages, int tiles, int threads, const float* values, float* sums);

  /// Copies `bytes` bytes, a multiple of 16 * pieces, in so many bulk copies on one mbarrier.
  void (*copy_bulk)(int pieces, int bytes, const void* from, void* to);
  /// As sum_in_ring(), threads a multiple of 32, with a warp besides that fetches tiles by bulk
  /// copies.
  void (*sum_in_bulk_ring)(int stages, int tiles, int threads, const float* values, float* sums);
  /// As rotate_static(), with an mbarrier in place of __syncthreads().
  void (*rotate_by_mbarrier)(int threads, int rounds, const int* values, int* results);

  /// By one warp. matrices: [count, 8, 8], 16-bit; registers: [32, count]; count: 1, 2 or 4
  void (*load_fragments)(int count, bool transposed, const std::uint16_t* matrices,
                         unsigned* registers);
  /// `count` times d += a * b, as the registers of 32 lanes each. a: [count, 32, 4], of m16n8k8
  /// [count, 32, 2]; b: [count, 32, 2], of m16n8k8 [count, 32, 1]; d: [count, 32, 4]
  void (*multiply_fragments)(MatrixProduct product, int count, const unsigned* a, const unsigned* b,
                             float* d);
  /// d [16, 8] = a [16, depth] * b [8, depth] transposed; binary16 codes; depth: a multiple of 16
  void (*multiply_in_ring)(int depth, const std::uint16_t* a, const std::uint16_t* b, float* d);

  /// A head of naive attention per block: `tokens` x `head_size` scalars read twice.
  void (*gather_attention)(int heads, int tokens, int head_size, const float* query,
                           const float* keys, const float* values, float* output);
  /// Launches a kernel with 16 bytes of static shared memory besides dynamic; result: 10
  void (*static_besides_dynamic)(std::size_t shared_bytes, int* result);
  /// Launches a kernel that does nothing.
  void (*empty)(const unsigned (&grid)[3], const unsigned (&block)[3], std::size_t shared_bytes);
};

namespace cpu_checked {
SampleKernels sample_kernels();
}
namespace cpu_unchecked {
SampleKernels sample_kernels();
}
namespace cuda {
SampleKernels sample_kernels();
}

}  // namespace paged
