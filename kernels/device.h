// Where kernels run and what memory they see: a GPU or the CPU machine behind one interface.
#pragma once
#include "kernels/counts.h"
#include "kernels/finding.h"

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace paged {

enum class Backend { cpu, cuda };

constexpr const char* name_of(Backend backend) { return backend == Backend::cpu ? "cpu" : "cuda"; }

/// What a launch may ask for.
struct DeviceLimits {
  std::string name;
  std::size_t shared_bytes_per_block = 0;  ///< dynamic shared memory, with opt-in
  unsigned max_threads_per_block = 1024;
  unsigned max_grid_x = 2147483647U;
  unsigned max_grid_y = 65535;
  unsigned max_grid_z = 65535;
};

/// A launch or a device call failed: not a wrong result, and not a wrong request.
class DeviceError : public std::runtime_error {
 public:
  explicit DeviceError(const std::string& message) : std::runtime_error(message) {}
};

/// A device: memory, and the stream that stages launch on.
///
/// Fresh memory holds 0xFF in every byte, which is NaN in every element type, so that a read of
/// something unwritten shows; on the CPU machine only up to 256 MiB in one allocation: larger ones
/// hold zeros, and take no memory where nothing is written. All copies are synchronous.
class Device {
 public:
  virtual ~Device() = default;
  virtual Backend backend() const = 0;
  virtual const DeviceLimits& limits() const = 0;
  /// Whether it sees the accesses of checked kernels, as the CPU machine does.
  virtual bool watches_accesses() const { return backend() == Backend::cpu; }

  /// At least `bytes` bytes, 256-byte aligned; name shows up in findings. Throws DeviceError when
  /// memory is short. bytes may be 0.
  virtual void* allocate(std::size_t bytes, const std::string& name) = 0;
  virtual void release(void* memory) = 0;
  virtual void upload(void* device, const void* host, std::size_t bytes) = 0;
  /// On the CPU machine, bytes that nothing wrote are an unwritten_output finding.
  virtual void download(void* host, const void* device, std::size_t bytes) = 0;

  /// Declares that memory holds nothing a kernel may read, without changing it: padding of a block
  /// table, blocks that no sequence owns. On the CPU machine a read of it is an uninitialised_read
  /// finding; a GPU cannot tell.
  virtual void forget(void* device, std::size_t bytes) = 0;

  /// Waits until all launches are done. Throws DeviceError if one failed.
  virtual void finish() = 0;
  /// What checked execution has found since the last call. Always empty on a GPU.
  virtual std::vector<Finding> take_findings() = 0;

  /// From here on launches of checked kernels are counted, or no longer. Only the CPU machine
  /// counts; it starts without.
  virtual void switch_counting(bool /*on*/) {}
  /// What was counted since the last call. It does not depend on the number of workers.
  virtual LaunchCounts take_counts() { return {}; }
};

/// The CPU machine, with the launch limits of an H200. One per process at a time.
std::unique_ptr<Device> make_cpu_device();

/// The first CUDA device. Throws DeviceError when this build has no CUDA or the machine no GPU;
/// the message says which.
std::unique_ptr<Device> make_cuda_device();

/// "" if make_cuda_device() would work, else why not, in one line.
std::string why_no_cuda_device();

/// Owns one allocation on a device.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  DeviceBuffer(Device& device, std::size_t bytes, const std::string& name)
      : device_(&device), memory_(device.allocate(bytes, name)), bytes_(bytes) {}
  DeviceBuffer(DeviceBuffer&& other) noexcept { swap(other); }
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    swap(other);
    return *this;
  }
  ~DeviceBuffer() {
    if (device_ != nullptr) device_->release(memory_);
  }

  void* data() const { return memory_; }
  std::size_t size_in_bytes() const { return bytes_; }

 private:
  void swap(DeviceBuffer& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(memory_, other.memory_);
    std::swap(bytes_, other.bytes_);
  }
  Device* device_ = nullptr;
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace paged
