// Cases that come with the project, by name.
#pragma once
#include "tests/harness/case_spec.h"

#include <string>
#include <vector>

namespace paged {

/// A case file under tests/cases.
struct NamedCase {
  std::string name;         ///< file name without .json
  std::string description;  ///< its "description"
};

std::vector<NamedCase> named_cases();

/// A named case, or a case file if the argument names an existing file, has a slash, or ends in
/// .json.
/// Throws InputError that lists the names there are.
CaseSpec find_case(const std::string& name_or_file);

}  // namespace paged
