#include "tests/harness/invariants/all.h"
#include "tests/harness/invariants/watched_execution.h"

namespace paged::parts_of_in_bounds {
namespace {

const char* const kId = "in-bounds";

Verdict check(KernelUnderTest& kernel, const Case& c, std::uint64_t) {
  return run_watched(kId, kernel, c);
}

std::string example(KernelUnderTest& kernel) { return watched_example(kId, kernel); }

}  // namespace
}  // namespace paged::parts_of_in_bounds

namespace paged {

Invariant in_bounds() {
  using namespace parts_of_in_bounds;
  return {kId,
          "Every access is aligned and within the buffer or the shared memory that it is meant "
          "for.",
          "for every access of n bytes at address a: begin <= a, a + n <= end, a mod n = 0",
          "batches with tails, an empty sequence, partitions, ALiBi, block-sparse attention and "
          "an fp8 cache on the CPU machine, which watches every access; compute-sanitizer on a "
          "GPU",
          "off-by-one loops; a padding entry of the block table followed; shared memory sized "
          "too small; strides of another tensor",
          "The finding names the access's line, the buffer and how far outside it lies. An "
          "address far off is a wrong index, one just past the end a loop that runs one too "
          "far.",
          watched_cases,
          {},
          check,
          example,
          /*needs_watching=*/true};
}

}  // namespace paged
