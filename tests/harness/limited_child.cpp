#include "tests/harness/limited_child.h"

#include "tests/harness/left_over_processes.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace paged {
namespace {

bool set_limit(int resource, rlim_t value) {
  const rlimit limit{value, value};
  return setrlimit(static_cast<__rlimit_resource>(resource), &limit) == 0;
}

bool set_limit_if_any(int resource, std::size_t value) {
  return value == 0 || set_limit(resource, value);
}

}  // namespace

bool become_limited_child(const ProcessLimits& limits, pid_t parent) {
  setpgid(0, 0);  // so that all that it starts can be ended with it
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return false;
  if (getppid() != parent) _exit(126);
  return set_limit(RLIMIT_CORE, 0) &&
         set_limit_if_any(RLIMIT_CPU, static_cast<std::size_t>(limits.cpu_seconds)) &&
         set_limit_if_any(RLIMIT_DATA, limits.memory_bytes) &&
         set_limit_if_any(RLIMIT_FSIZE, limits.file_bytes);
}

bool has_ended(pid_t child) {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == child;
}

int end_child(pid_t child) {
  kill(-child, SIGKILL);
  kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) == -1 && errno == EINTR) {
  }
  forget_process(child);
  end_left_over_processes();
  return status;
}

}  // namespace paged
