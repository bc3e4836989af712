// paged: run, check, explain, trace and count paged decode attention. See docs/command_line.md.
#include "kernels/device.h"
#include "reference/input_error.h"
#include "tests/harness/one_line.h"
#include "tests/paged/commands.h"

#include <csignal>
#include <exception>
#include <iostream>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

int complain(const std::string& message, int status) {
  std::cout.flush();
  std::cerr << "paged: " << paged::one_line(message) << '\n';
  return status;
}

/// The status, unless what was said did not arrive.
int finish(int status) {
  std::cout.flush();
  return std::cout ? status : complain("cannot write to standard output", paged::kSomethingFailed);
}

constexpr const char* kNoMemory =
    "there is not enough memory for this request; take fewer or shorter sequences, fewer heads or "
    "fewer blocks";

/// CLI11 complains of a missing sub-command before it looks at the words there are.
void check_command_name(const CLI::App& program, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return;
  std::string names;
  for (const CLI::App* command : program.get_subcommands({})) {
    if (command->get_name() == argv[1]) return;
    names += (names.empty() ? "" : ", ") + command->get_name();
  }
  throw paged::InputError("there is no sub-command '" + std::string(argv[1]) + "'; there are " +
                          names);
}

int help(const CLI::App& program) {
  const std::vector<CLI::App*> commands = program.get_subcommands();
  std::cout << (commands.empty() ? &program : commands.front())->help();
  return finish(paged::kAllHeld);
}

}  // namespace

int main(int argc, char** argv) {
  // Past the limit on the size of files, a write fails and says so, instead of ending the process.
  std::signal(SIGXFSZ, SIG_IGN);
  CLI::App program(
      "Paged decode attention: run stages, check what they promise, explain it, trace addresses, "
      "count transactions.");
  program.name("paged");
  program.require_subcommand(1);
  program.footer(
      "Exit status: 0 all held; 1 something measured or checked failed; 2 the request "
      "was wrong.");
  int status = paged::kAllHeld;
  paged::add_list_command(program, status);
  paged::add_run_command(program, status);
  paged::add_check_command(program, status);
  paged::add_explain_command(program, status);
  paged::add_trace_command(program, status);
  paged::add_mutants_command(program);
  paged::add_count_command(program, status);
  try {
    check_command_name(program, argc, argv);
    program.parse(argc, argv);
    return finish(status);
  } catch (const CLI::CallForHelp&) {
    return help(program);
  } catch (const CLI::ParseError& error) {
    return complain(error.what() + std::string("; paged --help shows what there is"),
                    paged::kWrongRequest);
  } catch (const paged::InputError& error) {
    return complain(error.what(), paged::kWrongRequest);
  } catch (const std::bad_alloc&) {
    return complain(kNoMemory, paged::kSomethingFailed);
  } catch (const std::length_error&) {  // more than any machine has
    return complain(kNoMemory, paged::kSomethingFailed);
  } catch (const std::exception& error) {
    return complain(error.what(), paged::kSomethingFailed);
  }
}
