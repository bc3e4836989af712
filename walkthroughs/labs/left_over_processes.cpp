#include "walkthroughs/labs/left_over_processes.h"

#include <dirent.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace paged::labs {
namespace {

struct OwnProcesses {
  std::mutex mutex;
  std::set<pid_t> all;
};

OwnProcesses& own_processes() {
  static OwnProcesses processes;
  return processes;
}

/// /proc/N/stat: number (name) state parent ... The name may hold anything.
pid_t parent_of(const std::string& process) {
  std::ifstream file("/proc/" + process + "/stat");
  std::string line;
  std::getline(file, line, '\0');
  const std::size_t end_of_name = line.rfind(')');
  if (end_of_name == std::string::npos || end_of_name + 4 > line.size()) return -1;
  return static_cast<pid_t>(std::strtol(line.c_str() + end_of_name + 4, nullptr, 10));
}

std::vector<pid_t> children_of_this_process() {
  std::vector<pid_t> children;
  DIR* const folder = opendir("/proc");
  if (folder == nullptr) return children;
  while (const dirent* entry = readdir(folder)) {
    const std::string name = entry->d_name;
    if (name.find_first_not_of("0123456789") == std::string::npos && parent_of(name) == getpid())
      children.push_back(static_cast<pid_t>(std::strtol(name.c_str(), nullptr, 10)));
  }
  closedir(folder);
  return children;
}

bool has_children() {
  siginfo_t info;
  return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

}  // namespace

pid_t fork_remembered() {
  OwnProcesses& own = own_processes();
  const std::lock_guard lock(own.mutex);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t child = fork();
  if (child > 0) own.all.insert(child);
  return child;
}

void forget_process(pid_t process) {
  OwnProcesses& own = own_processes();
  const std::lock_guard lock(own.mutex);
  own.all.erase(process);
}

void end_left_over_processes() {
  OwnProcesses& own = own_processes();
  const std::lock_guard lock(own.mutex);  // nothing is started meanwhile
  for (int round = 0; round < 1000 && has_children(); ++round) {
    bool found = false;
    for (const pid_t child : children_of_this_process()) {
      if (own.all.contains(child)) continue;
      found = true;
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);  // from here on its own children are ours
    }
    if (!found) return;
  }
}

}  // namespace paged::labs
