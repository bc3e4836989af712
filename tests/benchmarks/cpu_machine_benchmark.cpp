// What the CPU machine costs: one (sequence, head) of 1024 tokens through each stage, with every
// memory access watched and without.
#include "stages/registry.h"
#include "tests/harness/case_builder.h"
#include "tests/harness/kernel_under_test.h"
#include "tests/harness/stage_run.h"

#include <benchmark/benchmark.h>

namespace paged {
namespace {

constexpr int kHeads = 16;

Case sixteen_heads(int head_size) {
  CaseSpec spec;
  spec.name = "16 heads of 1024 tokens";
  spec.num_heads = spec.num_kv_heads = kHeads;
  spec.head_size = head_size;
  spec.block_size = 16;
  spec.seq_lens = {1024};
  return build_case(spec);
}

/// Time per head of a launch on all cores, uploads and downloads left out.
void run_stage(benchmark::State& state, int number, Checking checking, int head_size) {
  const Case c = sixteen_heads(head_size);
  const std::unique_ptr<Device> device = make_device(Backend::cpu);
  const Stage& stage = find_stage(std::to_string(number), Backend::cpu, checking);
  KernelUnderTest kernel(stage, *device);
  for (auto _ : state) {
    kernel.run(c.problem);
    state.SetIterationTime(kernel.seconds_of_last_run() / kHeads);
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
