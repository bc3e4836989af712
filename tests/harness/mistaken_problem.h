// The problems that a kernel with one mistake solves, without that mistake, in place of the one it
// was given: without the scale, with another sequence's row of the table, one token short.
#pragma once
#include "reference/decode_problem.h"

#include <functional>
#include <string>
#include <vector>

namespace paged {

/// A mistake that another problem expresses.
struct MistakenProblem {
  std::string cause;     ///< id, as in LikelyCause
  std::string sentence;  ///< what is wrong
  std::function<DecodeProblem()> problem;
};

/// All that make sense for one (sequence, head), the plainer mistakes first. What they say holds for
/// that (sequence, head) alone. `problem` must outlive them.
std::vector<MistakenProblem> mistaken_problems(const DecodeProblem& problem, int seq, int head);

}  // namespace paged
