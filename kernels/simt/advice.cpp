#include "kernels/simt/advice.h"

namespace paged::simt {

const char* advice_for(FindingKind kind) {
  switch (kind) {
    case FindingKind::out_of_bounds_read:
    case FindingKind::out_of_bounds_write:
      return "check the index against the extent of the buffer, the last block and the last page "
             "included";
    case FindingKind::uninitialised_read:
      return "in an input look at the address, as nothing lies there. Elsewhere do not read these "
             "bytes, or let them be written first: by this kernel before a barrier, by an earlier "
             "one, or by the host";
    case FindingKind::data_race:
      return "put __syncthreads() between the two accesses (__syncwarp() if they are of one warp), "
             "or give each thread memory of its own";
    case FindingKind::unwritten_output:
      return "let some thread write every element, also for short and empty sequences";
    case FindingKind::misaligned_access:
      return "make the address a multiple of the access's size, or use a narrower type";
    case FindingKind::read_before_arrival:
      return "commit the copy to a group and wait for that group, or wait for the copy's mbarrier, "
             "and let a barrier follow before other threads read";
    case FindingKind::barrier_divergence:
      return "move the barrier out of the branch, so that all threads of the block come to the "
             "same one";
    case FindingKind::barrier_after_exit:
      return "let threads without work skip it, not return, as long as a barrier follows";
    case FindingKind::deadlock:
      return "let every thread that others wait for come to the same barrier or warp operation";
    case FindingKind::mbarrier_misuse:
      return "let one thread call mbarrier_init() with the number of arrivals of one phase, "
             "__syncthreads() follow, and arrive for the next phase only after this one has been "
             "waited for";
    case FindingKind::warp_operation_mismatch:
      return "give all lanes the same operation with the same mask, outside of branches that "
             "divide the warp";
    case FindingKind::warp_lane_missing:
      return "name in the mask the lanes that make the call, read only from those, and give a "
             "shuffle a width of 1, 2, 4, 8, 16 or 32";
    case FindingKind::stack_overflow:
      return "check the index of each local array, whose end was overwritten if no recursion is "
             "too deep. A thread has 64 KB of stack here, so move large arrays to shared memory, "
             "and end the recursion";
    case FindingKind::index_out_of_array:
      return "check the index, or the pointer, against the extent of the array or variable";
  }
  return "";
}

const char* advice_for_mbarriers() {
  return "let every thread that others wait for come to the same barrier or warp operation, and as "
         "many arrivals and bytes to each mbarrier as it was told";
}

}  // namespace paged::simt
