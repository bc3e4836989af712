// The steps by which a failing case is made small enough to read.
#pragma once
#include "stages/stage.h"
#include "tests/harness/case_spec.h"

#include <functional>
#include <vector>

namespace paged {

/// Cases that are one step smaller or plainer than `spec`, the largest steps first: without a
/// sequence, with a shorter one, with fewer heads, smaller sizes, without an option, with plainer
/// values. Any chain of such steps ends. Some cannot be built, or not by the stage.
std::vector<CaseSpec> smaller_cases(const CaseSpec& spec, const StageSupport& supports);

/// Takes steps for as long as `still_fails` says so of one, and returns the last case of which it
/// did. `may_go_on` is asked before each try.
CaseSpec shrink(CaseSpec spec, const StageSupport& supports,
                const std::function<bool(const CaseSpec&)>& still_fails,
                const std::function<bool()>& may_go_on);

}  // namespace paged
