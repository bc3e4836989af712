#include "walkthroughs/labs/limited_process.h"

#include "tests/harness/descriptor.h"
#include "tests/harness/left_over_processes.h"
#include "walkthroughs/labs/system_call_filter.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>

namespace paged::labs {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostDescriptors = 8;
/// Descriptors are moved out of the way of the numbers that they are handed over as.
constexpr int kMoved = 64;

/// What can fail between fork() and exec().
enum class Step : char { descriptors = 1, limits, filter, program };

const char* name_of_step(Step step) {
  switch (step) {
    case Step::descriptors:
      return "its descriptors cannot be handed over";
    case Step::limits:
      return "its limits cannot be set";
    case Step::filter:
      return "the system-call filter cannot be set";
    case Step::program:
      return "is it installed?";
  }
  return "";
}

/// What become() needs, made before fork(): afterwards only system calls are safe.
struct Start {
  char* const* arguments;
  char* const* environment;
  const ProgramLimits& limits;
  const std::vector<HandedDescriptor>& descriptors;
  int nothing;  ///< /dev/null
  int program;  ///< of a filtered process; else -1
  int report;
  pid_t parent;
};

bool hand_over(const Start& start) {
  // Whatever else is open stays here.
  if (syscall(SYS_close_range, 3, ~0U, CLOSE_RANGE_CLOEXEC) != 0)
    for (int descriptor = 3; descriptor < 1024; ++descriptor)
      fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  // First out of the way of the numbers that they get, and of 0 to 2, which may be among ours if
  // they were closed (`paged_lab check DIR <&-`).
  int moved[kMostDescriptors];
  for (std::size_t i = 0; i < start.descriptors.size(); ++i) {
    moved[i] = fcntl(start.descriptors[i].ours, F_DUPFD_CLOEXEC, kMoved);
    if (moved[i] < 0) return false;
  }
  for (int descriptor = 0; descriptor < 3; ++descriptor)
    if (dup2(start.nothing, descriptor) < 0) return false;
  for (std::size_t i = 0; i < start.descriptors.size(); ++i)
    if (dup2(moved[i], start.descriptors[i].theirs) < 0) return false;
  return true;
}

/// Refused where a container forbids it; the system-call filter has no sockets anyway.
void leave_network() {
  [[maybe_unused]] const int refused =
      unshare(geteuid() == 0 ? CLONE_NEWNET : CLONE_NEWUSER | CLONE_NEWNET);
}

/// Does all of it, or returns what cannot be done.
Step become(const Start& start) {
  if (!become_limited_child(start.limits, start.parent)) return Step::limits;
  if (!hand_over(start)) return Step::descriptors;
  if (start.limits.offline) leave_network();
  if (start.limits.filtered) {
    if (!enter_system_call_filter(start.program)) return Step::filter;
    syscall(SYS_execveat, start.program, "", start.arguments, start.environment, AT_EMPTY_PATH);
  } else {
    execvpe(start.arguments[0], start.arguments, start.environment);
  }
  return Step::program;
}

/// Between fork() and exec(): system calls only. The report is closed by exec().
[[noreturn]] void become_or_report(const Start& start) {
  const Step failed = become(start);
  [[maybe_unused]] const ssize_t sent = write(start.report, &failed, sizeof failed);
  _exit(126);
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::string variable(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return std::string(name) + "=" + (value == nullptr ? otherwise : value);
}

/// A descriptor with a number above those that are handed over.
Descriptor moved_up(const Descriptor& descriptor) {
  Descriptor moved(fcntl(descriptor.get(), F_DUPFD_CLOEXEC, kMoved));
  if (moved.get() < 0) throw std::runtime_error("too many files are open");
  return moved;
}

int milliseconds_until(Clock::time_point end) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1 << 30));
}

/// Reads until the other end is closed, for as long as is allowed: then it timed out.
void read_all(int descriptor, Clock::time_point end, std::size_t most, ProcessOutcome& outcome) {
  char piece[16 * 1024];
  for (;;) {
    pollfd wanted{descriptor, POLLIN, 0};
    const int left = milliseconds_until(end);  // who always has more to say gets no more time
    const int ready = left == 0 ? 0 : poll(&wanted, 1, left);
    outcome.timed_out = ready == 0;
    if (outcome.timed_out) return;
    if (ready < 0 && errno == EINTR) continue;
    const ssize_t count = read(descriptor, piece, sizeof piece);
    if (count <= 0) return;
    const std::size_t kept =
        std::min(static_cast<std::size_t>(count), most - outcome.output.size());
    outcome.output.append(piece, kept);
    outcome.cut = outcome.cut || kept < static_cast<std::size_t>(count);
  }
}

}  // namespace

pid_t start_process(const std::vector<std::string>& arguments, const ProgramLimits& limits,
                    const std::vector<HandedDescriptor>& descriptors) {
  std::vector<std::string> words = arguments;
  std::vector<std::string> environment = {variable("PATH", "/usr/bin:/bin"),
                                          variable("TMPDIR", "/tmp"), "LC_ALL=C"};
  const std::vector<char*> word_pointers = pointers_to(words);
  const std::vector<char*> variables = pointers_to(environment);
  if (descriptors.size() > kMostDescriptors)
    throw std::runtime_error("too many descriptors for a process");
  const Descriptor nothing = moved_up(open_file("/dev/null", O_RDWR));
  Descriptor program;
  if (limits.filtered) program = moved_up(open_file(arguments.front(), O_RDONLY));
  Pipe report = make_pipe();
  report.write_end = moved_up(report.write_end);
  const pid_t parent = getpid();
  const pid_t child = fork_remembered();
  if (child < 0) throw std::runtime_error("cannot start a process for " + arguments.front());
  if (child == 0)
    become_or_report({word_pointers.data(), variables.data(), limits, descriptors, nothing.get(),
                      program.get(), report.write_end.get(), parent});
  setpgid(child, child);  // whichever of both comes first
  report.write_end.reset();
  Step failed{};
  ssize_t count = 0;
  while ((count = read(report.read_end.get(), &failed, sizeof failed)) < 0 && errno == EINTR) {
  }
  if (count == 0) return child;  // exec() has closed it
  end_child(child);
  throw std::runtime_error("cannot run " + arguments.front() + ": " + name_of_step(failed));
}

std::optional<int> wait_for_end(pid_t process, double seconds) {
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>(seconds));
  for (;;) {
    if (has_ended(process)) return end_child(process);
    if (Clock::now() > end) return std::nullopt;
    usleep(1000);
  }
}

ProcessOutcome run_limited(const std::vector<std::string>& arguments, const ProgramLimits& limits,
                           double seconds, std::size_t most_output) {
  Pipe output = make_pipe();
  const pid_t child = start_process(
      arguments, limits,
      {HandedDescriptor{output.write_end.get(), 1}, HandedDescriptor{output.write_end.get(), 2}});
  output.write_end.reset();
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>(seconds));
  ProcessOutcome outcome;
  read_all(output.read_end.get(), end, most_output, outcome);
  // It has closed its output; that it also ends is for the limit on CPU time, or for us.
  const std::chrono::duration<double> left = end - Clock::now();
  const std::optional<int> status =
      outcome.timed_out ? std::nullopt : wait_for_end(child, left.count());
  outcome.timed_out = !status;
  outcome.status = status ? *status : end_child(child);
  return outcome;
}

}  // namespace paged::labs
