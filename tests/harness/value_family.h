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

/// Fill one tensor of a problem whose sizes and tables are set. Every slot of a cache gets a
/// plausible value, also those that no sequence uses: stale data is what real caches hold there.
/// Of a great many blocks that no sequence uses, later ones repeat earlier ones, except in the
/// family "coded". Throw InputError for an unknown kind, for bad parameters, and for a value that
/// does not fit the tensor's type.
void fill_query(DecodeProblem& problem, const ValueFamily& family);
void fill_keys(DecodeProblem& problem, const ValueFamily& family);
void fill_values(DecodeProblem& problem, const ValueFamily& family);

/// Makes one block of a cache a copy of another, bit for bit.
void copy_block(Tensor& cache, std::int64_t from, std::int64_t to);

}  // namespace paged
