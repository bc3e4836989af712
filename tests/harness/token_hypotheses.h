// Mistakes that lose tokens, take them twice, or merge partitions wrongly.
#pragma once
#include "tests/harness/hypothesis.h"
#include "tests/harness/weight_evidence.h"

#include <functional>
#include <string>
#include <vector>

namespace paged {

/// "token 3" or "tokens 0, 1, 2, 3, ... (15)"
std::string list_of(const std::vector<int>& tokens);

/// Which tokens lose their weight, where the others keep their proportions: just those that lose it
/// here, or a rule that other lengths tell from it, such as all of the last partition.
std::vector<Hypothesis> tokens_dropped(const Evidence& evidence);

/// The same of tokens that weigh twice as much.
std::vector<Hypothesis> tokens_doubled(const Evidence& evidence);

/// Right proportions within each partition, wrong ones between them.
std::vector<Hypothesis> partitions_out_of_proportion(const Evidence& evidence);

/// Whether the tokens of each group keep their proportions: each group has a factor of its own.
bool is_explained_by_groups(const Evidence& evidence, int groups,
                            const std::function<int(int token)>& group_of);

}  // namespace paged
