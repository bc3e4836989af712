#include "walkthroughs/pictures/traced_stage.h"

#include "reference/cache_layout.h"
#include "stages/registry.h"
#include "tests/harness/count_run.h"

#include <cstdint>
#include <stdexcept>

namespace paged {
namespace {

class TracingScope {
 public:
  TracingScope() {
    simt::request_trace().take();
    simt::request_trace().switch_tracing(true);
  }
  ~TracingScope() { simt::request_trace().switch_tracing(false); }
  TracingScope(const TracingScope&) = delete;
  TracingScope& operator=(const TracingScope&) = delete;
};

const Stage& stage_numbered(int number) {
  for (const Stage& stage : stages(Backend::cpu))
    if (stage.number == number) return stage;
  throw std::runtime_error("there is no stage " + std::to_string(number));
}

}  // namespace

TracedStage trace_stage(Device& device, int stage_number, const CaseSpec& spec,
                        const RunOptions& options) {
  const Stage& stage = stage_numbered(stage_number);
  KernelUnderTest kernel(stage, device);
  TracedStage run;
  run.stage_number = stage.number;
  run.stage = stage.name;
  run.problem = build_case(spec).problem;
  kernel.check_supported(run.problem);
  const CountingScope counting(device);
  const TracingScope tracing;
  run.outputs = kernel.run(run.problem, options);
  run.requests = simt::request_trace().take();
  if (const auto faults = kernel.take_faults(); !faults.empty())
    throw std::runtime_error("stage " + std::to_string(stage_number) + ": " + faults.front());
  return run;
}

CaseSpec picture_case(int seq_len, int block_size, const std::vector<std::int32_t>& block_table,
                      int num_blocks) {
  CaseSpec spec;
  spec.name = "picture";
  spec.num_heads = spec.num_kv_heads = 1;
  spec.head_size = 64;
  spec.block_size = block_size;
  spec.num_blocks = num_blocks;
  spec.seq_lens = {seq_len};
  spec.block_tables = std::vector<std::vector<std::int32_t>>{block_table};
  spec.query_values.kind = spec.key_values.kind = spec.value_values.kind = "peaked";
  return spec;
}

CachePlace place_in_cache(const DecodeProblem& problem, const std::string& cache,
                          std::int64_t byte) {
  const auto element_bytes = static_cast<int>(size_in_bytes(problem.cache()));
  const int x = key_vector_width(element_bytes);
  const CacheStrides strides =
      contiguous_strides(problem.num_kv_heads, problem.head_size, problem.block_size);
  const std::int64_t element = byte / element_bytes;
  CachePlace place;
  place.block = element / strides.block_stride;
  place.kv_head = static_cast<int>(element % strides.block_stride / strides.head_stride);
  const auto in_page = static_cast<int>(element % strides.head_stride);
  place.byte_in_page = in_page * element_bytes + static_cast<int>(byte % element_bytes);
  // The layout says where a token's dimension is, not which one is somewhere.
  for (place.offset = 0; place.offset < problem.block_size; ++place.offset)
    for (place.dim = 0; place.dim < problem.head_size; ++place.dim)
      if (in_page == (cache == "key_cache"
                          ? key_offset_in_page(place.offset, place.dim, problem.block_size, x)
                          : value_offset_in_page(place.offset, place.dim, problem.block_size)))
        return place;
  throw std::runtime_error("no element of '" + cache + "' is at byte " + std::to_string(byte));
}

std::vector<const simt::TracedRequest*> requests_of(const TracedStage& run, int warp,
                                                    const std::string& memory,
                                                    simt::AccessKind kind) {
  std::vector<const simt::TracedRequest*> found;
  for (const simt::TracedRequest& request : run.requests)
    if (request.launch == 0 && request.block == 0 && request.warp == warp &&
        request.memory == memory && request.kind == kind)
      found.push_back(&request);
  return found;
}

}  // namespace paged
