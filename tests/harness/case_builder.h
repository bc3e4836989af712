// From a description to a validated problem.
#pragma once
#include "reference/decode_problem.h"
#include "reference/decode_shape.h"
#include "tests/harness/case_spec.h"

#include <cstdint>
#include <string>
#include <vector>

namespace paged {

/// A named decode step, ready to run.
struct Case {
  std::string name;
  DecodeProblem problem;
};

/// The sizes that a case will have, without building it. Throws InputError for sizes that cannot
/// be, and for caches, queries and tables too large to be anything but a mistake.
DecodeShape shape_of_case(const CaseSpec& spec);

/// Builds tables, values, tensors and poison, and validates the result. Throws InputError.
Case build_case(const CaseSpec& spec);

/// Which token slots (physical block * block_size + offset) hold tokens of the given sequences.
std::vector<bool> slots_of(const DecodeProblem& problem, const std::vector<int>& seqs);
/// Which physical blocks the given sequences use. [num_blocks]
std::vector<bool> blocks_of(const DecodeProblem& problem, const std::vector<int>& seqs);
/// All sequences of a problem: 0 ... num_seqs-1.
std::vector<int> all_seqs(const DecodeProblem& problem);

/// What to overwrite in one slot.
enum class PoisonedCache { keys, values, both };

/// Overwrites one token slot of every KV head.
void poison_slot(DecodeProblem& problem, std::int64_t slot, double value,
                 PoisonedCache caches = PoisonedCache::both);
/// Overwrites the slots that no sequence uses in the blocks that sequences own: the tails of last
/// pages.
void poison_tails(DecodeProblem& problem, double value, PoisonedCache caches = PoisonedCache::both);
/// Overwrites every block for which owned[block] is false.
void poison_blocks(DecodeProblem& problem, const std::vector<bool>& owned, double value);

}  // namespace paged
