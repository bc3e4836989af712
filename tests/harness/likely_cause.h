// From wrong attention weights to the mistake that makes them.
#pragma once
#include "tests/harness/cause_ids.h"
#include "tests/harness/recovered_weights.h"

#include <string>
#include <utility>
#include <vector>

namespace paged {

/// A mistake that explains recovered weights.
struct LikelyCause {
  LikelyCause() = default;
  LikelyCause(CauseId cause, std::string what) : id(cause.text()), sentence(std::move(what)) {}

  std::string id;        ///< of kCauseIds, such as "tail-not-masked"; "" if nothing explains them
  std::string sentence;  ///< what is wrong, in half a sentence
};

/// Each of these mistakes explains the weights alone, so that none is the cause: no id, and "either A,
/// or B".
LikelyCause either(const std::vector<std::string>& mistakes);

/// What a diagnosis says of wrong weights without a cause; the page says how to go on.
inline constexpr const char* kUnexplainedWeights =
    "no known mistake explains these weights (how to go on: "
    "walkthroughs/reading_a_failure/README.md)";

/// What the weights of one (sequence, head) say.
struct Diagnosis {
  /// "seq 0 head 0 kv_head 0 seq_len 17: token 16 (logical block 1, offset 0, physical block 2) has
  /// weight 0.0000, reference 0.3127; likely cause: the last token is left out"
  std::string text;
  LikelyCause cause;
  bool weights_differ = false;  ///< from the reference's; false, too, where they were not recovered

  /// Whether `cause` has no id, as its sentence names several mistakes that have just these weights.
  bool has_several_causes() const { return cause.id.empty() && !cause.sentence.empty(); }
};

/// Recovers the weights of one (sequence, head), names the token that is most wrong, and looks for
/// the cause. Mistakes are tried one by one: each says what the weights would be (as another
/// problem has them, or as a pattern), and the first whose weights agree within the bounds that the
/// arithmetic allows is the cause. It can be one of several mistakes with equal weights. A few
/// causes rest on one number (a factor that all weights share, an LSE that is another row's), which
/// may be chance. Of a kernel from a library nothing is said that takes warps for granted. Runs the
/// kernel, whose faults the caller should then take and drop. Says so where the cache is too large
/// for it.
Diagnosis diagnose(KernelUnderTest& kernel, const DecodeProblem& problem, int seq, int head);

}  // namespace paged
