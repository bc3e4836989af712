// What the CPU machine costs: one (sequence, head) of 1024 tokens through each stage, with every
// memory access watched and without.
#include "kernels/simt/worker_pool.h"
#include "stages/registry.h"
#include "tests/harness/case_builder.h"
#include "tests/harness/kernel_under_test.h"
#include "tests/harness/stage_run.h"

#include <benchmark/benchmark.h>

namespace paged {
namespace {

Case one_head(int head_size) {
  CaseSpec spec;
  spec.name = "one head of 1024 tokens";
  spec.num_heads = spec.num_kv_heads = 1;
  spec.head_size = head_size;
  spec.block_size = 16;
  spec.seq_lens = {1024};
  return build_case(spec);
}

/// Time of a launch on one worker, uploads and downloads left out.
void run_stage(benchmark::State& state, int number, Checking checking, int head_size) {
  const Case c = one_head(head_size);
  const std::unique_ptr<Device> device = make_device(Backend::cpu);
  const Stage& stage = find_stage(std::to_string(number), Backend::cpu, checking);
  KernelUnderTest kernel(stage, *device);
  simt::set_worker_count(1);
  for (auto _ : state) {
    kernel.run(c.problem);
    state.SetIterationTime(kernel.seconds_of_last_run());
  }
  for (const std::string& fault : kernel.take_faults()) state.SkipWithError(fault.c_str());
}

}  // namespace
}  // namespace paged

int main(int argc, char** argv) {
  for (const paged::Stage& stage : paged::stages(paged::Backend::cpu))
    for (const int head_size : {64, 128})
      for (const auto checking : {paged::Checking::checked, paged::Checking::unchecked}) {
        const std::string name = "stage " + std::to_string(stage.number) + "/d" +
                                 std::to_string(head_size) +
                                 (checking == paged::Checking::checked ? "/checked" : "/unchecked");
        benchmark::RegisterBenchmark(name.c_str(), paged::run_stage, stage.number, checking,
                                     head_size)
            ->UseManualTime()
            ->Unit(benchmark::kMillisecond);
      }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
