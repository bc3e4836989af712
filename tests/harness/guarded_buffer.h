// Device memory that notices writes beside it.
#pragma once
#include "kernels/device.h"

#include <cstdint>
#include <string>
#include <vector>

namespace paged {

/// A device buffer between two guard zones of known bytes. The CPU machine checks every access
/// against the exact allocation, so there the zones are empty.
class GuardedBuffer {
 public:
  GuardedBuffer(Device& device, std::size_t bytes, const std::string& name);

  void* data() const { return static_cast<std::byte*>(buffer_.data()) + guard_; }
  void upload(const void* host) { device_->upload(data(), host, bytes_); }
  void download(void* host) const { device_->download(host, data(), bytes_); }
  void fill(std::uint8_t byte);

  /// "" or what was written where.
  std::string damage() const;
  /// Whether the content differs from `host`.
  bool differs_from(const void* host) const;

 private:
  Device* device_;
  std::string name_;
  std::size_t bytes_;
  std::size_t guard_;
  DeviceBuffer buffer_;
};

}  // namespace paged
