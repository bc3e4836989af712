// Whether to partition a batch.
#pragma once
#include "reference/decode_shape.h"
#include "stages/partition_workspace.h"

namespace paged {

/// The choice of vLLM v0.6.0: V1 for up to 8192 tokens if there is only one partition, or if
/// sequences and heads alone make more than 512 CUDA blocks. A heuristic of its time, not a law.
constexpr bool v060_takes_v1(const DecodeShape& shape) {
  const int partitions = num_partitions(shape.max_seq_len, kDefaultPartitionSize);
  const long long blocks = static_cast<long long>(shape.num_seqs) * shape.num_heads;
  return shape.max_seq_len <= 8192 && (partitions <= 1 || blocks > 512);
}

}  // namespace paged
