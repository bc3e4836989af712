// What stages state about themselves, for the process of a submission: it runs kernels and is never
// asked. So it needs no costs and no lists, and what they are made of cannot be called there.
#include "stages/cost_of_stages.h"
#include "stages/stage.h"

namespace paged {

StageSupport every_type_and_size(InstanceList) { return {}; }
std::vector<std::string> promises_of_every_stage() { return {}; }

CountsByPhase predict_stage_01(const CallShape&) { return {}; }
CountsByPhase predict_stage_02(const CallShape&) { return {}; }
CountsByPhase predict_stage_03(const CallShape&) { return {}; }
CountsByPhase predict_stage_04(const CallShape&) { return {}; }
CountsByPhase predict_stage_05(const CallShape&) { return {}; }

}  // namespace paged
