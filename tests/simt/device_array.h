// An array in device memory, of a type.
#pragma once
#include "kernels/device.h"

#include <string>
#include <vector>

namespace paged {

/// An array in device memory.
template <typename T>
class DeviceArray {
 public:
  DeviceArray(Device& device, std::size_t count, const std::string& name)
      : device_(device), count_(count), buffer_(device, count * sizeof(T), name) {}
  DeviceArray(Device& device, const std::vector<T>& values, const std::string& name)
      : DeviceArray(device, values.size(), name) {
    device.upload(data(), values.data(), count_ * sizeof(T));
  }

  T* data() const { return static_cast<T*>(buffer_.data()); }
  std::vector<T> to_host() const {
    std::vector<T> values(count_);
    device_.download(values.data(), data(), count_ * sizeof(T));
    return values;
  }

 private:
  Device& device_;
  std::size_t count_;
  DeviceBuffer buffer_;
};

}  // namespace paged
