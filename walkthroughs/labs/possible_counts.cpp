#include "walkthroughs/labs/possible_counts.h"

#include <algorithm>
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

std::uint64_t rounded_up(std::uint64_t number, std::uint64_t divisor) {
  return (number + divisor - 1) / divisor;
}

/// Requests for that many floats: each lane of a warp gets 16 bytes at most.
std::uint64_t requests_for(std::uint64_t floats) {
  constexpr std::uint64_t kFloatsPerRequest = 32 * 16 / 4;
  return rounded_up(floats, kFloatsPerRequest);
}

/// The query is needed for each page anew, as a hole inside of the loop over pages keeps nothing;
/// logits and weights once.
std::uint64_t least_requests(const DecodeProblem& problem, SharedInput input) {
  std::uint64_t of_one_head = 0;
  for (const std::int32_t length : problem.seq_lens) {
    const auto tokens = static_cast<std::uint64_t>(length);
    of_one_head += input == SharedInput::query
                       ? rounded_up(tokens, static_cast<std::uint64_t>(problem.block_size)) *
                             requests_for(static_cast<std::uint64_t>(problem.head_size))
                       : requests_for(tokens);
  }
  return of_one_head * static_cast<std::uint64_t>(problem.num_heads);
}

/// Of the hole's own: of weights the phase has others beside, those of the sums over warps.
std::uint64_t predicted_requests(const CountsByPhase& predicted, const DecodeProblem& problem,
                                 SharedInput input) {
  switch (input) {
    case SharedInput::query:
      return predicted[Phase::gather].shared_load_requests +
             predicted[Phase::qk].shared_load_requests;
    case SharedInput::logits:
      return predicted[Phase::softmax].shared_load_requests;
    case SharedInput::weights: {
      std::uint64_t pages = 0;
      for (const std::int32_t length : problem.seq_lens)
        pages += rounded_up(static_cast<std::uint64_t>(length),
                            static_cast<std::uint64_t>(problem.block_size));
      const std::uint64_t vector = std::min<std::uint64_t>(
          16 / size_in_bytes(problem.scalar), static_cast<std::uint64_t>(problem.block_size));
      return pages * static_cast<std::uint64_t>(problem.num_heads) * (vector / 4);
    }
    case SharedInput::none:
      break;
  }
  return 0;
}

}  // namespace

std::string impossible_counts(const LaunchCounts& counted, const DecodeProblem& problem) {
  if (problem.sparsity.active()) return "";
  const std::uint64_t least = sectors_of_keys(problem);
  const std::uint64_t total = counted.phases.total().global_load_sectors;
  for (const auto& [what, other] : {std::pair("keys", Phase::pv), {"values", Phase::qk}}) {
    const std::uint64_t loaded = total - counted.phases[other].global_load_sectors;
    if (loaded < least)
      return std::string("the ") + what + " alone have " + std::to_string(least) +
             " sectors, and where they are read " + std::to_string(loaded) +
             " were counted. So they are read in a way that is not counted, and there are no "
             "points for it.";
  }
  return "";
}

std::string impossible_shared_loads(const LaunchCounts& counted, const CountsByPhase& predicted,
                                    const DecodeProblem& problem, SharedInput input) {
  if (input == SharedInput::none || problem.sparsity.active()) return "";
  const std::uint64_t of_others =
      predicted.total().shared_load_requests - predicted_requests(predicted, problem, input);
  const std::uint64_t all = counted.phases.total().shared_load_requests;
  const std::uint64_t own = all > of_others ? all - of_others : 0;
  const std::uint64_t least = least_requests(problem, input);
  if (own >= least) return "";
  return std::string("to read the ") + name_of(input) + " from shared memory takes at least " +
         std::to_string(least) + " requests, and beside those of the code round yours " +
         std::to_string(own) +
         " were counted. So it is read in a way that is not counted, or from elsewhere, and there "
         "are no points for it.";
}

}  // namespace paged::labs
