// The table of contents of this folder: every stage, in order. Compiled once per backend.
#include "kernels/cuda.h"
#include "stages/backend_stages.h"

namespace paged::PAGED_BACKEND {

Stage stage_01_naive_paged_gather();
Stage stage_02_thread_group_qk();
Stage stage_03_two_pass_softmax();
Stage stage_04_vectorised_pv();
Stage stage_05_partition_and_reduce();

std::span<const Stage> stages() {
  static const Stage all[] = {
      stage_01_naive_paged_gather(), stage_02_thread_group_qk(),      stage_03_two_pass_softmax(),
      stage_04_vectorised_pv(),      stage_05_partition_and_reduce(),
  };
  return all;
}

}  // namespace paged::PAGED_BACKEND
