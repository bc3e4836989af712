// The stages as tests of this folder run them: each stage alone, and stage 5 once for each of its
// kernels.
#pragma once
#include "tests/stages/execution_place.h"

#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace paged {

/// A stage on a backend and, where it has two kernels, which of them.
struct StageKernel {
  Backend backend;
  int number;
  KernelVariant variant = KernelVariant::automatic;
  int partition_size = 512;
};

/// "cuda_stage_5_v2_P16"
inline std::string name_of(const StageKernel& kernel) {
  std::string name =
      std::string(name_of(kernel.backend)) + "_stage_" + std::to_string(kernel.number);
  if (kernel.variant == KernelVariant::v1) name += "_v1";
  if (kernel.variant == KernelVariant::v2) name += "_v2_P" + std::to_string(kernel.partition_size);
  return name;
}
inline void PrintTo(const StageKernel& kernel, std::ostream* stream) { *stream << name_of(kernel); }

/// Every stage on the CPU machine with its checker, and on CUDA. V2 also in partitions of 32
/// tokens, which short sequences fill several of.
inline std::vector<StageKernel> every_stage_kernel() {
  std::vector<StageKernel> all;
  for (const Backend backend : {Backend::cpu, Backend::cuda})
    for (const Stage& stage : stages(Backend::cpu)) {
      if (stage.number != 5) {
        all.push_back({backend, stage.number});
        continue;
      }
      all.push_back({backend, stage.number, KernelVariant::v1});
      all.push_back({backend, stage.number, KernelVariant::v2});
      all.push_back({backend, stage.number, KernelVariant::v2, 32});
    }
  return all;
}

/// Owns the device and the stage on it; skips where there is none. After each test, fails it for
/// everything that went wrong besides a result.
class StageKernelTest : public ::testing::TestWithParam<StageKernel> {
 protected:
  void SetUp() override {
    const std::string reason = why_no_device({GetParam().backend, Checking::checked});
    if (!reason.empty()) GTEST_SKIP() << "no GPU: " << reason;
    device_ = make_device(GetParam().backend);
    kernel_ = std::make_unique<KernelUnderTest>(
        find_stage(std::to_string(GetParam().number), GetParam().backend), *device_);
  }
  void TearDown() override {
    if (kernel_ == nullptr) return;
    for (const std::string& fault : kernel_->take_faults()) ADD_FAILURE() << fault;
  }

  const Stage& stage() const { return kernel_->stage(); }

  /// The case, for this test's kernel.
  DecodeProblem build(CaseSpec spec) const {
    spec.variant = GetParam().variant;
    spec.partition_size = GetParam().partition_size;
    return build_case(spec).problem;
  }
  DecodeOutputs run(const DecodeProblem& problem, const RunOptions& options = {}) {
    return kernel_->run(problem, options);
  }
  /// Output, LSE and logits against the reference; "" or what is wrong.
  std::string difference_from_reference(const DecodeProblem& problem) {
    const DecodeOutputs outputs = run(problem, RunOptions::with_intermediates());
    return compare(problem, outputs, reference_answer(problem, stage().arithmetic)).message;
  }

  std::unique_ptr<Device> device_;
  std::unique_ptr<KernelUnderTest> kernel_;
};

}  // namespace paged
