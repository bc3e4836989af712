// The list of all planted kernels of one backend.
#include "kernels/cuda.h"
#include "tests/simt/planted_kernels.h"

namespace paged::PAGED_BACKEND {

void add_planted_accesses(std::vector<PlantedKernel>& kernels);
void add_planted_async_copies(std::vector<PlantedKernel>& kernels);
void add_planted_barriers(std::vector<PlantedKernel>& kernels);
void add_planted_matrices(std::vector<PlantedKernel>& kernels);
void add_planted_bulk_copies(std::vector<PlantedKernel>& kernels);
void add_planted_global_races(std::vector<PlantedKernel>& kernels);
void add_planted_races(std::vector<PlantedKernel>& kernels);
void add_planted_warp_operations(std::vector<PlantedKernel>& kernels);

std::vector<PlantedKernel> planted_kernels() {
  std::vector<PlantedKernel> kernels;
  add_planted_accesses(kernels);
  add_planted_async_copies(kernels);
  add_planted_barriers(kernels);
  add_planted_bulk_copies(kernels);
  add_planted_matrices(kernels);
  add_planted_global_races(kernels);
  add_planted_races(kernels);
  add_planted_warp_operations(kernels);
  return kernels;
}

}  // namespace paged::PAGED_BACKEND
