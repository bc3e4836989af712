// A stage run on a case with every request of every warp kept: what pictures are drawn from.
#pragma once
#include "kernels/device.h"
#include "kernels/simt/request_trace.h"
#include "tests/harness/case_builder.h"
#include "tests/harness/case_spec.h"
#include "tests/harness/kernel_under_test.h"

#include <cstdint>
#include <string>
#include <vector>

namespace paged {

/// What a run asked for, and what it answered.
struct TracedStage {
  int stage_number = 0;
  std::string stage;
  DecodeProblem problem;
  DecodeOutputs outputs;
  std::vector<simt::TracedRequest> requests;  ///< as RequestTrace::take() has them
};

/// Runs a stage (its number) on the CPU machine. Throws InputError if it cannot run the case, and
/// std::runtime_error if anything went wrong in the run: no picture is made of a mistake.
TracedStage trace_stage(Device& device, int stage_number, const CaseSpec& spec,
                        const RunOptions& options = {});

/// One sequence on the given pages in physical order, one head of 64 dimensions, f16, and weights
/// that differ: what most pictures show.
CaseSpec picture_case(int seq_len, int block_size, const std::vector<std::int32_t>& block_table,
                      int num_blocks);

/// Where an element of a cache belongs.
struct CachePlace {
  std::int64_t block = 0;  ///< physical
  int kv_head = 0;
  int byte_in_page = 0;
  int offset = 0;  ///< token's slot in the page
  int dim = 0;
};

/// The place of a byte of the key or value cache, "key_cache" or "value_cache".
CachePlace place_in_cache(const DecodeProblem& problem, const std::string& cache,
                          std::int64_t byte);

/// Requests of one warp of the first CUDA block of the first launch that go to one memory.
std::vector<const simt::TracedRequest*> requests_of(const TracedStage& run, int warp,
                                                    const std::string& memory,
                                                    simt::AccessKind kind = simt::AccessKind::read);

}  // namespace paged
