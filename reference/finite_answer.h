// Whether a decode step has an answer of numbers: comparing NaN with NaN proves nothing.
#pragma once
#include "reference/decode_problem.h"

namespace paged {

/// Throws InputError that names sequence, head, token and value, unless for every token that takes
/// part
///
///   - its key, its value and the query are finite, fp8 elements also after their scale;
///   - sum_i |q_i k_i|, and that times |scale| with |bias| added, stay within f32's range, so that
///     no order of summation overflows;
///
/// and the output fits the scalar type. What no token reads (tails of pages, blocks that nobody
/// owns, pages that block-sparse attention leaves out) may hold anything. The problem must be valid.
void check_finite_answer(const DecodeProblem& problem);

}  // namespace paged
