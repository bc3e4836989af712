// What the invariants about the execution itself have in common.
#pragma once
#include "tests/harness/invariant.h"

#include <cstdint>
#include <string>
#include <vector>

namespace paged {

/// Runs that go through every part of a kernel: pages and tails, an empty sequence, partitions of
/// which the last is short, ALiBi, block-sparse attention, an fp8 cache.
std::vector<CaseSpec> watched_cases(ScalarType scalar, std::uint64_t seed);

/// Runs the case, as given and in partitions, and fails with the first finding that breaks the
/// invariant of this id. Other findings are other invariants' business.
Verdict run_watched(const std::string& id, KernelUnderTest& kernel, const Case& c);

/// "accesses of 2 query heads over 19 and 40 tokens: 0 findings ..."
std::string watched_example(const std::string& id, KernelUnderTest& kernel);

}  // namespace paged
