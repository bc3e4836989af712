// Stage 5 calls stage 4 for V1. A mutant of stage 5 has no stage 4 of its own and takes the right
// one.
#include "stages/stage.h"

namespace paged::cpu_checked {
void run_stage_04(const paged_decode_args& args);
LaunchPlan plan_of_stage_04(const DecodeShape& shape);
}  // namespace paged::cpu_checked

// Included once, by the file that the build writes for the mutant.
namespace paged::PAGED_BACKEND {
void run_stage_04(const paged_decode_args& args) { cpu_checked::run_stage_04(args); }
LaunchPlan plan_of_stage_04(const DecodeShape& shape) {
  return cpu_checked::plan_of_stage_04(shape);
}
}  // namespace paged::PAGED_BACKEND
