#include "tests/paged_tests/child_process.h"

#include "tests/harness_tests/temporary_folder.h"

#include <fcntl.h>
#include <pty.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>

namespace paged::testing {
namespace {

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// The test's environment with names replaced or added. NO_COLOR is taken out unless it is asked
/// for.
std::vector<std::string> environment_with(const std::vector<std::string>& added) {
  std::vector<std::string> all = added;
  const auto name_of = [](const std::string& variable) {
    return variable.substr(0, variable.find('='));
  };
  for (char** variable = environ; *variable != nullptr; ++variable) {
    bool replaced = name_of(*variable) == "NO_COLOR";
    for (const std::string& one : added) replaced = replaced || name_of(one) == name_of(*variable);
    if (!replaced) all.emplace_back(*variable);
  }
  return all;
}

pid_t spawn(const posix_spawn_file_actions_t& actions, std::vector<std::string> arguments,
            const std::vector<std::string>& added) {
  arguments.insert(arguments.begin(), PAGED_TOOL);
  std::vector<std::string> environment = environment_with(added);
  pid_t child = 0;
  const int error = posix_spawn(&child, PAGED_TOOL, &actions, nullptr,
                                pointers_to(arguments).data(), pointers_to(environment).data());
  if (error != 0) throw std::runtime_error(std::string("cannot start ") + PAGED_TOOL);
  return child;
}

/// A limit of this process, and so of children that start meanwhile; 0 changes nothing. Nothing may
/// be written in between.
class Limit {
 public:
  Limit(int resource, std::size_t bytes) : resource_(resource) {
    getrlimit(static_cast<__rlimit_resource>(resource_), &before_);
    rlimit limited = before_;
    if (bytes > 0) limited.rlim_cur = bytes;
    setrlimit(static_cast<__rlimit_resource>(resource_), &limited);
  }
  ~Limit() { setrlimit(static_cast<__rlimit_resource>(resource_), &before_); }
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;

 private:
  int resource_;
  rlimit before_{};
};

int exit_status_of(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) == -1 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

ProcessResult run_into_files(const std::vector<std::string>& arguments,
                             const std::vector<std::string>& environment, bool full,
                             const ProcessLimits& limits = {}) {
  const TemporaryFolder folder;
  const std::string out = full ? "/dev/full" : (folder / "out").string();
  const std::string err = (folder / "err").string();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addopen(&actions, 2, err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const pid_t child = [&] {
    const Limit file_size(RLIMIT_FSIZE, limits.file_bytes);
    const Limit memory(RLIMIT_DATA, limits.memory_bytes);
    return spawn(actions, arguments, environment);
  }();
  posix_spawn_file_actions_destroy(&actions);
  const int status = exit_status_of(child);
  return {status, full ? "" : content_of(out), content_of(err)};
}

ProcessResult run_on_terminal(const std::vector<std::string>& arguments,
                              const std::vector<std::string>& environment) {
  int master = -1;
  int slave = -1;
  const winsize size{.ws_row = 50, .ws_col = kTerminalColumns, .ws_xpixel = 0, .ws_ypixel = 0};
  if (openpty(&master, &slave, nullptr, nullptr, &size) != 0)
    throw std::runtime_error("cannot open a pseudo-terminal");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, slave, 1);
  posix_spawn_file_actions_adddup2(&actions, slave, 2);
  posix_spawn_file_actions_addclose(&actions, master);
  const pid_t child = spawn(actions, arguments, environment);
  posix_spawn_file_actions_destroy(&actions);
  close(slave);
  std::string shown;
  char piece[4096];
  // Reading fails when the last user of the other end is gone.
  for (ssize_t n = 0; (n = read(master, piece, sizeof piece)) > 0;)
    shown.append(piece, static_cast<std::size_t>(n));
  close(master);
  return {exit_status_of(child), shown, ""};
}

}  // namespace

ProcessResult run_paged(const std::vector<std::string>& arguments,
                        const std::vector<std::string>& environment, OutputKind output) {
  return output == OutputKind::terminal
             ? run_on_terminal(arguments, environment)
             : run_into_files(arguments, environment, output == OutputKind::full_device);
}

ProcessResult run_paged_limited(const std::vector<std::string>& arguments,
                                const ProcessLimits& limits) {
  return run_into_files(arguments, {}, false, limits);
}

}  // namespace paged::testing
