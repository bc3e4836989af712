// Whether to partition a batch.
#pragma once
#include "reference/decode_shape.h"
#include "stages/partition_workspace.h"

namespace paged {

/// The choice of vLLM v0.6.0: V1 for up to 8192 tokens if there is only one partition, or if
/// sequences and heads alone make more than 512 CUDA blocks. A heuristic of its time, not a law.
// [v060]
constexpr bool v060_takes_v1(const DecodeShape& shape) {
  const int partitions = num_partitions(shape.max_seq_len, kDefaultPartitionSize);
  const long long blocks = static_cast<long long>(shape.num_seqs) * shape.num_heads;
  return shape.max_seq_len <= 8192 && (partitions <= 1 || blocks > 512);
}
// [/v060]

/// The choice from measurements of both on an H200 (docs/measurements, "V1 or V2"): f16 and e4m3
/// caches, head size 128, block size 16, 512 to 8192 tokens. Other types and sizes follow the
/// nearer of the two, unmeasured.
///
/// V1 where there is one partition: a second kernel costs more than it brings. Else 16-bit caches
/// take V1 where more than 512 blocks fill the GPU, up to 4096 tokens: past them V1's logits take
/// so much of the memory that shared memory and the L1 cache divide between them that V2 is faster.
///
/// 8-bit caches take V2 wherever there are two partitions, and with one where blocks are many: nvcc
/// 13 gives V1 83 registers a thread and V2 79, so that five and six blocks share a multiprocessor.
// [measured]
constexpr bool measured_takes_v1(const DecodeShape& shape) {
  const int partitions = num_partitions(shape.max_seq_len, kDefaultPartitionSize);
  const long long blocks = static_cast<long long>(shape.num_seqs) * shape.num_heads;
  const bool fill_the_gpu = blocks > 512;
  if (is_fp8(shape.cache)) return partitions <= 1 && !fill_the_gpu;
  return shape.max_seq_len <= 4096 && (partitions <= 1 || fill_the_gpu);
}
// [/measured]

/// What a call gets: what it asks for, or the choice that it leaves to us.
constexpr bool takes_v1(const DecodeShape& shape) {
  switch (shape.variant) {
    case KernelVariant::v1:
      return true;
    case KernelVariant::v2:
      return false;
    case KernelVariant::v060:
      return v060_takes_v1(shape);
    case KernelVariant::automatic:
      break;
  }
  return measured_takes_v1(shape);
}

}  // namespace paged
