// The table of contents of this folder: every stage, in order. Compiled once per backend.
#include "kernels/cuda.h"
#include "stages/backend_stages.h"

namespace paged::PAGED_BACKEND {

Stage stage_01_naive_paged_gather();

std::span<const Stage> stages() {
  static const Stage all[] = {
      stage_01_naive_paged_gather(),
  };
  return all;
}

}  // namespace paged::PAGED_BACKEND
