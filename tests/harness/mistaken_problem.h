// The problems that a kernel with one mistake solves, without that mistake, in place of the one it
// was given: without the scale, with another sequence's row of the table, one token short.
#pragma once
#include "reference/decode_problem.h"
#include "tests/harness/cause_ids.h"

#include <functional>
#include <string>
#include <vector>

namespace paged {

/// What is known of a kernel that wrong weights come from.
struct KernelTraits {
  bool has_warps = true;     ///< false: nobody knows whether it has any, as of a library
  bool classic_keys = true;  ///< its pages of keys are [head_size/x, block_size, x]
  /// Its blocks are [block_size, num_kv_heads, head_size]: heads lie between two tokens.
  bool tokens_then_heads = false;
  bool has_partitions = true;  ///< it declares that it takes them
};

/// A mistake that another problem expresses.
struct MistakenProblem {
  CauseId cause;
  std::string sentence;  ///< what is wrong
  std::function<DecodeProblem()> problem;
  /// What the mistake is, whatever the sequence and the head: those of another that have the same
  /// rule must be explained, too.
  std::string rule;
  /// Of a rule that leaves a part open, such as which other sequence it is: (sequence, head)s may be
  /// right, and of several mistakes with the rule one is enough.
  bool may_spare = false;
  double factor = 1;        ///< of all weights besides
  bool has_values = false;  ///< of the problem: those that are read, so that they have the factor
  /// It changes what a token weighs, not which tokens there are: where one token has all the
  /// weight, many such mistakes give it to the same one by chance.
  bool changes_logits = true;
};

/// A mistake about where values are read, whatever they are, perhaps keys too.
struct MistakenReading {
  CauseId cause;
  std::string sentence;
  /// Puts into the sequence's pages of the caches what is read there by mistake.
  std::function<void(DecodeProblem& problem)> edit;
  std::string rule = sentence;  ///< what the mistake is, whatever the sequence and the head
};

/// What two mistakes are that look alike where the row of a sequence has logical blocks for
/// physical ones.
inline constexpr const char* kTableIsIgnored =
    "the block table is ignored: logical blocks are used as physical ones";
std::string row_is_that_of(int seq);

/// All that make sense for one (sequence, head), the plainer mistakes first. What they say holds
/// for that (sequence, head) alone. `problem` must outlive them.
std::vector<MistakenProblem> mistaken_problems(const DecodeProblem& problem, int seq, int head,
                                               const KernelTraits& traits);

/// The same for values.
std::vector<MistakenReading> mistaken_readings(const DecodeProblem& problem, int seq, int head,
                                               const KernelTraits& traits);

}  // namespace paged
