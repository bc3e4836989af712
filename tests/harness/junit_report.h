// Results as JUnit XML, which CI systems read.
#pragma once
#include "tests/harness/baseline.h"
#include "tests/harness/check_run.h"

#include <string>
#include <string_view>
#include <vector>

namespace paged {

/// Text as it may stand in an XML attribute or element: markup as entities, and what XML cannot
/// hold (control characters, what is no UTF-8) as a backslash, x and two
/// hexadecimal digits.
std::string xml_text(std::string_view text);

/// One suite a stage and backend, one test a result, whose class is "stage.invariant" and whose
/// name is the case. A failure is a result that is not as stated, whose type is the invariant, or
/// that got worse than the baseline, whose type is "regression", whether it holds or not;
/// invariants that were left out are skipped tests. Times are those of the kernel; with `times`
/// false there are none, so that the same results give the same text.
std::string junit_of_checks(const std::vector<CheckResult>& results,
                            const std::vector<NotTried>& not_tried,
                            const BaselineComparison& comparison, bool times);

}  // namespace paged
