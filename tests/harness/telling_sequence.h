// Which of several wrong sequences a report should be about.
#pragma once
#include "reference/decode_problem.h"

namespace paged {

/// Whether sequence `seq` tells more than `named`, which is what a report would be about so far;
/// -1: nothing. The first of 16 tokens or more is taken, else the longest: of one or two tokens,
/// whose weights many mistakes leave alike, little can be learnt.
inline bool tells_more(const DecodeProblem& problem, int seq, int named) {
  constexpr int kEnoughTokens = 16;
  if (named < 0) return true;
  return problem.seq_lens[named] < kEnoughTokens && problem.seq_lens[seq] > problem.seq_lens[named];
}

}  // namespace paged
