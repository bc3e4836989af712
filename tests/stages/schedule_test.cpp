// Stages do not depend on the order in which threads and blocks run: the same bits, and no finding.
#include "tests/harness/case_builder.h"
#include "tests/harness/kernel_under_test.h"
#include "tests/simt/schedule_scope.h"
#include "tests/stages/execution_place.h"

#include <cstring>
#include <limits>

namespace paged {
namespace {

Case small_case() {
  CaseSpec spec;
  spec.name = "three sequences and an empty one";
  spec.num_heads = 4;
  spec.num_kv_heads = 2;
  spec.head_size = 64;
  spec.block_size = 16;
  spec.seq_lens = {35, 1, 0, 80};
  spec.partition_size = 32;
  spec.variant = KernelVariant::v2;  // for stage 5; the others have none
  spec.poison.tail = spec.poison.free_blocks = std::numeric_limits<double>::quiet_NaN();
  return build_case(spec);
}

std::string bits_of(const DecodeOutputs& outputs) {
  std::string bits(reinterpret_cast<const char*>(outputs.output.data()),
                   outputs.output.size_in_bytes());
  for (const std::vector<float>* floats : {&outputs.lse, &outputs.maxima, &outputs.sums})
    bits.append(reinterpret_cast<const char*>(floats->data()), floats->size() * sizeof(float));
  return bits;
}

class StageScheduleTest : public ::testing::TestWithParam<int> {};

TEST_P(StageScheduleTest, GivesTheSameBitsUnderEveryScheduleAndNoFinding) {
  const Case c = small_case();
  const std::unique_ptr<Device> device = make_device(Backend::cpu);
  KernelUnderTest kernel(find_stage(std::to_string(GetParam()), Backend::cpu), *device);
  std::string in_order;
  for (const simt::Schedule& schedule : every_schedule(5)) {
    const ScheduleScope scope(schedule);
    const std::string bits = bits_of(kernel.run(c.problem, {.statistics = true}));
    if (in_order.empty()) in_order = bits;
    EXPECT_TRUE(bits == in_order) << simt::describe(schedule);
    for (const std::string& fault : kernel.take_faults())
      ADD_FAILURE() << simt::describe(schedule) << ": " << fault;
  }
}

INSTANTIATE_TEST_SUITE_P(Stages, StageScheduleTest, ::testing::Range(1, 6));

}  // namespace
}  // namespace paged
