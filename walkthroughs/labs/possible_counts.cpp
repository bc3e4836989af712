#include "walkthroughs/labs/possible_counts.h"

#include <cstdint>
#include <utility>

namespace paged::labs {
namespace {

/// Sectors that hold the keys of all tokens (and as many their values), once for each query head:
/// each head has blocks of its own, and no block can tell another what it has read.
std::uint64_t sectors_of_keys(const DecodeProblem& problem) {
  std::uint64_t tokens = 0;
  for (const std::int32_t length : problem.seq_lens) tokens += static_cast<std::uint64_t>(length);
  const std::uint64_t elements = tokens * static_cast<std::uint64_t>(problem.num_heads) *
                                 static_cast<std::uint64_t>(problem.head_size);
  constexpr std::uint64_t kSectorBytes = 32;
  return elements * size_in_bytes(problem.cache()) / kSectorBytes;
}

}  // namespace

std::string impossible_counts(const LaunchCounts& counted, const DecodeProblem& problem) {
  if (problem.sparsity.active()) return "";
  const std::uint64_t least = sectors_of_keys(problem);
  const std::uint64_t total = counted.phases.total().global_load_sectors;
  for (const auto& [what, other] : {std::pair("keys", Phase::pv), {"values", Phase::qk}}) {
    const std::uint64_t loaded = total - counted.phases[other].global_load_sectors;
    if (loaded < least)
      return std::string("impossible: the ") + what + " alone have " + std::to_string(least) +
             " sectors, and where they are read " + std::to_string(loaded) +
             " were counted. So they are read in a way that is not counted, and there are no "
             "points for it.";
  }
  return "";
}

}  // namespace paged::labs
