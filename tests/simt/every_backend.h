// Runs one test on the CPU machine with and without its checker, and on a GPU where there is one.
#pragma once
#include "kernels/device.h"
#include "tests/simt/device_array.h"
#include "tests/simt/sample_kernels.h"

#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace paged {

/// The process's CPU device, shared by all tests.
Device& cpu_device();

struct BackendCase {
  std::string name;  ///< cpu_checked, cpu_unchecked or cuda
  SampleKernels kernels;
};
/// For failure messages.
inline void PrintTo(const BackendCase& backend, std::ostream* out) { *out << backend.name; }

std::vector<BackendCase> every_backend();
std::string name_of_case(const ::testing::TestParamInfo<BackendCase>& info);

/// A fixture whose tests must leave no finding behind.
class OnEveryBackend : public ::testing::TestWithParam<BackendCase> {
 protected:
  void SetUp() override;
  void TearDown() override;

  bool on_gpu() const { return GetParam().name == "cuda"; }
  const SampleKernels& kernels() const { return GetParam().kernels; }
  Device& device() const { return *device_; }

 private:
  Device* device_ = nullptr;
};

}  // namespace paged
