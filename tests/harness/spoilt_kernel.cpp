#include "tests/harness/spoilt_kernel.h"

#include "reference/cache_layout.h"
#include "stages/registry.h"

namespace paged {
namespace {

const Stage& right_stage() { return stages(Backend::cpu).back(); }

using RunFunction = void (*)(const paged_decode_args& args);

SpoiltKernel spoilt(std::string invariant, std::string mistake, RunFunction run) {
  SpoiltKernel kernel{std::move(invariant), std::move(mistake), right_stage()};
  kernel.stage.run = run;
  return kernel;
}

/// Runs the right stage with arguments that `edit` has changed.
template <auto edit>
void run_edited(const paged_decode_args& args) {
  paged_decode_args edited = args;
  edit(edited);
  right_stage().run(edited);
}

}  // namespace

const std::vector<SpoiltKernel>& spoilt_kernels() {
  using Args = paged_decode_args;
  static const std::vector<SpoiltKernel> all = {
      spoilt("reference", "the logits are not multiplied by scale",
             run_edited<[](Args& a) { a.scale = 1; }>),
      spoilt("single-token", "all query heads take the values of KV head 0",
             run_edited<[](Args& a) { a.value_head_stride = 0; }>),
      spoilt("head-isolation", "all query heads take the keys of KV head 0",
             run_edited<[](Args& a) { a.key_head_stride = 0; }>),
      spoilt("table-padding",
             "rows of the table are taken to be as wide as the longest sequence needs",
             run_edited<[](Args& a) {
               a.max_num_blocks_per_seq = num_pages(a.max_seq_len, a.block_size);
             }>),
      spoilt("batch-independence", "all sequences take the query of sequence 0",
             run_edited<[](Args& a) { a.query_stride = 0; }>),
      spoilt("writes-only-output", "the LSE is never written",
             run_edited<[](Args& a) { a.lse = nullptr; }>),
      spoilt("alibi", "the slopes are left out",
             run_edited<[](Args& a) { a.alibi_slopes = nullptr; }>),
      spoilt("block-sparse", "all pages take part",
             run_edited<[](Args& a) { a.sparse_vert_stride = 1; }>),
      spoilt("fp8-scale", "values are multiplied by k_scale",
             run_edited<[](Args& a) { a.v_scale = a.k_scale; }>),
      spoilt("in-bounds", "blocks of keys are taken to be twice as large as they are",
             run_edited<[](Args& a) { a.key_block_stride *= 2; }>),
  };
  return all;
}

}  // namespace paged
