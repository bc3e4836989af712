// The table of all sample kernels of one backend.
#include "kernels/cuda.h"
#include "tests/simt/sample_kernels.h"

namespace paged::PAGED_BACKEND {

void add_arithmetic(SampleKernels& kernels);
void add_async_copies(SampleKernels& kernels);
void add_atomics(SampleKernels& kernels);
void add_barriers(SampleKernels& kernels);
void add_bulk_copies(SampleKernels& kernels);
void add_conversions(SampleKernels& kernels);
void add_coordinates(SampleKernels& kernels);
void add_gather(SampleKernels& kernels);
void add_matrices(SampleKernels& kernels);
void add_reductions(SampleKernels& kernels);
void add_shuffles(SampleKernels& kernels);
void add_static_shared(SampleKernels& kernels);
void add_vectors(SampleKernels& kernels);
void add_votes(SampleKernels& kernels);

SampleKernels sample_kernels() {
  SampleKernels kernels{};
  add_arithmetic(kernels);
  add_async_copies(kernels);
  add_atomics(kernels);
  add_barriers(kernels);
  add_bulk_copies(kernels);
  add_conversions(kernels);
  add_coordinates(kernels);
  add_gather(kernels);
  add_matrices(kernels);
  add_reductions(kernels);
  add_shuffles(kernels);
  add_static_shared(kernels);
  add_vectors(kernels);
  add_votes(kernels);
  return kernels;
}

}  // namespace paged::PAGED_BACKEND
