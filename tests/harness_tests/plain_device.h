// Ordinary host memory as a device, for implementations that are plain C++.
#pragma once
#include "kernels/device.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace paged::testing {

/// Memory and nothing else. Like a GPU it watches no access, so that a wrong result must show in
/// the output or in the guard zones that the harness puts round buffers of a GPU. An access outside
/// the caches or the table is the exception: implementations report it themselves, as the CPU
/// machine would.
class PlainDevice : public Device {
 public:
  PlainDevice() { limits_ = {"plain host memory", 232448}; }

  Backend backend() const override { return Backend::cuda; }
  const DeviceLimits& limits() const override { return limits_; }

  void* allocate(std::size_t bytes, const std::string& name) override;
  void release(void* memory) override;
  void upload(void* device, const void* host, std::size_t bytes) override;
  void download(void* host, const void* device, std::size_t bytes) override;
  void forget(void*, std::size_t) override {}
  void finish() override {}
  std::vector<Finding> take_findings() override { return std::exchange(findings_, {}); }

  /// Adds a finding to those of the only device there is.
  static void report_read_outside(const char* what);

 private:
  DeviceLimits limits_;
  static inline std::vector<Finding> findings_;
};

}  // namespace paged::testing
