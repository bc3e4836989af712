// How much shared memory the classical kernels need.
#pragma once
#include "reference/cache_layout.h"
#include "reference/decode_shape.h"
#include "stages/stage.h"

#include <algorithm>
#include <cstddef>

namespace paged {

/// Bytes of the logits of the longest sequence, in whole pages: 4 * ceil(max_seq_len / B) * B.
/// 32 KiB at 8192 tokens.
inline std::size_t bytes_of_logits(const DecodeShape& shape) {
  return sizeof(float) * static_cast<std::size_t>(num_pages(shape.max_seq_len, shape.block_size)) *
         shape.block_size;
}

/// Bytes of the partial outputs that half of the warps hand to the other half.
inline std::size_t bytes_of_partial_outputs(int head_size, int threads) {
  return sizeof(float) * static_cast<std::size_t>(threads / 32 / 2) * head_size;
}

/// Bytes of the kernels' __shared__ variables: scratch of the softmax, and the query as floats.
inline std::size_t bytes_of_softmax_scratch(int threads) {
  return 2 * sizeof(float) * static_cast<std::size_t>(threads / 32);
}
inline std::size_t bytes_of_static_shared(const DecodeShape& shape, int threads) {
  return bytes_of_softmax_scratch(threads) +
         sizeof(float) * static_cast<std::size_t>(shape.head_size);
}

/// The plan of a kernel of one block a (head, sequence) that keeps `shared_bytes` for its logits.
inline LaunchPlan plan_per_head(const DecodeShape& shape, int threads, std::size_t shared_bytes) {
  return {.grid_x = shape.num_heads,
          .grid_y = shape.num_seqs,
          .threads = threads,
          .shared_bytes = shared_bytes,
          .static_shared_bytes = bytes_of_static_shared(shape, threads)};
}

/// V1: one buffer serves as logits and then as partial outputs, so the larger of the two.
// [bytes-of-v1]
inline std::size_t bytes_of_v1(const DecodeShape& shape, int threads) {
  return std::max(bytes_of_logits(shape), bytes_of_partial_outputs(shape.head_size, threads));
}
// [/bytes-of-v1]

/// V2: the logits of one partition, or the partial outputs. 2 KiB at 512 tokens.
inline std::size_t bytes_of_v2(int partition_size, int head_size, int threads) {
  return std::max(sizeof(float) * static_cast<std::size_t>(partition_size),
                  bytes_of_partial_outputs(head_size, threads));
}

/// The reduction of V2: one weight a partition, in whole groups of four. nvcc reads the rest of a
/// loop in groups, and uses only what the loop would have read; compute-sanitizer counts the
/// others.
inline std::size_t bytes_of_reduction(int partitions) {
  return sizeof(float) * 4 * static_cast<std::size_t>(partitions / 4 + 1);
}

}  // namespace paged
