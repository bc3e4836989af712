#include "tests/harness/execution_fault.h"

#include <algorithm>
#include <utility>

namespace paged {

const char* invariant_broken_by(FindingKind kind) {
  switch (kind) {
    case FindingKind::out_of_bounds_read:
    case FindingKind::out_of_bounds_write:
    case FindingKind::misaligned_access:
    case FindingKind::stack_overflow:
    case FindingKind::index_out_of_array:
      return "in-bounds";
    case FindingKind::uninitialised_read:
      return "no-uninitialised";
    case FindingKind::data_race:
    case FindingKind::read_before_arrival:
      return "no-race";
    case FindingKind::unwritten_output:
      return "writes-only-output";
    case FindingKind::barrier_divergence:
    case FindingKind::barrier_after_exit:
    case FindingKind::deadlock:
    case FindingKind::mbarrier_misuse:
    case FindingKind::warp_operation_mismatch:
    case FindingKind::warp_lane_missing:
      break;
  }
  return "no-barrier-divergence";
}

Fault fault_of(const Finding& finding) {
  Finding without_advice = finding;
  without_advice.advice.clear();
  return {to_string(without_advice), invariant_broken_by(finding.kind), finding.kind,
          finding.advice};
}

std::string advice_part(const Fault& fault) {
  return fault.advice.empty() ? "" : "; what to do: " + fault.advice;
}

bool spoil_results(const std::vector<Fault>& faults) {
  return std::any_of(faults.begin(), faults.end(), [](const Fault& fault) {
    return fault.breaks == "in-bounds" || fault.breaks == "no-barrier-divergence" ||
           fault.breaks == "no-race";
  });
}

Fault damage_fault(std::string text) { return {std::move(text), "writes-only-output"}; }

}  // namespace paged
