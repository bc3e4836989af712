// Work that may crash, hang or exit, in a process of its own.
#pragma once
#include "tests/harness/host_device.h"

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace paged {

/// What a process tells its parent: fields of any bytes.
using Message = std::vector<std::string>;

/// What work in a process of its own may take.
struct ProcessLimits {
  double seconds_per_call = 10;
  std::size_t data_bytes = 0;  ///< of its own, beyond what it starts with; 0: no limit
};

/// How a process ended before it was done.
struct ProcessEnd {
  std::string text;   ///< "crashed with SIGSEGV (Segmentation fault): it read ..."
  bool hung = false;  ///< it was ended for taking too long
  bool bad_access = false;
};

/// The child's end of the line.
class ParentLine {
 public:
  void send(const Message& message);
  /// The time limit holds between these two.
  void call_begins();
  void call_ends();
  /// Says later what a refused access was near to. The device must live as long as the process.
  void locate_faults_on(const HostDevice& device);

 private:
  friend class IsolatedProcess;
  struct Shared;
  ParentLine(int pipe, Shared* shared) : pipe_(pipe), shared_(shared) {}
  int pipe_;
  Shared* shared_;
};

/// A child that runs some work, with what this process has in memory, and sends messages. What it
/// prints goes nowhere, except that the last line is remembered. It is ended, with all that it
/// started, when this object is, and with this process.
///
/// The work must not have been begun here: CUDA, once initialised, is lost in a child, and so are
/// threads.
class IsolatedProcess {
 public:
  IsolatedProcess(const ProcessLimits& limits, const std::function<void(ParentLine& line)>& work);
  ~IsolatedProcess();
  IsolatedProcess(const IsolatedProcess&) = delete;
  IsolatedProcess& operator=(const IsolatedProcess&) = delete;

  /// The next message, or nothing when the process has ended: then end() says how.
  std::optional<Message> receive();
  /// Nothing if it came to the end of its work.
  const std::optional<ProcessEnd>& end() const { return end_; }

 private:
  bool wait_for_bytes();  ///< false when there are no more
  void drain_output();
  void kill_and_reap();
  void judge(int status);
  bool is_too_late() const;

  ProcessLimits limits_;
  ParentLine::Shared* shared_;
  pid_t child_ = -1;
  int messages_ = -1;  ///< read ends of its pipes
  int output_ = -1;
  std::string buffered_;  ///< bytes of messages that are not complete yet
  std::string printed_;   ///< the last bytes that it printed
  bool reaped_ = false;
  bool finished_ = false;
  bool hung_ = false;
  std::optional<ProcessEnd> end_;
};

}  // namespace paged
