// A case as the text of a case file.
#pragma once
#include "tests/harness/case_spec.h"

#include <string>

namespace paged {

/// What parse_case() reads as the same case: every key that is not at its default. Paths of tensors
/// stand as they are. Seeds must be below 2^63, as case files ask.
std::string case_file_of(const CaseSpec& spec);

}  // namespace paged
