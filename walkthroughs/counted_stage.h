// Counting one stage on one named case, as `paged count` does.
#pragma once
#include "tests/harness/count_run.h"
#include "tests/harness/named_cases.h"

#include <stdexcept>
#include <string>

namespace paged {

/// What a stage asks of memory on a case. Throws std::runtime_error unless it is what the stage
/// predicts, to the digit.
inline CountsByPhase counted(const std::string& stage, const std::string& case_name,
                             Device& device) {
  KernelUnderTest kernel(find_stage(stage, Backend::cpu), device);
  const CountRun run = count_on_case(kernel, build_case(find_case(case_name)));
  if (!run.held())
    throw std::runtime_error("stage " + stage + " on " + case_name +
                             ": predicted and counted differ");
  return run.counted.phases;
}

}  // namespace paged
