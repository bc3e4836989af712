// What a case is, in the words of TASK.md.
#pragma once
#include "reference/decode_problem.h"

#include <string>

namespace paged::labs {

/// "3 sequences with context length 1 each; block size 8 (tokens in a page), head size 64, 4 query
/// heads, 2 KV heads, type f16". What is beside plain attention stands at the end.
std::string in_words(const DecodeProblem& problem);

}  // namespace paged::labs
