// The same decode step with other values, keys or tokens in its slots.
#pragma once
#include "reference/decode_problem.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace paged {

/// The number to store for an element of a cache.
using ElementValue = std::function<double(std::int64_t block, int kv_head, int offset, int dim)>;

DecodeProblem with_values(const DecodeProblem& problem, const ElementValue& value);
DecodeProblem with_keys(const DecodeProblem& problem, const ElementValue& value);

/// Gives each sequence's tokens, keys and values together, a new order: token t goes to place
/// order[t]. orders: one for each sequence, [seq_len]. Sequences must not share blocks.
DecodeProblem with_tokens_moved(const DecodeProblem& problem,
                                const std::vector<std::vector<std::int32_t>>& orders);

}  // namespace paged
