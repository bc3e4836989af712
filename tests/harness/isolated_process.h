// Work that may crash, hang or exit, in a process of its own.
#pragma once
#include "tests/harness/descriptor.h"

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace paged {

class HostDevice;

/// What a process tells its parent: fields of any bytes.
using Message = std::vector<std::string>;

/// What work in a process of its own may take.
struct CallLimits {
  double seconds_per_call = 10;
  std::size_t data_bytes = 0;  ///< of its own, beyond what it starts with; 0: no limit
};

/// What a message may be. It is held against this before anybody takes it apart, since whatever is
/// in the process can write to the line. What makes sense is believed: that is a wall against
/// mistakes, not against deceit.
struct MessageRule {
  std::size_t most_fields = 64;
  std::size_t most_bytes = std::size_t{1} << 20;  ///< of all fields together
  /// "" for a message that makes sense, else what does not. The end of the work is a message
  /// without fields. Unset: every message does.
  std::function<std::string(const Message&)> complaint = {};
};

/// How a process ended before it was done.
struct ProcessEnd {
  std::string text;   ///< "crashed with SIGSEGV (Segmentation fault): it read ..."
  bool hung = false;  ///< it was ended for taking too long
  bool bad_access = false;
  /// The call's buffer outside of which the access was; "" if it is not known.
  std::string buffer = {};
  std::size_t buffer_bytes = 0;
  std::int64_t bytes_past = 0;    ///< its end; less than 0: before its start
  std::string last_printed = {};  ///< the last line that it printed

  /// All of it, with what the caller adds to the first part.
  std::string whole_text(const std::string& more = "") const {
    return text + more +
           (last_printed.empty() ? "" : "; the last line that it printed: " + last_printed);
  }
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
  static Shared* share();
  static void unshare(Shared* shared);
  ParentLine(int pipe, Shared* shared) : pipe_(pipe), shared_(shared) {}
  int pipe_;
  Shared* shared_;
};

/// A child that runs some work, with what this process has in memory, and sends messages. What it
/// prints goes nowhere, except that the last line is remembered. It is ended, with all that it
/// started, when this object is, and with this process. What it started in a session of its own is
/// ended with it, too, as far as end_left_over_processes() can.
///
/// The work must not have been begun here: CUDA, once initialised, is lost in a child, and so are
/// threads.
class IsolatedProcess {
 public:
  IsolatedProcess(const CallLimits& limits, const std::function<void(ParentLine& line)>& work);
  ~IsolatedProcess();
  IsolatedProcess(const IsolatedProcess&) = delete;
  IsolatedProcess& operator=(const IsolatedProcess&) = delete;

  /// The next message, or nothing when the process has ended: then end() says how. A message
  /// against the rule ends it.
  std::optional<Message> receive(const MessageRule& rule = {});
  /// Nothing if it came to the end of its work.
  const std::optional<ProcessEnd>& end() const { return end_; }

 private:
  bool wait_for_bytes();  ///< false when there are no more
  void drain_output();
  void kill_and_reap();
  void judge(int status);
  bool is_too_late() const;

  CallLimits limits_;
  std::unique_ptr<ParentLine::Shared, void (*)(ParentLine::Shared*)> shared_;
  pid_t child_ = -1;
  Descriptor messages_;  ///< read ends of its pipes
  Descriptor output_;
  std::string buffered_;  ///< bytes of messages that are not complete yet
  std::string printed_;   ///< the last bytes that it printed
  std::string garbled_;   ///< what was wrong with its last message
  bool reaped_ = false;
  bool finished_ = false;
  bool hung_ = false;
  bool left_line_ = false;  ///< it closed its end and lived on
  std::optional<ProcessEnd> end_;
};

}  // namespace paged
