#include "tests/harness/invariants/all.h"
#include "tests/harness/invariants/watched_execution.h"

namespace paged::parts_of_no_barrier_divergence {
namespace {

const char* const kId = "no-barrier-divergence";

Verdict check(KernelUnderTest& kernel, const Case& c, std::uint64_t) {
  return run_watched(kId, kernel, c);
}

std::string example(KernelUnderTest& kernel) { return watched_example(kId, kernel); }

}  // namespace
}  // namespace paged::parts_of_no_barrier_divergence

namespace paged {

Invariant no_barrier_divergence() {
  using namespace parts_of_no_barrier_divergence;
  return {kId,
          "All threads of a block meet at the same barriers, and all lanes of a mask at the "
          "same warp operation.",
          "for every barrier: all threads of the block arrive, at the same one; for every "
          "shuffle: all lanes of its mask",
          "batches with tails, an empty sequence, partitions, ALiBi, block-sparse attention and "
          "an fp8 cache on the CPU machine, which watches every access; compute-sanitizer on a "
          "GPU",
          "__syncthreads within a branch or a loop whose count differs; a return before a "
          "barrier; a full mask where lanes have left",
          "The finding names the line at which some threads wait and where the others are. Move "
          "the barrier out of the branch, or let all threads take it.",
          watched_cases,
          {},
          check,
          example,
          /*needs_watching=*/true};
}

}  // namespace paged
