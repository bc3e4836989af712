// paged mutants: starts the program that has the zoo, which stands beside this one; builds it first
// if it is not there.
#include "tests/harness/descriptor.h"
#include "tests/harness/shell_word.h"
#include "tests/mutants/hunt_options.h"
#include "tests/paged/commands.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace paged {
namespace {

namespace fs = std::filesystem;

/// Never returns unless the program cannot be started.
void become(const std::vector<std::string>& words) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  execvp(argv.front(), argv.data());
}

/// What CMake says goes to standard error: standard output is for results.
bool run_to_standard_error(const std::vector<std::string>& words) {
  const pid_t child = fork();
  if (child < 0) return false;
  if (child == 0) {
    dup2(STDERR_FILENO, STDOUT_FILENO);
    become(words);
    _exit(127);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return false;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// Every build takes this lock (tests/set_up.sh): two at once in one folder spoil each other's. It
/// is held until the descriptor is closed.
Descriptor lock_of(const fs::path& build) {
  const std::string file = build / "lock";
  Descriptor lock(open(file.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666));
  if (lock.get() < 0)
    throw std::runtime_error("cannot open " + file +
                             ", which each build takes for itself: " + std::strerror(errno));
  if (flock(lock.get(), LOCK_EX | LOCK_NB) == 0) return lock;
  std::cerr << "Another build is under way in " << build.string() << "; waiting for it"
            << std::endl;
  while (flock(lock.get(), LOCK_EX) != 0)
    if (errno != EINTR)
      throw std::runtime_error("cannot lock " + file + ": " + std::strerror(errno));
  return lock;
}

/// `paged` is built without the zoo, so that a tour need not wait for it.
void build_zoo(const fs::path& build, const std::string& program) {
  const std::string command =
      "cmake --build " + shell_word(build.string()) + " --target paged_mutants";
  if (!fs::exists(build / "CMakeCache.txt"))
    throw std::runtime_error("there is no " + program + ", and " + build.string() +
                             " is no build folder that it could be built in");
  const Descriptor lock = lock_of(build);
  if (fs::exists(program)) return;  // the other build has made it
  std::cerr << "Building the zoo, once, which takes some minutes: " << command << std::endl;
  const unsigned jobs = std::max(std::thread::hardware_concurrency(), 1U);
  if (!run_to_standard_error({"cmake", "--build", build.string(), "--target", "paged_mutants", "-j",
                              std::to_string(jobs)}))
    throw std::runtime_error(
        "the zoo could not be built; what failed stands above, and this tries "
        "it again: " +
        command);
}

/// Does not return if the zoo was started: the other program's exit status is this one's. Nobody
/// waits for a build to be shown the options, or that one is wrong.
void start_zoo(const std::vector<std::string>& arguments) {
  const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
  const std::string program = folder / "paged_mutants";
  if (!fs::exists(program)) {
    if (!parse_hunt_options(arguments)) return;
    build_zoo(folder.parent_path(), program);
  }
  std::vector<std::string> words = {program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  become(words);
  throw std::runtime_error("cannot start " + program + ": " + std::strerror(errno));
}

}  // namespace

void add_mutants_command(CLI::App& program) {
  auto* command = program.add_subcommand(
      "mutants", "Try the harness, and others' recipes, on kernels broken on purpose");
  // All options are the other program's, --help among them.
  command->set_help_flag();
  command->prefix_command();
  command->callback([command] { start_zoo(command->remaining()); });
}

}  // namespace paged
