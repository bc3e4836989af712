// The same decode step, stored differently: renamed blocks, other padding, part of a batch.
#pragma once
#include "reference/decode_problem.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace paged {

/// Moves every physical block b to new_name[b], and renames it in the valid table entries.
DecodeProblem with_blocks_renamed(const DecodeProblem& problem,
                                  const std::vector<std::int32_t>& new_name);

/// Rows of another width (at least the longest valid row), padded by padding(seq, entry).
DecodeProblem with_table(const DecodeProblem& problem, int width,
                         const std::function<std::int32_t(int seq, int entry)>& padding);

/// A batch of some of the problem's sequences, in this order; one may occur several times.
DecodeProblem with_sequences(const DecodeProblem& problem, const std::vector<int>& sequences);

/// The widest valid row: max over sequences of ceil(seq_len / block_size).
int widest_row(const DecodeProblem& problem);

}  // namespace paged
