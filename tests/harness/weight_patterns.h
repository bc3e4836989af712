// Patterns of wrong attention weights, each with the mistake that it points at.
#pragma once
#include "tests/harness/likely_cause.h"
#include "tests/harness/weight_evidence.h"

#include <cstdint>
#include <string>

namespace paged {

/// A mistake that explains the weights that were read, and not the output of another row.
struct Contradiction {
  std::string sentence = {};  ///< of the first that was noted
  OutputRow row = {};

  void note(const std::string& mistake, OutputRow against) {
    if (sentence.empty()) *this = {mistake, against};
  }
};

/// Weights that are no numbers, of another KV head, or all zero.
LikelyCause cause_of_plain_pattern(const Evidence& evidence);

/// Patterns that are tried where no mistaken problem (mistaken_problem.h) has just these weights.
/// Of those that other rows speak against, the first is noted.
LikelyCause cause_of_pattern(const Evidence& evidence, const StageArithmetic& arithmetic,
                             Contradiction& contradiction);

/// That slots weigh which are no tokens of the sequence. What is seen, where nothing else explains it.
LikelyCause cause_of_foreign_weight(const Evidence& evidence);

/// Whether weights that are not zero agree with the expected ones up to one factor: a mistake in
/// what several steps use, such as a sum over lanes, also changes the denominator and loses values.
bool explain_proportions(const Evidence& evidence, const ExpectedWeights& expected);

/// "sequence 1's" or "nobody's"
std::string owner_of(const DecodeProblem& problem, std::int64_t block);

}  // namespace paged
