// Something that a checked execution found wrong with a kernel.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace paged {

/// What kind of mistake it is. name_of() gives the text that reports use.
enum class FindingKind {
  out_of_bounds_read,
  out_of_bounds_write,
  uninitialised_read,
  data_race,  ///< two accesses of which one writes, and nothing orders them
  unwritten_output,
  misaligned_access,
  read_before_arrival,  ///< of bytes that an asynchronous copy has yet to bring
  barrier_divergence,   ///< threads of one block wait at different barriers
  barrier_after_exit,   ///< a barrier that some threads can no longer reach
  deadlock,
  mbarrier_misuse,  ///< an mbarrier that is not there, or an arrival that its phase has no room for
  warp_operation_mismatch,  ///< lanes joined different warp operations or masks
  warp_lane_missing,  ///< a warp operation names an exited lane, or reads one outside the mask
  stack_overflow,
  index_out_of_array,  ///< found by the compiler's own checks, with which the labs' kernels are built
};

const char* name_of(FindingKind kind);

/// One mistake, as often as it was seen. Equal mistakes (same kind, same place) are one finding.
struct Finding {
  FindingKind kind;
  std::string kernel;    ///< the kernel's name, without its parameters
  std::string location;  ///< "file:line" of the access or operation, "" if unknown
  std::string message;   ///< what happened and where (block, warp, lane), one sentence
  std::string advice;    ///< what to do about it, half a sentence: "put __syncthreads() between"
  std::uint64_t count = 1;
  /// That shows it: "random, seed 7"; "" for the CPU machine's usual order.
  std::string schedule = {};
};

/// "out-of-bounds read at stage_01.cu:40 in naive_paged_gather: message (schedule random, seed 7);
/// what to do: advice"; without advice what stands before it.
std::string to_string(const Finding& finding);

}  // namespace paged
