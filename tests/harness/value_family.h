// Input distributions under which bugs show.
#pragma once
#include "reference/decode_problem.h"
#include "tests/harness/case_spec.h"

#include <string>
#include <vector>

namespace paged {

/// One named distribution.
struct ValueFamilyInfo {
  std::string kind;
  std::string description;
};

/// All families, for lists and error messages. Near-uniform softmax hides nearly every bug, so no
/// family is like that by default.
const std::vector<ValueFamilyInfo>& value_families();

/// Throws InputError that lists the families there are, unless `kind` is one.
void check_family_kind(const std::string& kind);

/// Fills query, keys and values of a problem whose sizes and tables are set. Every slot of the
/// caches gets a plausible value, also those that no sequence uses: stale data is what real caches
/// hold there. Throws InputError for an unknown kind or bad parameters.
void fill_values(DecodeProblem& problem, const ValueFamily& query, const ValueFamily& keys,
                 const ValueFamily& values);

}  // namespace paged
