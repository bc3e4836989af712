#include "kernels/finding.h"

namespace paged {

const char* name_of(FindingKind kind) {
  switch (kind) {
    case FindingKind::out_of_bounds_read:
      return "out-of-bounds read";
    case FindingKind::out_of_bounds_write:
      return "out-of-bounds write";
    case FindingKind::uninitialised_read:
      return "uninitialised read";
    case FindingKind::data_race:
      return "data race";
    case FindingKind::unwritten_output:
      return "unwritten output";
    case FindingKind::misaligned_access:
      return "misaligned access";
    case FindingKind::read_before_arrival:
      return "read before arrival";
    case FindingKind::barrier_divergence:
      return "barrier divergence";
    case FindingKind::barrier_after_exit:
      return "barrier after exit";
    case FindingKind::deadlock:
      return "deadlock";
    case FindingKind::mbarrier_misuse:
      return "mbarrier misuse";
    case FindingKind::warp_operation_mismatch:
      return "warp operation mismatch";
    case FindingKind::warp_lane_missing:
      return "missing warp lane";
    case FindingKind::stack_overflow:
      return "stack overflow";
    case FindingKind::index_out_of_array:
      return "index out of its array";
  }
  return "";
}

std::string to_string(const Finding& finding) {
  std::string text = name_of(finding.kind);
  if (!finding.location.empty()) text += " at " + finding.location;
  if (!finding.kernel.empty()) text += " in " + finding.kernel;
  text += ": " + finding.message;
  if (finding.count > 1) text += " (" + std::to_string(finding.count) + " times)";
  if (!finding.schedule.empty()) text += " (schedule " + finding.schedule + ")";
  return finding.advice.empty() ? text : text + "; what to do: " + finding.advice;
}

}  // namespace paged
