// The CPU machine as a device.
#include "kernels/device.h"
#include "kernels/simt/counting.h"
#include "kernels/simt/device_memory.h"
#include "kernels/simt/finding_log.h"
#include "kernels/simt/launch_limits.h"
#include "kernels/simt/schedule.h"
#include "kernels/simt/worker_pool.h"

#include <atomic>

namespace paged {
namespace {

std::atomic<bool> exists = false;

class CpuDevice : public Device {
 public:
  CpuDevice() {
    if (exists.exchange(true)) throw DeviceError("this process has a CPU device already");
    simt::finding_log().take();  // of launches without a device
    simt::count_log().take();
  }
  ~CpuDevice() override {
    simt::count_log().switch_counting(false);
    exists = false;
  }

  Backend backend() const override { return Backend::cpu; }
  const DeviceLimits& limits() const override { return simt::cpu_device_limits(); }

  void* allocate(std::size_t bytes, const std::string& name) override {
    return simt::device_memory().allocate(bytes, name);
  }
  void release(void* memory) override { simt::device_memory().release(memory); }
  void upload(void* device, const void* host, std::size_t bytes) override {
    simt::device_memory().upload(device, host, bytes);
  }
  void download(void* host, const void* device, std::size_t bytes) override {
    const auto unwritten = simt::device_memory().download(host, device, bytes);
    // After a stopped launch an incomplete output is no news.
    if (unwritten.bytes == 0 || simt::finding_log().holds_stopped_launch()) return;
    simt::RecordedFinding finding{
        FindingKind::unwritten_output, simt::latest_kernel(), simt::CodePlace(),
        std::to_string(unwritten.bytes) + " of the " + std::to_string(bytes) +
            " bytes downloaded from '" + unwritten.allocation +
            "' were never written, the first at byte " + std::to_string(unwritten.first)};
    finding.schedule = simt::current_schedule();
    simt::finding_log().add({finding}, false);
  }

  void forget(void* device, std::size_t bytes) override {
    simt::device_memory().forget(device, bytes);
  }

  void finish() override {}  // launches are synchronous
  std::vector<Finding> take_findings() override { return simt::finding_log().take(); }

  void switch_counting(bool on) override { simt::count_log().switch_counting(on); }
  LaunchCounts take_counts() override { return simt::count_log().take(); }
};

}  // namespace

std::unique_ptr<Device> make_cpu_device() { return std::make_unique<CpuDevice>(); }

}  // namespace paged
