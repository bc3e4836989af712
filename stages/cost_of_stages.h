// What each stage's kernels ask of memory, predicted from the shape of the call alone.
#pragma once
#include "kernels/counts.h"
#include "stages/call_shape.h"

namespace paged {

/// Counts of all launches of a stage, by phase. The call must be valid and supported.
CountsByPhase predict_stage_01(const CallShape& call);
CountsByPhase predict_stage_02(const CallShape& call);
CountsByPhase predict_stage_03(const CallShape& call);
CountsByPhase predict_stage_04(const CallShape& call);
CountsByPhase predict_stage_05(const CallShape& call);

}  // namespace paged
