// paged mutants: starts the program that has the zoo, which stands beside this one.
#include "tests/paged/commands.h"

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace paged {
namespace {

/// Does not return: the other program's exit status is this one's.
[[noreturn]] void start_zoo(const std::vector<std::string>& arguments) {
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string program = self.parent_path() / "paged_mutants";
  std::vector<char*> argv = {const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execv(program.c_str(), argv.data());
  throw std::runtime_error("cannot start " + program + ": " + std::strerror(errno) +
                           "; the zoo is built by bash tests/run.sh, or by cmake --build " +
                           self.parent_path().parent_path().string() + " --target paged_mutants");
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
