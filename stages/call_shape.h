// What the cost of a call follows from: its sizes and lengths, none of its data.
#pragma once
#include "reference/block_sparsity.h"
#include "reference/decode_shape.h"

#include <cstdint>
#include <vector>

namespace paged {

/// A decode call without its data. Caches have pages that begin at multiples of 32 bytes (as all
/// without gaps do), and every pointer is 256-byte aligned, as a device's allocations are.
struct CallShape {
  DecodeShape shape;
  std::vector<int> seq_lens;  // [num_seqs]
  BlockSparsity sparsity;
  bool alibi = false;  ///< there are slopes
  // Which of these the caller asks for beside the output.
  bool lse = false, maxima = false, sums = false, logits = false;
  std::int64_t query_stride = 0;   ///< elements from sequence to sequence
  std::int64_t logits_stride = 0;  ///< elements from (sequence, head) to the next
};

}  // namespace paged
