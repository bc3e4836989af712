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
  LikelyCause(CauseId cause, std::string what)
      : id(cause.text()),
        sentence(std::move(what)),
        shows_in_one_token(paged::shows_in_one_token(cause)) {}

  std::string id;        ///< of kCauseIds, such as "tail-not-masked"; "" if nothing explains them
  std::string sentence;  ///< what is wrong, in half a sentence
  bool is_one_of_several = false;  ///< `sentence` is "either A, or B"
  /// Whether it can be the cause where a sequence has one token; of several, whether all can.
  bool shows_in_one_token = false;
};

/// Of mistakes that each explain the weights alone: the one there is, or "either A, or B", with an
/// id only where all have the same; nothing of none. Equal sentences count once.
LikelyCause either(const std::vector<LikelyCause>& mistakes);

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
  bool was_looked_for = true;   ///< the cause; false: the case is too large for it

  /// Whether no known mistake explains what was seen.
  bool is_unexplained() const { return was_looked_for && cause.sentence.empty(); }

  /// Whether its sentence names several mistakes that have just these weights.
  bool has_several_causes() const { return cause.is_one_of_several; }
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
