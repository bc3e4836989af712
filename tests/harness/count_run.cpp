#include "tests/harness/count_run.h"

#include "tests/harness/text_table.h"

#include <algorithm>
#include <utility>

namespace paged {

namespace {

std::uint64_t loaded_bytes(const Counts& counts) {
  return kSectorBytes * counts.global_load_sectors;
}

std::uint64_t wasted_bytes(const CountedLine& line) {
  return loaded_bytes(line.counts) - line.counts.global_load_useful_bytes;
}

double useful_share(const Counts& counts) {
  return static_cast<double>(counts.global_load_useful_bytes) /
         static_cast<double>(loaded_bytes(counts));
}

}  // namespace

bool CountRun::held() const {
  return faults.empty() && counted.complete && (!predicted || *predicted == counted.phases);
}

CallShape call_shape_of(const DecodeProblem& problem, const RunOptions& options) {
  CallShape call;
  call.shape = problem.shape();
  call.seq_lens = problem.seq_lens;
  call.sparsity = problem.sparsity;
  call.alibi = !problem.alibi_slopes.empty();
  call.lse = true;
  call.maxima = call.sums = options.statistics;
  call.logits = options.logits;
  call.query_stride =
      std::int64_t{problem.num_heads} * problem.head_size + options.layout.query_gap;
  call.logits_stride = call.shape.max_seq_len;
  return call;
}

CountRun count_on_case(KernelUnderTest& kernel, const Case& c, const RunOptions& options) {
  kernel.check_supported(c.problem);
  const Stage& stage = kernel.stage();
  CountRun run;
  run.stage_number = stage.number;
  run.stage = stage.name;
  run.case_name = c.name;
  if (stage.predict != nullptr) {
    const CallShape call = call_shape_of(c.problem, options);
    run.predicted = stage.predict(call);
    run.flops = flops_of(stage, call);
  }
  const CountingScope counting(kernel.device());
  run.outputs = kernel.run(c.problem, options);
  run.counted = kernel.device().take_counts();
  run.faults = kernel.take_faults();
  return run;
}

std::string hint_about_loads(const LaunchCounts& counts) {
  const Counts total = counts.phases.total();
  if (total.global_load_sectors == 0 || useful_share(total) >= 0.5) return "";
  const CountedLine& worst = *std::max_element(
      counts.lines.begin(), counts.lines.end(),
      [](const CountedLine& a, const CountedLine& b) { return wasted_bytes(a) < wasted_bytes(b); });
  return "of the bytes that its global loads move, lanes ask for " +
         percentage(useful_share(total)) + "; most are lost at " + worst.line + " (" +
         name_of(worst.phase) + "), where it is " + percentage(useful_share(worst.counts)) +
         ": paged count shows each line";
}

}  // namespace paged
