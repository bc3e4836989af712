// Patterns of wrong attention weights, each with the mistake that it points at.
#pragma once
#include "tests/harness/likely_cause.h"
#include "tests/harness/weight_evidence.h"

#include <cstdint>
#include <string>

namespace paged {

/// Weights that are no numbers, of another KV head, or all zero.
LikelyCause cause_of_plain_pattern(const Evidence& evidence);

/// Patterns that are tried where no mistaken problem (mistaken_problem.h) has just these weights.
LikelyCause cause_of_pattern(const Evidence& evidence, const StageArithmetic& arithmetic);

/// Whether weights that are not zero agree with the expected ones up to one factor: a mistake in
/// what several steps use, such as a sum over lanes, also changes the denominator and loses values.
bool explain_proportions(const Evidence& evidence, const ExpectedWeights& expected);

/// "sequence 1's" or "nobody's"
std::string owner_of(const DecodeProblem& problem, std::int64_t block);

}  // namespace paged
