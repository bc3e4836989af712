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
/// V1 where there is one partition: a second kernel costs more than it brings. Else V1 where blocks
/// fill the GPU: 16-bit caches need more than 512, 8-bit ones, of whose kernel fewer blocks fit on
/// a multiprocessor at a time, more than 1024. Past 4096 tokens V1's logits take so much of the
/// memory that shared memory and the L1 cache divide between them that 16-bit caches are faster
/// under V2; 8-bit ones gain from V1 up to the 8192 tokens that were measured.
// [measured]
constexpr bool measured_takes_v1(const DecodeShape& shape) {
  const bool one_byte = is_fp8(shape.cache);
  const int partitions = num_partitions(shape.max_seq_len, kDefaultPartitionSize);
  const long long blocks = static_cast<long long>(shape.num_seqs) * shape.num_heads;
  return shape.max_seq_len <= (one_byte ? 8192 : 4096) &&
         (partitions <= 1 || blocks > (one_byte ? 1024 : 512));
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
