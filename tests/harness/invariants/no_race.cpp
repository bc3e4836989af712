#include "tests/harness/invariants/all.h"
#include "tests/harness/invariants/watched_execution.h"

namespace paged::parts_of_no_race {
namespace {

const char* const kId = "no-race";

Verdict check(KernelUnderTest& kernel, const Case& c, std::uint64_t) {
  return run_watched(kId, kernel, c);
}

std::string example(KernelUnderTest& kernel) { return watched_example(kId, kernel); }

}  // namespace
}  // namespace paged::parts_of_no_race

namespace paged {

Invariant no_race() {
  using namespace parts_of_no_race;
  return {kId,
          "No two threads access the same byte, one of them writing, without a barrier between.",
          "for accesses x, y of different threads to one byte, one a write: x before y or y "
          "before x by barriers or warp operations",
          "batches with tails, an empty sequence, partitions, ALiBi, block-sparse attention and "
          "an fp8 cache on the CPU machine, which watches every access; compute-sanitizer on a "
          "GPU",
          "a missing __syncthreads; logits overwritten as out_smem while others still read "
          "them; a scratch array used twice",
          "The finding names both lines and both threads: a barrier is missing on the way from "
          "one to the other.",
          watched_cases,
          {},
          check,
          example,
          /*needs_watching=*/true};
}

}  // namespace paged
