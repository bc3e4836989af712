// A submission's kernel in a process of its own, as a device that the harness can use.
#pragma once
#include "kernels/device.h"
#include "stages/stage.h"
#include "tests/harness/descriptor.h"
#include "walkthroughs/labs/channel.h"
#include "walkthroughs/labs/limited_process.h"

#include <chrono>
#include <filesystem>
#include <string>

namespace paged::labs {

/// The process has ended, hangs, or answers nonsense: nothing more can be tried. One line says why.
class SubmissionEnded : public std::runtime_error {
 public:
  enum class How { endless, crash };
  SubmissionEnded(const std::string& message, How how)
      : std::runtime_error(message), is_endless(how == How::endless) {}
  bool is_endless;  ///< it met a limit on time, and has not ended by itself
};

/// What it may use beside ProgramLimits.
struct RemoteLimits {
  ProgramLimits process;
  double seconds = 120;         ///< from its start to its end
  double seconds_per_run = 10;  ///< of the kernel
};

/// Memory and launches are in the other process. All that comes from there is taken for what it may
/// be: output tensors, findings and counts of code that nobody trusts. What is expected of them
/// never leaves this process.
class RemoteDevice : public Device {
 public:
  /// @param program  linked with a submission (submission_build.h)
  /// @param printed  file that gets what the kernel prints
  RemoteDevice(Backend backend, const std::filesystem::path& program,
               const std::filesystem::path& printed, const RemoteLimits& limits);
  ~RemoteDevice() override;
  RemoteDevice(const RemoteDevice&) = delete;
  RemoteDevice& operator=(const RemoteDevice&) = delete;

  Backend backend() const override { return backend_; }
  const DeviceLimits& limits() const override { return device_limits_; }
  /// Whether the system-call filter is on.
  bool is_filtered() const { return limits_.process.filtered; }
  /// Whether what was found depends on more than the sources: the process met a limit on time or
  /// memory, somebody ended it, or lines of its program could not be looked up.
  bool is_by_chance() const { return by_chance_; }

  /// What the kernel has printed so far, as far as it was kept.
  std::uint64_t printed_bytes() const;

  void* allocate(std::size_t bytes, const std::string& name) override;
  void release(void* memory) override;
  void upload(void* device, const void* host, std::size_t bytes) override;
  void download(void* host, const void* device, std::size_t bytes) override;
  void forget(void* device, std::size_t bytes) override;
  void finish() override;
  std::vector<Finding> take_findings() override;
  void switch_counting(bool on) override;
  LaunchCounts take_counts() override;

  /// Runs the kernel so many times, one after the other. Returns the seconds of one run.
  double run(const paged_decode_args& args, unsigned times);

 private:
  template <typename Put, typename Get>
  void ask(Request request, Put put, Get get);
  template <typename Get>
  void await(Get get);
  void ask_for_limits();
  void answer_line_request();
  std::string what_happened(const ChannelError& error);
  std::string how_it_ended(int status) const;

  Backend backend_;
  std::filesystem::path program_;
  std::filesystem::path printed_;
  RemoteLimits limits_;
  std::chrono::steady_clock::time_point end_;
  bool running_kernel_ = false;
  bool by_chance_ = false;
  pid_t process_ = -1;     ///< -1: ended
  int line_requests_ = 0;  ///< since the last request
  Descriptor requests_, answers_;
  std::unique_ptr<Channel> channel_;
  DeviceLimits device_limits_;
};

/// A stage that promises and costs what `stage` does, and whose kernels, these instances, run on
/// `device`. One at a time: a stage's run() is a function, which knows no object.
Stage remote_stage(const Stage& stage, RemoteDevice& device, InstanceList instances);

}  // namespace paged::labs
