#include "tests/harness/left_over_processes.h"

#include <dirent.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace paged {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kLongestEnding{2};

struct OwnProcesses {
  std::mutex mutex;
  bool any_remembered = false;
  std::set<pid_t> all;
};

OwnProcesses& own_processes() {
  static OwnProcesses processes;
  return processes;
}

/// Names in a folder that are numbers: processes in /proc, threads in /proc/N/task.
std::vector<std::string> numbers_in(const std::string& path) {
  std::vector<std::string> numbers;
  DIR* const folder = opendir(path.c_str());
  if (folder == nullptr) return numbers;
  while (const dirent* entry = readdir(folder)) {
    const std::string name = entry->d_name;
    if (name.find_first_not_of("0123456789") == std::string::npos) numbers.push_back(name);
  }
  closedir(folder);
  return numbers;
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

/// This process's children but for `own`, as the system lists them. That is quick, but needs
/// CONFIG_PROC_CHILDREN, and one may be missing while others end.
std::vector<pid_t> listed_children(const std::set<pid_t>& own) {
  std::vector<pid_t> children;
  for (const std::string& thread : numbers_in("/proc/self/task")) {
    std::ifstream file("/proc/self/task/" + thread + "/children");
    for (pid_t child = 0; file >> child;)
      if (!own.contains(child)) children.push_back(child);
  }
  return children;
}

/// The same, found among all processes that there are.
std::vector<pid_t> searched_children(const std::set<pid_t>& own) {
  std::vector<pid_t> children;
  for (const std::string& process : numbers_in("/proc")) {
    const auto child = static_cast<pid_t>(std::strtol(process.c_str(), nullptr, 10));
    if (parent_of(process) == getpid() && !own.contains(child)) children.push_back(child);
  }
  return children;
}

bool has_children() {
  siginfo_t info;
  return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/// Ends children that were not waited for, so that their numbers are their own. In a session that
/// is not ours, all of their group: they were started by what was left behind, and a group cannot
/// outrun the signal by starting more.
void end_with_groups(const std::vector<pid_t>& children) {
  std::set<pid_t> groups;
  for (const pid_t child : children) {
    const pid_t group = getpgid(child);
    const pid_t session = getsid(child);
    // Each group once: thousands that have ended and were not waited for may be in it.
    if (group > 1 && session > 0 && session != getsid(0) && groups.insert(group).second)
      kill(-group, SIGKILL);
    kill(child, SIGKILL);
  }
}

/// Waits for a child that was ended, but not for ever: one that waits for a disk does not end.
void wait_for(pid_t child, Clock::time_point end) {
  while (waitpid(child, nullptr, WNOHANG) == 0 && Clock::now() < end) usleep(50);
}

}  // namespace

pid_t fork_remembered() {
  OwnProcesses& own = own_processes();
  const std::lock_guard lock(own.mutex);
  if (!own.any_remembered)
    for (const pid_t child : searched_children({})) own.all.insert(child);
  own.any_remembered = true;
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
  const Clock::time_point end = Clock::now() + kLongestEnding;
  while (has_children() && Clock::now() < end) {
    std::vector<pid_t> found = listed_children(own.all);
    if (found.empty()) found = searched_children(own.all);
    if (found.empty()) return;
    end_with_groups(found);
    for (const pid_t child : found) wait_for(child, end);  // then its own children are ours
  }
}

}  // namespace paged
