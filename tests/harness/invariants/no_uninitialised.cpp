#include "tests/harness/invariants/all.h"
#include "tests/harness/invariants/watched_execution.h"

namespace paged::parts_of_no_uninitialised {
namespace {

const char* const kId = "no-uninitialised";

Verdict check(KernelUnderTest& kernel, const Case& c, std::uint64_t) {
  return run_watched(kId, kernel, c);
}

std::string example(KernelUnderTest& kernel) { return watched_example(kId, kernel); }

}  // namespace
}  // namespace paged::parts_of_no_uninitialised

namespace paged {

Invariant no_uninitialised() {
  using namespace parts_of_no_uninitialised;
  return {kId,
          "Nothing is read that nobody wrote.",
          "for every byte read: an earlier write to it in this launch, or before it",
          "batches with tails, an empty sequence, partitions, ALiBi, block-sparse attention and "
          "an fp8 cache on the CPU machine, which watches every access; compute-sanitizer on a "
          "GPU",
          "padding of the block table or free blocks read; shared memory that some lanes never "
          "filled; partitions past a sequence's end merged",
          "The finding names the line of the read and the buffer. In an input look at the address: "
          "the block, its table entry, the head, the offset. In shared memory or a workspace look "
          "for the lanes or iterations that should have written there: those past the end are the "
          "usual ones.",
          watched_cases,
          {},
          check,
          example,
          /*needs_watching=*/true};
}

}  // namespace paged
