// Where partitions leave their results for the reduction.
#pragma once
#include "reference/decode_shape.h"
#include "reference/host_device.h"

#include <cstddef>
#include <cstdint>

namespace paged {

/// Tokens of a partition unless the caller says otherwise.
inline constexpr int kDefaultPartitionSize = 512;

/// Partitions of the longest sequence: ceil(max_seq_len / partition_size).
PAGED_HOST_DEVICE constexpr int num_partitions(int seq_len, int partition_size) {
  return seq_len / partition_size + (seq_len % partition_size != 0);
}

/// One buffer cut into the three arrays of V2. Partitions past a sequence's end are not written.
struct PartitionWorkspace {
  float* maxima;   // [num_seqs, num_heads, partitions]             greatest logit
  float* sums;     // [num_seqs, num_heads, partitions]             of exp(logit - maximum)
  float* outputs;  // [num_seqs, num_heads, partitions, head_size]  normalised within the partition
  int partitions;

  PAGED_HOST_DEVICE PartitionWorkspace(void* workspace, int num_seqs, int num_heads,
                                       int partitions_of_longest)
      : maxima(static_cast<float*>(workspace)),
        sums(maxima + static_cast<std::int64_t>(num_seqs) * num_heads * partitions_of_longest),
        outputs(sums + static_cast<std::int64_t>(num_seqs) * num_heads * partitions_of_longest),
        partitions(partitions_of_longest) {}

  /// Bytes for a batch.
  static std::size_t bytes(int num_seqs, int num_heads, int head_size, int partitions_of_longest) {
    return sizeof(float) * static_cast<std::size_t>(num_seqs) * num_heads * partitions_of_longest *
           (2 + static_cast<std::size_t>(head_size));
  }
};

}  // namespace paged
