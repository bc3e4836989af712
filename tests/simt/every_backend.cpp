#include "tests/simt/every_backend.h"

namespace paged {

Device& cpu_device() {
  static const std::unique_ptr<Device> device = make_cpu_device();
  return *device;
}

namespace {

Device& gpu_device() {
  static const std::unique_ptr<Device> device = make_cuda_device();
  return *device;
}

}  // namespace

std::vector<BackendCase> every_backend() {
  return {{"cpu_checked", cpu_checked::sample_kernels()},
          {"cpu_unchecked", cpu_unchecked::sample_kernels()},
          {"cuda", cuda::sample_kernels()}};
}

std::string name_of_case(const ::testing::TestParamInfo<BackendCase>& info) {
  return info.param.name;
}

void OnEveryBackend::SetUp() {
  if (on_gpu())
    if (const std::string why = why_no_cuda_device(); !why.empty()) GTEST_SKIP() << why;
  device_ = on_gpu() ? &gpu_device() : &cpu_device();
}

void OnEveryBackend::TearDown() {
  if (device_ == nullptr) return;
  device_->finish();
  for (const Finding& finding : device_->take_findings()) ADD_FAILURE() << to_string(finding);
}

}  // namespace paged
