// Small kernels whose transactions are known by hand.
#pragma once

namespace paged::cpu_checked {

/// A block of 32 threads copies words: in[stride * lane] to out[lane]. Phases: gather, reduce.
void launch_strided_copy(int blocks, int threads, int stride, const int* in, int* out);
/// 32 lanes, 8 rounds; in round r lanes 0-15 load from a if r is even, lanes 16-31 if it is odd,
/// and all load from b. a, b: [8, 32]
void launch_skipped_rounds(const int* a, const int* b, int* out);
/// The lanes of each half warp meet (__syncwarp) between two loads of the same loop, some more
/// often.
void launch_meeting_halves(const int* in, int* out);
/// One of 64 threads stores before a barrier, all load behind it, then 3 shuffles and an atomic
/// each.
void launch_barrier_and_shuffles(int blocks, int* sums);
/// 32 lanes bring 16 bytes each by cp_async, those from num_reading on only zeros, and store the
/// first 32 words. in: [32, 4]
void launch_async_copy(int num_reading, const int* in, int* out);
/// One of 32 threads brings `bytes` bytes by a bulk copy, all wait and store the first 32 words.
void launch_bulk_copy(unsigned bytes, const int* in, int* out);
/// A warp stores 4096 bytes and loads matrices whose rows are 16 * stride bytes apart: `matrices`
/// is 1 or 4. Phase qk: the ldmatrix.
void launch_matrix_load(int matrices, int stride, int* out);
/// Each of 32 lanes copies an object of 40 bytes from shared memory as a whole, and stores one of
/// its 10 words, which is the lane's number. Phase qk: the copy.
void launch_object_copy(int word, int* out);
/// Reads past the end of `in` in the last block.
void launch_stopped(int blocks, const int* in, int* out);

}  // namespace paged::cpu_checked
