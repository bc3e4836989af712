#include "walkthroughs/labs/limited_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
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

void limit(int resource, rlim_t value) {
  if (value == 0) return;
  const rlimit limits{value, value};
  setrlimit(static_cast<__rlimit_resource>(resource), &limits);
}

/// Between fork() and exec(): system calls only.
[[noreturn]] void become(char* const* arguments, char* const* environment,
                         const ProcessLimits& limits,
                         const std::vector<HandedDescriptor>& descriptors) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int nothing = open("/dev/null", O_RDWR);
  for (int descriptor = 0; descriptor < 3; ++descriptor) dup2(nothing, descriptor);
  // First out of the way of the numbers that they get, then to these.
  int moved[8];
  for (std::size_t i = 0; i < descriptors.size(); ++i)
    moved[i] = fcntl(descriptors[i].ours, F_DUPFD_CLOEXEC, 64);
  for (std::size_t i = 0; i < descriptors.size(); ++i) dup2(moved[i], descriptors[i].theirs);
  if (limits.offline) {
    // Refused where a container forbids it; the system-call filter has no sockets anyway.
    [[maybe_unused]] const int refused =
        unshare(geteuid() == 0 ? CLONE_NEWNET : CLONE_NEWUSER | CLONE_NEWNET);
  }
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  limit(RLIMIT_CPU, static_cast<rlim_t>(limits.cpu_seconds));
  limit(RLIMIT_DATA, limits.memory_bytes);
  limit(RLIMIT_FSIZE, limits.file_bytes);
  execvpe(arguments[0], arguments, environment);
  _exit(127);
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

int milliseconds_until(Clock::time_point end) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1 << 30));
}

/// Reads until the other end is closed, for as long as is allowed. False: it took longer.
bool read_all(int descriptor, Clock::time_point end, std::size_t most, std::string& text) {
  char piece[16 * 1024];
  for (;;) {
    pollfd wanted{descriptor, POLLIN, 0};
    const int ready = poll(&wanted, 1, milliseconds_until(end));
    if (ready == 0) return false;
    if (ready < 0 && errno == EINTR) continue;
    const ssize_t count = read(descriptor, piece, sizeof piece);
    if (count <= 0) return true;
    text.append(piece, std::min(static_cast<std::size_t>(count), most - text.size()));
  }
}

}  // namespace

pid_t start_process(const std::vector<std::string>& arguments, const ProcessLimits& limits,
                    const std::vector<HandedDescriptor>& descriptors) {
  std::vector<std::string> words = arguments;
  std::vector<std::string> environment = {variable("PATH", "/usr/bin:/bin"),
                                          variable("TMPDIR", "/tmp"), "LC_ALL=C"};
  const std::vector<char*> word_pointers = pointers_to(words);
  const std::vector<char*> variables = pointers_to(environment);
  if (descriptors.size() > 8) throw std::runtime_error("too many descriptors for a process");
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("cannot start a process for " + arguments.front());
  if (child == 0) become(word_pointers.data(), variables.data(), limits, descriptors);
  setpgid(child, child);  // whichever of both comes first
  return child;
}

int end_process(pid_t process) {
  kill(-process, SIGKILL);
  int status = 0;
  while (waitpid(process, &status, 0) == -1 && errno == EINTR) {
  }
  return status;
}

ProcessOutcome run_limited(const std::vector<std::string>& arguments, const ProcessLimits& limits,
                           double seconds, std::size_t most_output) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("cannot make a pipe");
  const pid_t child = start_process(arguments, limits,
                                    {HandedDescriptor{ends[1], 1}, HandedDescriptor{ends[1], 2}});
  close(ends[1]);
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>(seconds));
  ProcessOutcome outcome;
  outcome.timed_out = !read_all(ends[0], end, most_output, outcome.output);
  close(ends[0]);
  if (outcome.timed_out) {
    outcome.status = end_process(child);
    return outcome;
  }
  // It has closed its output; that it also ends is for the limit on CPU time, or for us.
  for (;;) {
    const pid_t ended = waitpid(child, &outcome.status, WNOHANG);
    if (ended == child || (ended < 0 && errno != EINTR)) return outcome;
    if (Clock::now() > end) break;
    usleep(1000);
  }
  outcome.timed_out = true;
  outcome.status = end_process(child);
  return outcome;
}

}  // namespace paged::labs
